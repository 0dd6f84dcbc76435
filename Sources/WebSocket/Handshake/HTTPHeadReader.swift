import NIOCore

/// The collecting of bytes up to the empty line that ends an HTTP/1.1 head, within a limit.
///
/// NIO's own HTTP decoder leaves the pipeline one turn of the loop after it was asked to, and drops the bytes behind the
/// head when the peer's end comes first: a server that says 101, one message and goodbye in a single segment would not be
/// heard. This reader gives those bytes back at once.
struct HTTPHeadReader {
    enum Progress: Equatable {
        case needsMoreBytes
        case tooLarge
        /// The head with its line ends, without the empty line, and all that came behind it.
        case complete(head: ByteBuffer, rest: ByteBuffer)
    }

    private let maximumBytes: Int
    private var bytes = ByteBuffer()
    /// How many bytes from the reader index hold no end of a head.
    private var scanned = 0

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Whether anything came so far.
    var isEmpty: Bool { self.bytes.readableBytes == 0 }

    mutating func append(_ new: ByteBuffer) -> Progress {
        var new = new
        if self.isEmpty { self.bytes = new } else { self.bytes.writeBuffer(&new) }
        return self.next()
    }

    /// Looks for the next head in what came already; a response may have informational ones before it.
    mutating func next() -> Progress {
        let end = self.bytes.withUnsafeReadableBytes { bytes -> Int? in
            var index = self.scanned
            while index + 4 <= bytes.count {
                let word = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
                if word == 0x0D0A_0D0A { return index }
                index += 1
            }
            return nil
        }
        guard let end else {
            self.scanned = max(0, self.bytes.readableBytes - 3)
            return self.bytes.readableBytes > self.maximumBytes ? .tooLarge : .needsMoreBytes
        }
        guard end + 4 <= self.maximumBytes, let head = self.bytes.readSlice(length: end + 2) else { return .tooLarge }
        self.bytes.moveReaderIndex(forwardBy: 2)
        self.scanned = 0
        return .complete(head: head, rest: self.bytes)
    }
}

import NIOCore

/// A reader that collects bytes up to the empty line at the end of an HTTP/1.1 head, within a limit.
///
/// NIO's own HTTP decoder leaves the pipeline one turn of the loop after it is removed, and drops the bytes behind the
/// head when the peer ends the connection first. A server's 101, message and close frame in a single segment would be
/// lost. This reader returns the remaining bytes at once.
struct HTTPHeadReader {
    enum Progress: Equatable {
        case needsMoreBytes
        case tooLarge
        /// The head with its line ends, without the empty line, and all bytes behind it.
        case complete(head: ByteBuffer, rest: ByteBuffer)
    }

    private let maximumBytes: Int
    private var bytes = ByteBuffer()
    /// The number of bytes from the reader index that contain no end of a head.
    private var scanned = 0

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Whether no bytes have arrived or are left.
    var isEmpty: Bool { self.bytes.readableBytes == 0 }

    mutating func append(_ new: ByteBuffer) -> Progress {
        var new = new
        if self.isEmpty { self.bytes = new } else { self.bytes.writeBuffer(&new) }
        return self.next()
    }

    /// Searches the received bytes for the next head; informational responses may precede the final one.
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

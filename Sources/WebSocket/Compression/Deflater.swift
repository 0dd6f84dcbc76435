internal import CZlib
package import NIOCore

/// The compressor of one direction's messages (RFC 7692, 7.2.1).
///
/// It takes about 260 KiB of memory with a window of 15 bits, so a connection makes it when it is first needed.
package final class Deflater {
    /// The least buffer space of one zlib call, in bytes; zlib needs only seven to end a message.
    private static let pieceBytes = 512

    /// zlib keeps a pointer to the stream, so its address must not change.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    /// - Parameters:
    /// - direction: one that is possible (``DeflateAgreement/Direction/isPossible``).
    /// - level: zlib's compression level, from 1 (fast) to 9 (small).
    package init(_ direction: DeflateAgreement.Direction, level: Int = 6) {
        precondition(direction.isPossible, "a window of \(direction.windowBits) bits")
        self.keepsContext = direction.keepsContext
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        let status = deflateInit2_(
            self.stream,
            Int32(level),
            Z_DEFLATED,
            -Int32(direction.windowBits),  // negative: no header and no checksum (RFC 1951)
            Self.memoryLevel(windowBits: direction.windowBits),
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        // Otherwise memory has run out, or the loaded zlib is not the version of the build.
        precondition(status == Z_OK, "deflateInit2: \(status)")
    }

    /// Chooses zlib's memory level. The hash table has 2^(level + 7) entries. zlib walks the table whenever the window
    /// has slid by its own size, and clears it for each message without context. So the table should not be much larger
    /// than the window.
    private static func memoryLevel(windowBits: Int) -> Int32 { Int32(min(8, windowBits - 6)) }

    deinit {
        deflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Appends the compressed payload of a whole message.
    package func compress(_ message: ByteBuffer, into out: inout ByteBuffer) {
        self.compress(message.readableBytesView, into: &out)
    }

    /// Appends the compressed payload of a whole message.
    package func compress(_ message: ByteBufferView, into out: inout ByteBuffer) {
        guard !message.isEmpty else {
            out.writeInteger(UInt8(0))  // zlib writes nothing for an empty message (7.2.3.6)
            return
        }
        message.withUnsafeBytes { source in
            self.stream.pointee.next_in = UnsafeMutablePointer(
                mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
            self.stream.pointee.avail_in = UInt32(source.count)
            repeat { self.write(into: &out, atLeast: source.count / 2) } while self.stream.pointee.avail_out == 0
        }
        precondition(self.stream.pointee.avail_in == 0, "zlib has left input")
        // zlib ends a flush with an empty block. Both sides know the block, so it is not sent (7.2.1).
        out.moveWriterIndex(to: out.writerIndex - 4)
        if !self.keepsContext { deflateReset(self.stream) }
    }

    private func write(into out: inout ByteBuffer, atLeast estimate: Int) {
        let room = max(Self.pieceBytes, min(estimate, 64 << 10))
        out.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { target in
            let given = UInt32(clamping: target.count)
            self.stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
            self.stream.pointee.avail_out = given
            let status = deflate(self.stream, Z_SYNC_FLUSH)
            // Z_BUF_ERROR: the previous call wrote everything and filled its space exactly.
            precondition(status == Z_OK || status == Z_BUF_ERROR, "deflate: \(status)")
            return Int(given - self.stream.pointee.avail_out)
        }
    }
}

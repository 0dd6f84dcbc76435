internal import CZlib
package import NIOCore

/// The decompressor of one direction's messages (RFC 7692, 7.2.2), which works in pieces and within a limit.
///
/// It takes 10 KiB of memory, and the window once a message is longer than one piece.
package final class Inflater {
    package enum Failure: Error, Sendable, Equatable {
        /// The bytes are not DEFLATE data, or end within a block.
        case invalid
        /// The message is larger than the limit.
        case tooBig
    }

    /// The most bytes that one zlib call writes before the limits are checked.
    package static let pieceBytes = 16 << 10
    /// The end of each compressed message, which is not sent (7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// zlib keeps a pointer to the stream, so its address must not change.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the message has received any bytes.
    private var hasBegun = false
    /// Whether the last byte taken was the last byte of a final block.
    private var hasJustEnded = false

    package init() {
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        // The largest window, whatever was agreed. zlib detects a violation of a smaller window only when it gets the
        // message in pieces, and the result must not depend on how a message was split.
        let status = inflateInit2_(self.stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        // Otherwise memory has run out, or the loaded zlib is not the version of the build.
        precondition(status == Z_OK, "inflateInit2: \(status)")
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Takes the next bytes of a message and appends their decompressed content. `out` never holds more than `limit` +
    /// 1 readable bytes.
    package func inflate(
        _ bytes: UnsafeRawBufferPointer,
        into out: inout ByteBuffer,
        limit: Int
    ) throws(Failure) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        self.hasBegun = true
        self.hasJustEnded = false
        self.stream.pointee.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        self.stream.pointee.avail_in = UInt32(bytes.count)
        while true {
            let status = self.write(into: &out, limit: limit)
            guard out.readableBytes <= limit else { throw .tooBig }
            switch status {
            case Z_OK, Z_BUF_ERROR:
                // Space is left over, so all output of these bytes has been written.
                if self.stream.pointee.avail_out > 0 { return }
            case Z_STREAM_END:
                // A final block does not end the message: others may follow, and may refer to earlier data (7.2.3.4).
                inflateResetKeep(self.stream)
                if self.stream.pointee.avail_in == 0 {
                    self.hasJustEnded = true
                    return
                }
            default:
                throw .invalid
            }
        }
    }

    /// Ends the message and appends the output that zlib held back.
    ///
    /// - Parameter keepsContext: whether the next message may refer to this one.
    package func finish(into out: inout ByteBuffer, limit: Int, keepsContext: Bool) throws(Failure) {
        // A peer that ends with a final block must append an empty block (7.2.3.4), and a peer that sends an empty
        // message must send an empty block (7.2.3.6). Messages without these blocks are accepted.
        if self.hasBegun, !self.hasJustEnded {
            let result = Self.tail.withUnsafeBytes { tail in
                Result { () throws(Failure) in try self.inflate(tail, into: &out, limit: limit) }
            }
            try result.get()
            // The stream must be right behind a block that is not final (128 without 64), on a byte boundary (the
            // lowest six bits).
            guard !self.hasJustEnded, self.stream.pointee.data_type & 0xFF == 128 else { throw .invalid }
        }
        self.hasBegun = false
        self.hasJustEnded = false
        if !keepsContext { inflateReset(self.stream) }
    }

    private func write(into out: inout ByteBuffer, limit: Int) -> Int32 {
        var status = Z_OK
        // A small message must not allocate a large buffer. One byte more than the limit shows that the limit is
        // exceeded.
        let expected = max(256, Int(self.stream.pointee.avail_in) * 4)
        let room = min(expected, Self.pieceBytes, max(0, limit - out.readableBytes) + 1)
        out.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { target in
            self.stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
            self.stream.pointee.avail_out = UInt32(room)
            status = CZlib.inflate(self.stream, Z_SYNC_FLUSH)
            return room - Int(self.stream.pointee.avail_out)
        }
        return status
    }
}

internal import CZlib
package import NIOCore

/// The inflating of one direction's messages (RFC 7692, 7.2.2), piece by piece and never beyond a limit.
///
/// It holds 10 KiB, and the window once a message is longer than one piece.
package final class Inflater {
    package enum Failure: Error, Sendable, Equatable {
        /// The bytes are no DEFLATE data, or end within a block.
        case invalid
        /// The message is larger than the limit.
        case tooBig
    }

    /// What one call of zlib may write at most before the limits are looked at, in bytes.
    package static let pieceBytes = 16 << 10
    /// The end of each message, which does not travel.
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// zlib keeps a pointer to it, so it must stay where it is.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the message has any bytes yet.
    private var hasBegun = false
    /// Whether the last byte taken was the last of a final block.
    private var hasJustEnded = false

    package init() {
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        // The largest window, whatever was agreed on. zlib sees that a smaller one was left only when it gets the message in
        // pieces, and what a message means is not to depend on how it was cut.
        let status = inflateInit2_(self.stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        // Else memory has run out, or this is another zlib than the one it was built with.
        precondition(status == Z_OK, "inflateInit2: \(status)")
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Takes the next bytes of a message and appends what they hold. `out` never has more than `limit` readable bytes and
    /// one more.
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
                // With space left over, all that the bytes hold has come out.
                if self.stream.pointee.avail_out > 0 { return }
            case Z_STREAM_END:
                // A final block ends no message: others may follow, and may refer to what was before (7.2.3.4).
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

    /// Takes in that the message has ended, and appends what was held back.
    ///
    /// - Parameter keepsContext: whether the next message may refer to this one.
    package func finish(into out: inout ByteBuffer, limit: Int, keepsContext: Bool) throws(Failure) {
        // Who ends with a final block is to add an empty one (7.2.3.4), and who says nothing is to send an empty one
        // (7.2.3.6). Both are understood without.
        if self.hasBegun, !self.hasJustEnded {
            let result = Self.tail.withUnsafeBytes { tail in
                Result { () throws(Failure) in try self.inflate(tail, into: &out, limit: limit) }
            }
            try result.get()
            // Right behind a block that is not final (128 without 64), on the boundary of a byte (the lowest six bits).
            guard !self.hasJustEnded, self.stream.pointee.data_type & 0xFF == 128 else { throw .invalid }
        }
        self.hasBegun = false
        self.hasJustEnded = false
        if !keepsContext { inflateReset(self.stream) }
    }

    private func write(into out: inout ByteBuffer, limit: Int) -> Int32 {
        var status = Z_OK
        // A small message is not to take a large buffer; one more than the limit shows that it was passed.
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

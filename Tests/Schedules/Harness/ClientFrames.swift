import NIOCore

/// The frames of a WebSocket client, which are whole, masked and short.
struct ClientFrames {
    enum Frame {
        case text(ByteBuffer)
        case ping(ByteBuffer)
        case pong(ByteBuffer)
        case close
    }

    private var input = ByteBuffer()

    mutating func take(_ bytes: ByteBuffer) { self.input.writeImmutableBuffer(bytes) }

    /// Returns the next frame, once it is whole.
    mutating func next() -> Frame? {
        var rest = self.input
        guard let first: UInt8 = rest.readInteger(), let second: UInt8 = rest.readInteger() else { return nil }
        precondition(first & 0x80 != 0 && second & 0x80 != 0, "a client's frame is whole and masked")
        var length = Int(second & 0x7F)
        if length == 126 {
            guard let long: UInt16 = rest.readInteger() else { return nil }
            length = Int(long)
        }
        precondition(second & 0x7F != 127, "a client's frame is short")
        guard let mask = rest.readBytes(length: 4), let masked = rest.readBytes(length: length) else { return nil }
        self.input = rest
        let payload = ByteBuffer(bytes: masked.enumerated().map { $1 ^ mask[$0 & 3] })
        switch first & 0x0F {
        case 0x1: return .text(payload)
        case 0x9: return .ping(payload)
        case 0xA: return .pong(payload)
        case 0x8: return .close
        default: preconditionFailure("a client's frame has the opcode \(first & 0x0F)")
        }
    }

    /// Returns a server's frame with a short payload.
    static func server(_ opcode: UInt8, _ payload: ByteBuffer) -> ByteBuffer {
        precondition(payload.readableBytes < 126)
        var bytes = ByteBuffer()
        bytes.writeInteger(0x80 | opcode)
        bytes.writeInteger(UInt8(payload.readableBytes))
        bytes.writeImmutableBuffer(payload)
        return bytes
    }
}

package import NIOCore

/// A writer of complete server frames, for encoding once and sending to many.
package enum WebSocketFraming {
    /// Writes a whole text message of a server: one final frame without a mask (RFC 6455, 5.2).
    package static func serverText(_ payload: ByteBuffer, into buffer: inout ByteBuffer) {
        guard payload.readableBytes <= 0xFFFF else {
            Self.writeServerHeader(opcode: 0x1, payloadBytes: payload.readableBytes, into: &buffer)
            buffer.writeImmutableBuffer(payload)
            return
        }
        // In one write, because each write checks whether the buffer is shared, and this runs for every message.
        payload.withUnsafeReadableBytes { payload in
            let header = Self.serverHeaderBytes(payloadBytes: payload.count)
            _ = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: header + payload.count) { target in
                target[0] = 0x81
                if header == 2 {
                    target[1] = UInt8(payload.count)
                } else {
                    target[1] = 126
                    target[2] = UInt8(payload.count >> 8)
                    target[3] = UInt8(payload.count & 0xFF)
                }
                UnsafeMutableRawBufferPointer(rebasing: target[header...]).copyMemory(from: payload)
                return header + payload.count
            }
        }
    }

    /// Writes a whole text message of a server: one final frame without a mask (RFC 6455, 5.2).
    package static func serverText(_ payload: ByteBufferView, into buffer: inout ByteBuffer) {
        Self.writeServerHeader(opcode: 0x1, payloadBytes: payload.count, into: &buffer)
        buffer.writeBytes(payload)
    }

    /// Writes a whole binary message of a server: one final frame without a mask (RFC 6455, 5.2).
    package static func serverBinary(_ payload: ByteBuffer, into buffer: inout ByteBuffer) {
        Self.writeServerHeader(opcode: 0x2, payloadBytes: payload.readableBytes, into: &buffer)
        buffer.writeImmutableBuffer(payload)
    }

    /// Returns the length of the header, in bytes, of a server's frame with a payload of that many bytes.
    package static func serverHeaderBytes(payloadBytes: Int) -> Int {
        switch payloadBytes {
        case ...125: 2
        case ...0xFFFF: 4
        default: 10
        }
    }

    /// Writes the header of a final frame without a mask.
    ///
    /// - Parameter isCompressed: whether the payload is a compressed message (RFC 7692, 6).
    static func writeServerHeader(
        opcode: UInt8,
        isCompressed: Bool = false,
        payloadBytes: Int,
        into buffer: inout ByteBuffer
    ) {
        buffer.reserveCapacity(minimumWritableBytes: Self.serverHeaderBytes(payloadBytes: payloadBytes) + payloadBytes)
        buffer.writeInteger((isCompressed ? 0xC0 : 0x80) | opcode)
        switch payloadBytes {
        case ...125:
            buffer.writeInteger(UInt8(payloadBytes))
        case ...0xFFFF:
            buffer.writeMultipleIntegers(UInt8(126), UInt16(payloadBytes))
        default:
            buffer.writeMultipleIntegers(UInt8(127), UInt64(payloadBytes))
        }
    }
}

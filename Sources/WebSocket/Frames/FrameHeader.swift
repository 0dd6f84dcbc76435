import NIOCore
import NIOWebSocket

/// The header of a frame, its first 2 to 14 bytes (RFC 6455, 5.2), read without consuming them.
struct FrameHeader: Equatable {
    enum Reading: Equatable {
        case header(FrameHeader)
        case needsMoreBytes
        case violation(WebSocketViolation)
    }

    var isFinal: Bool
    /// The first reserved bit: the message that begins with this frame is compressed (RFC 7692, 6).
    var isCompressed = false
    var opcode: UInt8
    var isMasked: Bool
    var payloadBytes: Int
    var mask: FrameMask

    var isControl: Bool { self.opcode & 0x8 != 0 }

    /// The kind for the assembler; `nil` for control frames.
    var dataOpcode: MessageAssembler.DataOpcode? {
        switch self.opcode {
        case 0x0: .continuation
        case 0x1: .text
        case 0x2: .binary
        default: nil
        }
    }

    /// Reads the header at the reader index of `buffer` and checks all rules that the header alone decides. A violation
    /// in the first two bytes is reported even before the rest of the header arrives.
    ///
    /// - Parameter allowsCompression: whether `permessage-deflate` was agreed on.
    static func read(
        _ buffer: ByteBuffer,
        from peer: WebSocketRole,
        maximumPayloadBytes: Int,
        allowsCompression: Bool = false
    ) -> Reading {
        guard let first: UInt8 = buffer.getInteger(at: buffer.readerIndex),
            let second: UInt8 = buffer.getInteger(at: buffer.readerIndex + 1)
        else { return .needsMoreBytes }

        let opcode = first & 0x0F
        let isFinal = first & 0x80 != 0
        let isMasked = second & 0x80 != 0
        let shortLength = Int(second & 0x7F)
        // The bit is set only on the first frame of a message, and never on a control frame (RFC 7692, 6.1).
        let isCompressed = allowsCompression && first & 0x40 != 0 && (opcode == 0x1 || opcode == 0x2)
        guard first & 0x70 == (isCompressed ? 0x40 : 0) else { return .violation(.reservedBits) }
        switch opcode {
        case 0x0, 0x1, 0x2:
            break
        case 0x8, 0x9, 0xA:
            guard isFinal else { return .violation(.fragmentedControlFrame) }
            guard shortLength <= 125 else { return .violation(.longControlFrame) }
        default:
            return .violation(.unknownOpcode(opcode))
        }
        switch (peer, isMasked) {
        case (.client, false): return .violation(.unmaskedFrame)
        case (.server, true): return .violation(.maskedFrame)
        case (.client, true), (.server, false): break
        }

        let lengthIndex = buffer.readerIndex + 2
        let length: UInt64
        let lengthBytes: Int
        switch shortLength {
        case 126:
            guard let word: UInt16 = buffer.getInteger(at: lengthIndex) else { return .needsMoreBytes }
            guard word >= 126 else { return .violation(.invalidLength) }
            (length, lengthBytes) = (UInt64(word), 2)
        case 127:
            guard let word: UInt64 = buffer.getInteger(at: lengthIndex) else { return .needsMoreBytes }
            guard word > UInt64(UInt16.max), word <= UInt64(Int64.max) else { return .violation(.invalidLength) }
            (length, lengthBytes) = (word, 8)
        default:
            (length, lengthBytes) = (UInt64(shortLength), 0)
        }
        let isControl = opcode & 0x8 != 0
        guard isControl || length <= UInt64(maximumPayloadBytes) else { return .violation(.messageTooBig) }

        var mask = FrameMask(word: 0)
        if isMasked {
            let keyIndex = lengthIndex + lengthBytes
            guard let word = buffer.getInteger(at: keyIndex, endianness: .little, as: UInt32.self) else {
                return .needsMoreBytes
            }
            mask = FrameMask(word: word)
        }
        return .header(
            FrameHeader(
                isFinal: isFinal,
                isCompressed: isCompressed,
                opcode: opcode,
                isMasked: isMasked,
                payloadBytes: Int(length),
                mask: mask
            )
        )
    }
}

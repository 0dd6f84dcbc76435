/// A violation of RFC 6455, or of one of our limits, by the peer.
package enum WebSocketViolation: Error, Sendable, Equatable {
    /// A client's frame without a mask (5.1).
    case unmaskedFrame
    /// A server's frame with a mask (5.1).
    case maskedFrame
    /// A reserved bit without an extension that defines it (5.2).
    case reservedBits
    /// An opcode that is not defined (5.2).
    case unknownOpcode(UInt8)
    /// A fragmented control frame (5.5).
    case fragmentedControlFrame
    /// A control frame of more than 125 bytes (5.5).
    case longControlFrame
    /// A length of 2^63 or more, or not in its shortest form (5.2).
    case invalidLength
    /// A continuation without a message (5.4).
    case unexpectedContinuation
    /// A new message inside an unfinished one (5.4).
    case interleavedMessage
    /// Text that is not UTF-8 (8.1).
    case invalidText
    /// A close frame of one byte, or with a code that must not be sent (5.5.1, 7.4).
    case invalidClose
    /// A close reason that is not UTF-8 (5.5.1).
    case invalidCloseReason
    /// A message larger than the limit.
    case messageTooBig
    /// A compressed message that is not DEFLATE data (RFC 7692, 7.2.2).
    case invalidCompression
    /// A compressed message whose compression ratio exceeds the limit.
    case excessiveCompression
    /// A message with more fragments than the limit.
    case tooManyFragments

    /// The close code for the peer.
    package var closeCode: WebSocketCloseCode {
        switch self {
        case .unmaskedFrame, .maskedFrame, .reservedBits, .unknownOpcode, .fragmentedControlFrame, .longControlFrame,
            .invalidLength, .unexpectedContinuation, .interleavedMessage, .invalidClose:
            .protocolError
        case .invalidText, .invalidCloseReason, .invalidCompression:
            .invalidText
        case .messageTooBig, .tooManyFragments, .excessiveCompression:
            .tooBig
        }
    }

    /// The text sent with the code, for people who inspect the traffic.
    package var reason: String {
        switch self {
        case .unmaskedFrame: "a client's frames must be masked"
        case .maskedFrame: "a server's frames must not be masked"
        case .reservedBits: "reserved bit without an extension"
        case .unknownOpcode(let opcode): "unknown opcode \(opcode)"
        case .fragmentedControlFrame: "fragmented control frame"
        case .longControlFrame: "control frame over 125 bytes"
        case .invalidLength: "invalid frame length"
        case .unexpectedContinuation: "continuation without a message"
        case .interleavedMessage: "new message inside a fragmented one"
        case .invalidText: "text is not UTF-8"
        case .invalidClose: "invalid close frame"
        case .invalidCloseReason: "close reason is not UTF-8"
        case .messageTooBig: "message too big"
        case .invalidCompression: "invalid compressed data"
        case .excessiveCompression: "compressed too far"
        case .tooManyFragments: "too many fragments"
        }
    }
}

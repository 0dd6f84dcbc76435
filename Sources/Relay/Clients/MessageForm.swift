import NIOCore
import WebSocket

/// The form of the messages to a session: how they are framed, and which of its protocol's serialisations it gets.
struct MessageForm: Hashable {
    enum Framing: Hashable {
        /// A text frame of a WebSocket.
        case text
        /// A binary frame of a WebSocket.
        case binary
        /// A line that ends with LF.
        case line
    }

    var framing: Framing
    /// The number of the serialisation among those of the protocol.
    var variant: UInt8 = 0
    /// The number of the subscription that the messages name; 0 if they name none.
    var subscription: UInt64 = 0

    static let text = MessageForm(framing: .text)

    /// Returns a payload as one whole frame or line of a server.
    func framed(_ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        switch self.framing {
        case .text: WebSocketFraming.serverText(payload, into: &frame)
        case .binary: WebSocketFraming.serverBinary(payload, into: &frame)
        case .line:
            frame.reserveCapacity(payload.readableBytes + 1)
            frame.writeImmutableBuffer(payload)
            frame.writeInteger(UInt8(ascii: "\n"))
        }
        return frame
    }
}

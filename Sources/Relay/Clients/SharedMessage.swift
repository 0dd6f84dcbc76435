import NIOCore
import WebSocket

/// A message that is the same for many sessions. It gets its number at once, and is encoded when the first session
/// needs it.
final class SharedMessage {
    let number: UInt64
    private var frames: [ObjectIdentifier: ByteBuffer] = [:]

    init(number: UInt64) { self.number = number }

    /// Returns a payload as a whole text frame of a server.
    static func framed(_ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        WebSocketFraming.serverText(payload, into: &frame)
        return frame
    }

    /// Returns the message as whole frames of a protocol.
    ///
    /// - Parameter encode: makes its payload.
    func frame<Session: RelayProtocol>(
        for session: Session.Type,
        encode: (_ number: UInt64) -> ByteBuffer
    ) -> ByteBuffer {
        if let frame = self.frames[ObjectIdentifier(session)] { return frame }
        let frame = Self.framed(encode(self.number))
        self.frames[ObjectIdentifier(session)] = frame
        return frame
    }
}

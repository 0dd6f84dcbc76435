import NIOCore

/// A message that is the same for many sessions. It gets its number at once, and is encoded when the first session
/// needs it.
final class SharedMessage {
    let number: UInt64
    private struct Variant: Hashable {
        let session: ObjectIdentifier
        let form: MessageForm
    }

    private var frames: [Variant: ByteBuffer] = [:]

    init(number: UInt64) { self.number = number }

    /// Returns a payload as a whole text frame of a server.
    static func framed(_ payload: ByteBuffer) -> ByteBuffer { MessageForm.text.framed(payload) }

    /// Returns the message as whole frames of a protocol.
    ///
    /// - Parameter encode: makes its payload.
    func frame<Session: RelayProtocol>(
        for session: Session.Type,
        in form: MessageForm = .text,
        encode: (_ number: UInt64) -> ByteBuffer
    ) -> ByteBuffer {
        let variant = Variant(session: ObjectIdentifier(session), form: form)
        if let frame = self.frames[variant] { return frame }
        let frame = form.framed(encode(self.number))
        self.frames[variant] = frame
        return frame
    }
}

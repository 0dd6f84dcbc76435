package import NIOCore
import Wire

/// Something that the service did on the connection beside its messages, as it was recorded.
package struct RecordedSignal: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case ping, pong }

    /// What RFC 6455 (5.5) allows in a control frame, bytes.
    private static let longestPayload = 125

    package var kind: Kind
    /// When, ns since the recording's start.
    package var at: Int64
    /// What was in it, where that was recorded.
    package var payload: ByteBuffer

    /// `nil` for what our own side did, and for what is no frame of the WebSocket's.
    init?(_ note: RecordedNote, at: Int64) {
        guard note.direction != .outgoing else { return nil }
        switch note.kind {
        case .ping: self.kind = .ping
        case .pong: self.kind = .pong
        case .connect, .subscribe, .unsubscribe, .request, .state, .disconnect, .unsynced, .mark, .end: return nil
        }
        let payload = note.frame ?? ByteBuffer()
        // A longer one is none that was ever on a WebSocket.
        guard payload.readableBytes <= Self.longestPayload else { return nil }
        self.at = at
        self.payload = payload
    }

    /// The whole frame, as a server sends it.
    package var frame: ByteBuffer {
        var frame = ByteBuffer()
        // RFC 6455, 5.2: the last of its message, with this opcode; not masked.
        frame.writeInteger(self.kind == .ping ? 0x89 : 0x8A, as: UInt8.self)
        frame.writeInteger(UInt8(self.payload.readableBytes))
        frame.writeImmutableBuffer(self.payload)
        return frame
    }
}

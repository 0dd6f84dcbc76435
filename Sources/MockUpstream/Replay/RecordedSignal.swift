package import NIOCore
import Wire

/// A recorded control frame of the service: a ping or a pong.
package struct RecordedSignal: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case ping, pong }

    /// The most bytes in a control frame (RFC 6455, 5.5).
    private static let longestPayload = 125

    package var kind: Kind
    /// The time, ns since the recording's start.
    package var at: Int64
    /// The payload, if it was recorded.
    package var payload: ByteBuffer

    /// Takes a note of a recording; `nil` for our own side's frames and for notes without a control frame.
    init?(_ note: RecordedNote, at: Int64) {
        guard note.direction != .outgoing else { return nil }
        switch note.kind {
        case .ping: self.kind = .ping
        case .pong: self.kind = .pong
        case .connect, .subscribe, .unsubscribe, .request, .state, .disconnect, .unsynced, .settled, .hour, .mark, .end:
            return nil
        }
        let payload = note.frame ?? ByteBuffer()
        // A longer payload was never on a WebSocket.
        guard payload.readableBytes <= Self.longestPayload else { return nil }
        self.at = at
        self.payload = payload
    }

    /// Makes a control frame outside a recording; `nil` if the payload is too long.
    init?(_ kind: Kind, payload: ByteBuffer) {
        guard payload.readableBytes <= Self.longestPayload else { return nil }
        self.kind = kind
        self.at = 0
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

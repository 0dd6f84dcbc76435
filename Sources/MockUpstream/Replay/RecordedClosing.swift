import WebSocket
import Wire

/// The recorded end of a connection by the service: a close frame that it sent first.
package struct RecordedClosing: Sendable, Equatable {
    /// The time, ns since the recording's start.
    package var at: Int64
    /// The same time by the wall clock, µs since 1970, if it was recorded.
    package var wall: Int64?
    /// The code of the frame; 1000 for a missing one and for one that must not be sent.
    package var code: UInt16
    package var reason: String

    package init(at: Int64, wall: Int64? = nil, code: UInt16, reason: String = "") {
        self.at = at
        self.wall = wall
        self.code = code
        self.reason = reason
    }

    /// Takes a note of a recording; `nil` for other ends, and for the end of a recorded replay.
    init?(_ note: RecordedNote, at: Int64, wall: Int64? = nil) {
        guard note.kind == .disconnect, note.direction == .incoming else { return nil }
        let reason = note.frame.map { String(buffer: $0) } ?? ""
        if reason == ReplayEnd.closeReason || note.reason?.contains(ReplayEnd.closeReason) == true { return nil }
        let code = note.code.map(WebSocketCloseCode.init(rawValue:)) ?? .normal
        self.init(
            at: at,
            wall: wall,
            code: code.mayBeSent ? code.rawValue : WebSocketCloseCode.normal.rawValue,
            reason: reason
        )
    }
}

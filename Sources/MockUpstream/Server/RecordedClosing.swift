import WebSocket
import Wire

/// The service's end of a connection, as it was recorded: a close frame that it sent first.
package struct RecordedClosing: Sendable, Equatable {
    /// When, ns since the recording's start.
    package var at: Int64
    /// The same by the wall clock, µs since 1970, where that was recorded.
    package var wall: Int64?
    /// What stood in it; 1000 in the place of none, and of one that must not be sent.
    package var code: UInt16
    package var reason: String

    package init(at: Int64, wall: Int64? = nil, code: UInt16, reason: String = "") {
        self.at = at
        self.wall = wall
        self.code = code
        self.reason = reason
    }

    /// `nil` for what ended otherwise, and where a replay was recorded that came to its end.
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

import WebSocket
import Wire

/// The service's end of a connection, as it was recorded: a close frame that it sent first.
package struct RecordedClosing: Sendable, Equatable {
    /// When, ns since the recording's start.
    package var at: Int64
    /// What stood in it; 1000 in the place of none, and of one that must not be sent.
    package var code: UInt16
    package var reason: String

    package init(at: Int64, code: UInt16, reason: String = "") {
        self.at = at
        self.code = code
        self.reason = reason
    }

    /// `nil` for what ended otherwise, and where a replay was recorded that came to its end.
    init?(_ note: RecordedNote, at: Int64) {
        guard note.kind == .disconnect else { return nil }
        // Earlier versions did not name a direction. Their reason is in our words, in which the service's are not certain.
        guard note.direction == .incoming || note.direction == nil && note.cause == "closed" && note.code != nil else {
            return nil
        }
        let reason = note.frame.map { String(buffer: $0) } ?? ""
        if reason == StandIn.endOfRecording || note.reason?.contains(StandIn.endOfRecording) == true { return nil }
        let code = note.code.map(WebSocketCloseCode.init(rawValue:)) ?? .normal
        self.init(at: at, code: code.mayBeSent ? code.rawValue : WebSocketCloseCode.normal.rawValue, reason: reason)
    }
}

import NIOCore
import WebSocket

/// The relay as one connection of lines sees it: the limits, the checks, and the sessions.
struct LineService {
    /// The time from the connection to its first line.
    let handshakeTimeout: TimeAmount
    /// The time in which a refused client may read the reason.
    let closeTimeout: TimeAmount
    /// The timer of all connections; `nil` for a task of the loop.
    let deadlines: DeadlineWheel?
    /// The only answer of the connection, if it is above the limits.
    var rejection: HTTPRefusal?
    /// Returns why a client is refused whose first line shows this token, or none; `nil` if it is not refused.
    var tokenRefusal: (_ shown: String?) -> HTTPRefusal? = { _ in nil }
    /// Returns why no further client is admitted, or `nil`.
    var admitClient: () -> HTTPRefusal? = { nil }
    /// Makes the session of a new client.
    let makeSession: () -> any RelayProtocol
    /// Returns the check whether a client that is admitted now may stay (``ClientOutput/objection``).
    var makeObjection: () -> (() -> String?)? = { nil }
    /// Notes that a client was admitted.
    var opened: (any Channel) -> Void = { _ in }
    /// Counts a refusal by its type.
    var refused: (String) -> Void = { _ in }
}

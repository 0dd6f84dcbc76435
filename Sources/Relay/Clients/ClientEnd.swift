/// Why the session of a client has ended, as a bounded set for counting.
enum ClientEnd: String, CaseIterable {
    /// The client said that it goes.
    case left
    /// The connection ended without a word.
    case lost
    /// The client did not keep up.
    case tooSlow = "too-slow"
    /// The client, or its machine, answered no ping.
    case pongTimeout = "pong-timeout"
    /// The client broke the protocol of its connection.
    case protocolViolation = "websocket-violation"
    /// The client sent what the relay does not take.
    case invalid
    /// The client sent too many requests.
    case flood = "rate-limited"
    /// The relay cannot give what the client asked for, such as frames that it no longer keeps.
    case unavailable
    /// The relay stops.
    case stopping

    /// The reason as one stable lower-case word for programs.
    var word: String { self.rawValue }
}

/// What is true of a feed at this moment, in terms that a person, a program and a log all get alike.
package struct FeedStatus: Sendable, Equatable {
    /// Where the trades come from.
    package enum Source: Sendable, Equatable {
        /// The market itself.
        case live
        /// A recording, at so many times its own pace (`nil`: as fast as it goes).
        case replay(file: String, speed: Double?)
        /// The bundled recording, for whoever has no key.
        case demo
        /// A market made from a seed, at so many times its own pace (`nil`: as fast as it goes).
        case simulated(seed: UInt64, speed: Double?)
    }

    /// What the connection is doing.
    package enum Phase: Sendable, Equatable {
        case connecting
        /// Connected and subscribed, no trade yet.
        case waiting
        case live
        /// Connected, but no trade for a while.
        case late
        /// Connected, but none of the symbols has traded for longer than its threshold: the prices are old.
        case stale
        /// Not connected; the attempt of that number starts at `retryAt` (wall clock, ns since 1970).
        case reconnecting(attempt: Int, retryAt: Int64)
        /// The service refuses for now, until `until` (wall clock, ns since 1970).
        case rateLimited(until: Int64)
        /// The service does not accept the key; only a person can mend that. A service looks again at `retryAt` (wall
        /// clock, ns since 1970); without one the program ends.
        case keyRejected(retryAt: Int64?)
        /// Connections die within seconds of a good answer, as when another program uses the key; the next attempt is at
        /// `retryAt` (wall clock, ns since 1970).
        case keyInUse(retryAt: Int64)
        /// Connected, but the service knows none of the symbols.
        case noSuchSymbol
        /// Connected, but the service sends none of the symbols on this plan.
        case notPermitted
        /// The recording is at its end.
        case ended
        case stopped
    }

    /// What kind of trouble ended a connection or an attempt: a bounded set, for counting, where the reason is free text.
    package enum Cause: String, Sendable, CaseIterable {
        /// The name was not resolved.
        case name = "dns"
        /// No TCP connection came to be.
        case connect = "tcp"
        /// The proxy, and not the service, is in the way.
        case proxy
        /// The TLS handshake failed, or a certificate is refused.
        case tls
        /// The request for a WebSocket was not answered, or not with a WebSocket handshake.
        case upgrade
        /// The request was answered with an HTTP status that is none of the following.
        case refusedStatus = "refused-status"
        /// HTTP 429.
        case rateLimited = "rate-limited"
        /// HTTP 401 or 403.
        case keyRejected = "key-rejected"
        /// Connections die at once again and again, or another program is known to hold the key.
        case keyInUse = "key-in-use"
        /// The peer said goodbye.
        case closed
        /// The connection ended without a goodbye.
        case lost
        /// A ping was not answered in time.
        case pongTimeout = "pong-timeout"
        /// Nothing at all came for too long.
        case silent
        /// No trade of a symbol came for too long.
        case stale
        /// The peer broke the WebSocket protocol.
        case protocolViolation = "protocol"
        /// The relay of another tickertape, through which the trades came, has gone or cannot be reached.
        case relay
        /// This machine slept, or its clock was set.
        case sleep
        /// Somebody moved the replay to another place.
        case seek
        /// The recording that is played has a gap there.
        case recorded
        case other

        /// The cause as one stable lower-case word for programs.
        package var word: String { self.rawValue }
    }

    package var source: Source
    package var phase: Phase
    /// When the phase began, wall clock, ns since 1970.
    package var since: Int64
    /// Why, in one line; never holds a key.
    package var reason: String?
    /// The kind of what ended the last connection or attempt, while there is no new connection.
    package var cause: Cause?
    /// Whether the upstream's certificate is checked. `false` only after an explicit setting, and then always shown.
    package var certificateChecked: Bool
    /// The relay of another tickertape that holds the key and through which the trades come: `127.0.0.1:8080`.
    package var via: String?
    /// Whether the replay behind it stands still because somebody paused it; set by the outputs, which know the replay.
    package var isPaused = false

    package init(
        source: Source,
        phase: Phase,
        since: Int64,
        reason: String? = nil,
        cause: Cause? = nil,
        certificateChecked: Bool = true,
        via: String? = nil
    ) {
        self.source = source
        self.phase = phase
        self.since = since
        self.reason = reason
        self.cause = cause
        self.certificateChecked = certificateChecked
        self.via = via
    }

    /// The phase as one stable lower-case word for programs.
    package var word: String { self.phase.word }
}

extension FeedStatus.Source {
    /// Where the trades come from as one stable lower-case word for programs.
    package var word: String {
        switch self {
        case .live: "live"
        case .replay: "replay"
        case .demo: "demo"
        case .simulated: "simulated"
        }
    }

    /// The same at another pace, where it has one of its own.
    package func paced(at speed: Double?) -> Self {
        switch self {
        case .live, .demo: self
        case .replay(let file, _): .replay(file: file, speed: speed)
        case .simulated(let seed, _): .simulated(seed: seed, speed: speed)
        }
    }
}

extension FeedStatus.Phase {
    /// The phase as one stable lower-case word for programs.
    package var word: String {
        switch self {
        case .connecting: "connecting"
        case .waiting: "waiting"
        case .live: "live"
        case .late: "late"
        case .stale: "stale"
        case .reconnecting: "reconnecting"
        case .rateLimited: "rate-limited"
        case .keyRejected: "key-rejected"
        case .keyInUse: "key-in-use"
        case .noSuchSymbol: "no-such-symbol"
        case .notPermitted: "not-permitted"
        case .ended: "ended"
        case .stopped: "stopped"
        }
    }
}

extension FeedStatus.Phase {
    /// When the next attempt begins, wall clock, ns since 1970; `nil` where none is planned.
    package var retryAt: Int64? {
        switch self {
        case .reconnecting(_, let retryAt), .keyInUse(let retryAt): retryAt
        case .rateLimited(let until): until
        case .keyRejected(let retryAt): retryAt
        case .connecting, .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted, .ended, .stopped: nil
        }
    }
}

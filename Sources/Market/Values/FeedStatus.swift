/// The status of a feed, in terms that people, programs and logs share.
package struct FeedStatus: Sendable, Equatable {
    /// The origin of the trades.
    package enum Source: Sendable, Equatable {
        /// The live market.
        case live
        /// A recording, with its speed as a multiple of the recorded pace (`nil`: as fast as possible).
        case replay(file: String, speed: Double?)
        /// The bundled recording, for users without a key.
        case demo
        /// A market generated from a seed, with its speed as a multiple of real time (`nil`: as fast as possible).
        case simulated(seed: UInt64, speed: Double?)
    }

    /// The state of the connection.
    package enum Phase: Sendable, Equatable {
        case connecting
        /// Connected and subscribed; no trade has arrived yet.
        case waiting
        case live
        /// Connected; no trade has arrived for a while.
        case late
        /// Connected; none of the symbols has traded for longer than its threshold, so the prices are old.
        case stale
        /// Not connected; the attempt of this number starts at `retryAt` (wall clock, ns since 1970).
        case reconnecting(attempt: Int, retryAt: Int64)
        /// The service refuses connections until `until` (wall clock, ns since 1970).
        case rateLimited(until: Int64)
        /// The service does not accept the key, and only a person can change that. A program run as a service tries
        /// again at `retryAt` (wall clock, ns since 1970); without `retryAt` the program ends.
        case keyRejected(retryAt: Int64?)
        /// Connections end within seconds of a successful start, as they do when another program uses the key. The next
        /// attempt starts at `retryAt` (wall clock, ns since 1970). Without `retryAt` another program is known to hold
        /// the key, and the attempt starts as soon as that program has ended.
        case keyInUse(retryAt: Int64?)
        /// Connected; the service knows none of the symbols.
        case noSuchSymbol
        /// Connected; the key's plan covers none of the symbols.
        case notPermitted
        /// The recording has ended.
        case ended
        case stopped
    }

    /// The kind of trouble that ended a connection or an attempt. The set is bounded, for counting; the reason is free
    /// text.
    package enum Cause: String, Sendable, CaseIterable {
        /// The name could not be resolved.
        case name = "dns"
        /// No TCP connection could be established.
        case connect = "tcp"
        /// The proxy failed or refused, not the service.
        case proxy
        /// The TLS handshake failed, or a certificate was refused.
        case tls
        /// The upgrade request got no answer, or an answer that is not a WebSocket handshake.
        case upgrade
        /// The upgrade request was answered with an HTTP status other than the following.
        case refusedStatus = "refused-status"
        /// HTTP 429.
        case rateLimited = "rate-limited"
        /// HTTP 401 or 403.
        case keyRejected = "key-rejected"
        /// Connections repeatedly end at once, or another program is known to hold the key.
        case keyInUse = "key-in-use"
        /// The peer closed the connection with a close frame.
        case closed
        /// The connection ended without a close frame.
        case lost
        /// A ping was not answered in time.
        case pongTimeout = "pong-timeout"
        /// No bytes arrived for too long.
        case silent
        /// No trade of a symbol arrived for too long.
        case stale
        /// The peer broke the WebSocket protocol.
        case protocolViolation = "protocol"
        /// The relay of another tickertape, which supplied the trades, is gone or unreachable.
        case relay
        /// Another connection, or another program of a cluster, has taken its place.
        case replaced
        /// A connection with another key has taken its place.
        case keyRotated = "key-rotated"
        /// This machine slept, or its clock was set.
        case sleep
        /// A user moved the replay to another place.
        case seek
        /// The recording being played has a gap.
        case recorded
        case other

        /// The cause as one stable lower-case word for programs.
        package var word: String { self.rawValue }
    }

    package var source: Source
    package var phase: Phase
    /// The start of the phase, wall clock, ns since 1970.
    package var since: Int64
    /// The reason in one line; never contains a key.
    package var reason: String?
    /// The kind of trouble that ended the last connection or attempt, until a new connection exists.
    package var cause: Cause?
    /// Whether the upstream's certificate is checked. `false` requires an explicit setting, and is always shown.
    package var certificateChecked: Bool
    /// The relay of another tickertape that holds the key and supplies the trades (`127.0.0.1:8080`), or the name of
    /// the ingest that does so in a cluster (`host-a`).
    package var via: String?
    /// Whether a user has paused the replay; set by the outputs, which know the replay.
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
    /// The source as one stable lower-case word for programs.
    package var word: String {
        switch self {
        case .live: "live"
        case .replay: "replay"
        case .demo: "demo"
        case .simulated: "simulated"
        }
    }

    /// Returns the same source at another speed, if it has a speed.
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
    /// The start of the next attempt, wall clock, ns since 1970; `nil` if none is planned.
    package var retryAt: Int64? {
        switch self {
        case .reconnecting(_, let retryAt): retryAt
        case .rateLimited(let until): until
        case .keyRejected(let retryAt), .keyInUse(let retryAt): retryAt
        case .connecting, .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted, .ended, .stopped: nil
        }
    }
}

/// The state machine of one connection to a service, from the open WebSocket to its end.
///
/// It is the first of the feed's two clocks: is the socket alive? Any frame of the peer counts, a pong or a
/// text ping as well, so a service that answers without sending trades is alive for this clock. The second clock,
/// ``SymbolMonitor``, counts only trades and notices it. The keepalive of the WebSocket below notices sooner if a peer
/// does not even answer our pings. Time is monotonic nanoseconds.
package struct ConnectionMonitor: Sendable {
    package struct Settings: Sendable, Equatable {
        /// The connection is given up after this time without any frame; nanoseconds. Finnhub pings about every 60 s,
        /// and 45 s gave false alarms (reference, section 2). `nil` for a replay, which may be silent for any time.
        package var silentAfter: Int64? = 90_000_000_000
        /// The same while the service sends a heartbeat about every second; nanoseconds. `nil` for a service without
        /// heartbeats.
        package var heartbeatSilentAfter: Int64?
        /// How long an error of the service is shown while trades flow; nanoseconds. The trades prove that it stops
        /// none.
        package var errorShownFor: Int64 = 5_000_000_000
        /// How long a repetition of the same error is ignored; nanoseconds.
        package var errorKnownFor: Int64 = 60_000_000_000
        /// The shortest time between two reported errors; nanoseconds.
        package var errorInterval: Int64 = 1_000_000_000

        package init() {}
    }

    /// The action after a deadline.
    package enum DeadlineAction: Sendable, Equatable {
        case none
        /// The error is old and is no longer shown while trades flow.
        case forgetError
        /// Nothing arrived for too long: end the connection.
        case drop(afterNanoseconds: Int64)
    }

    package let settings: Settings
    /// The arrival of the connection's first and newest trade; monotonic nanoseconds.
    package private(set) var firstTrade: Int64?
    package private(set) var lastTrade: Int64?
    /// The newest error text of the service. While trades flow, it is forgotten after a while.
    package private(set) var lastError: String?
    private var errorUntil: Int64 = 0
    /// The error that was reported last, and the time of the report.
    private var reportedError: (text: String, at: Int64)?
    private var lastFrame: Int64
    /// Whether the service sends heartbeats.
    private var expectsHeartbeats = false
    /// When the connection opened; monotonic nanoseconds.
    let opened: Int64

    /// Creates the state of a connection that opened at `now`.
    package init(settings: Settings, now: Int64) {
        self.settings = settings
        self.lastFrame = now
        self.opened = now
    }

    /// Notes whether the service sends a heartbeat about every second from now on; returns whether that is new.
    package mutating func heartbeatsChanged(areExpected: Bool) -> Bool {
        defer { self.expectsHeartbeats = areExpected }
        return self.expectsHeartbeats != areExpected
    }

    /// The longest time without a frame; nanoseconds.
    private var silenceLimit: Int64? {
        let limits = [self.settings.silentAfter, self.expectsHeartbeats ? self.settings.heartbeatSilentAfter : nil]
        return limits.compactMap(\.self).min()
    }

    /// Takes a read that brought frames, with or without trades.
    package mutating func framesArrived(hasTrades: Bool, now: Int64) {
        self.lastFrame = now
        guard hasTrades else { return }
        self.firstTrade = self.firstTrade ?? now
        self.lastTrade = now
    }

    /// Takes an error message of the service; returns whether to report it.
    ///
    /// - Parameter isLive: whether trades flow. Without them any error may be the reason, so the newest is kept.
    package mutating func errorArrived(_ text: String, isLive: Bool, now: Int64) -> Bool {
        if let reported = self.reportedError {
            let isKnown = reported.text == text && now - reported.at < self.settings.errorKnownFor
            if isKnown || now - reported.at < self.settings.errorInterval {
                if !isLive { self.lastError = text }
                return false
            }
        }
        self.lastError = text
        self.reportedError = (text, now)
        self.errorUntil = now + self.settings.errorShownFor
        return true
    }

    /// Returns the error to show beside the status.
    package func error(isLive: Bool, now: Int64) -> String? {
        isLive && now >= self.errorUntil ? nil : self.lastError
    }

    /// Notes that a ping or pong has come from the peer.
    package mutating func signOfLifeArrived(now: Int64) {
        self.lastFrame = now
    }

    /// When ``deadlineReached(now:isLive:)`` is next due.
    ///
    /// - Parameter isLive: whether trades flow. Without them the error may be the reason, so it stays.
    package func deadline(isLive: Bool) -> Int64? {
        let silent = self.silenceLimit.map { self.lastFrame + $0 }
        let forget = self.lastError != nil && isLive ? self.errorUntil : nil
        return [silent, forget].compactMap(\.self).min()
    }

    /// Takes the passing of time.
    package mutating func deadlineReached(now: Int64, isLive: Bool) -> DeadlineAction {
        if let limit = self.silenceLimit, now - self.lastFrame >= limit {
            return .drop(afterNanoseconds: now - self.lastFrame)
        }
        if isLive, self.lastError != nil, now >= self.errorUntil {
            self.lastError = nil
            return .forgetError
        }
        return .none
    }

    /// The time from the connection's first to its newest trade, in nanoseconds.
    package var tradedFor: Int64 {
        guard let firstTrade, let lastTrade else { return 0 }
        return lastTrade - firstTrade
    }
}

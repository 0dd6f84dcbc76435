/// One Finnhub connection's own affairs, from the open WebSocket to its end: a machine.
///
/// It is the first of the feed's two clocks: is the socket alive? Any frame of the peer's counts, a pong or Finnhub's text
/// ping as well, so a service that answers and sends no trades is alive for this clock; the second one, ``SymbolMonitor``,
/// counts nothing but trades and notices it. A peer that does not even answer our pings is noticed sooner by the keepalive
/// of the WebSocket below. Time is monotonic nanoseconds.
package struct FinnhubSession: Sendable {
    package struct Settings: Sendable, Equatable {
        /// Without any frame for so long the connection is given up; nanoseconds. Finnhub pings about every 60 s, and
        /// 45 s gave false alarms (reference, section 2). `nil` for a replay, which may be silent as long as it likes.
        package var silentAfter: Int64? = 90_000_000_000
        /// For so long an error of the service is told beside trades that flow; nanoseconds. They say themselves that it keeps
        /// none back.
        package var errorShownFor: Int64 = 5_000_000_000
        /// For so long the same error is no news; nanoseconds.
        package var errorKnownFor: Int64 = 60_000_000_000
        /// Between two errors that are told, however many come; nanoseconds.
        package var errorInterval: Int64 = 1_000_000_000

        package init() {}
    }

    /// What is to be done after a deadline.
    package enum DeadlineAction: Sendable, Equatable {
        case none
        /// The error is old, and no longer told beside trades.
        case forgetError
        /// Nothing arrived for too long: end the connection.
        case drop(afterNanoseconds: Int64)
    }

    package let settings: Settings
    /// Nanoseconds (monotonic) of the connection's first and newest trade.
    package private(set) var firstTrade: Int64?
    package private(set) var lastTrade: Int64?
    /// The newest error text of the service; while trades flow, it is forgotten after a while.
    package private(set) var lastError: String?
    private var errorUntil: Int64 = 0
    /// The error that was told last, and when.
    private var reportedError: (text: String, at: Int64)?
    private var lastFrame: Int64

    /// A connection that opened at `now`.
    package init(settings: Settings, now: Int64) {
        self.settings = settings
        self.lastFrame = now
    }

    /// Takes a read that brought frames, with trades in them or not.
    package mutating func framesArrived(hasTrades: Bool, now: Int64) {
        self.lastFrame = now
        guard hasTrades else { return }
        self.firstTrade = self.firstTrade ?? now
        self.lastTrade = now
    }

    /// Takes an error message of the service; returns whether it is to be told.
    ///
    /// - Parameter isLive: whether trades flow. Without them any error may be the reason, and the newest is kept.
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

    /// The error to be told beside what is true now.
    package func error(isLive: Bool, now: Int64) -> String? {
        isLive && now >= self.errorUntil ? nil : self.lastError
    }

    /// Takes the sign of life of a ping or pong below.
    package mutating func signOfLifeArrived(now: Int64) {
        self.lastFrame = now
    }

    /// When ``deadlineReached(now:isLive:)`` wants to be called next.
    ///
    /// - Parameter isLive: whether trades flow. Without them the error may be the very reason, and stays.
    package func deadline(isLive: Bool) -> Int64? {
        let silent = self.settings.silentAfter.map { self.lastFrame + $0 }
        let forget = self.lastError != nil && isLive ? self.errorUntil : nil
        return [silent, forget].compactMap(\.self).min()
    }

    /// Takes the passing of time.
    package mutating func deadlineReached(now: Int64, isLive: Bool) -> DeadlineAction {
        if let limit = self.settings.silentAfter, now - self.lastFrame >= limit {
            return .drop(afterNanoseconds: now - self.lastFrame)
        }
        if isLive, self.lastError != nil, now >= self.errorUntil {
            self.lastError = nil
            return .forgetError
        }
        return .none
    }

    /// For how long the connection carried trades, in nanoseconds.
    package var tradedFor: Int64 {
        guard let firstTrade, let lastTrade else { return 0 }
        return lastTrade - firstTrade
    }
}

import Logging
import Market

/// The one place that logs what is true of the feed: the same word, reason and since that every other output shows.
///
/// Symbols have an allowance of their own, so that fifty of them do not silence the feed. The state that is true at last is
/// always said: at once where the allowance has room, and else when it has room again.
struct StateLog {
    private let logger: Logger
    private var allowance = LogAllowance()
    private var symbolAllowance = LogAllowance()
    private var status: FeedStatus?
    /// The newest status, when it found no room.
    private var unsaid: FeedStatus?

    init(logger: Logger) { self.logger = logger }

    /// When ``timePassed(now:)`` wants to be called; monotonic ns, `nil` for never.
    var deadline: Int64? { self.unsaid.map { _ in self.allowance.reopens } }

    mutating func statusChanged(_ status: FeedStatus, now: Int64) {
        // A repeated status says nothing new, and neither does the next attempt's other time, nor a reason that is gone
        // while the state is the same.
        guard status.word != self.status?.word || self.isNewReason(status) || self.isNewAttempt(status) else { return }
        self.status = status
        if let leftOut = self.allowance.wanted(now: now) {
            self.say(status, leftOut: leftOut)
        } else if status.phase.isLast {
            // There is no later for this one.
            self.say(status, leftOut: 0)
        } else {
            self.unsaid = status
        }
    }

    /// Says what found no room, if there is room by now.
    mutating func timePassed(now: Int64) {
        guard let unsaid, now >= self.allowance.reopens, let leftOut = self.allowance.wanted(now: now) else { return }
        // What is said now was counted as left out.
        self.say(unsaid, leftOut: leftOut - 1)
    }

    private mutating func say(_ status: FeedStatus, leftOut: Int) {
        self.unsaid = nil
        var facts: Logger.Metadata = ["state": "\(status.word)", "since": "\(Self.time(status.since))"]
        if let reason = status.reason { facts["reason"] = "\(reason)" }
        if let cause = status.cause { facts["cause"] = "\(cause.word)" }
        if case .reconnecting(let attempt, _) = status.phase { facts["attempt"] = "\(attempt)" }
        if let retryAt = status.phase.retryAt { facts["retryAt"] = "\(Self.time(retryAt))" }
        if let via = status.via { facts["via"] = "\(via)" }
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.logger.log(level: status.phase.isTrouble ? .warning : .notice, "the feed's state", metadata: facts)
    }

    mutating func symbolChanged(_ status: SymbolStatus, now: Int64) {
        // Every symbol is asked for after every interruption, which the feed's state has told.
        if case .asked = status.state { return }
        guard let leftOut = self.symbolAllowance.wanted(now: now) else { return }
        var facts: Logger.Metadata = [
            "symbol": "\(status.symbol)", "state": "\(status.word)", "since": "\(Self.time(status.since))",
        ]
        if let reason = status.reason { facts["reason"] = "\(reason)" }
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.logger.notice("a symbol's state", metadata: facts)
    }

    func warn(_ text: String) { self.logger.warning("clocks", metadata: ["warning": "\(text)"]) }

    private func isNewReason(_ status: FeedStatus) -> Bool {
        status.reason != self.status?.reason && (status.reason != nil || status.since != self.status?.since)
    }

    private func isNewAttempt(_ status: FeedStatus) -> Bool {
        guard case .reconnecting(let attempt, _) = status.phase else { return false }
        guard case .reconnecting(let before, _)? = self.status?.phase else { return true }
        return attempt != before
    }

    /// `2026-11-21T19:20:00.123Z`.
    private static func time(_ nanoseconds: Int64) -> String { UTCText.timestamp(nanoseconds) }
}

extension FeedStatus.Phase {
    /// Whether the program ends in this phase.
    fileprivate var isLast: Bool {
        switch self {
        case .stopped, .keyRejected(retryAt: nil): true
        case .connecting, .waiting, .live, .late, .stale, .reconnecting, .rateLimited, .keyRejected(retryAt: .some),
            .keyInUse, .noSuchSymbol, .notPermitted, .ended:
            false
        }
    }

    /// Whether no trades come, and somebody may have to do something about it.
    fileprivate var isTrouble: Bool {
        switch self {
        case .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted: true
        case .connecting, .waiting, .live, .late, .ended, .stopped: false
        }
    }
}

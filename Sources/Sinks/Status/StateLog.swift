import Logging
import Market

/// The one place that logs what is true of the feed: the same word, reason and since that every other output shows.
struct StateLog {
    private let logger: Logger
    private var allowance = LogAllowance()
    private var status: FeedStatus?

    init(logger: Logger) { self.logger = logger }

    mutating func statusChanged(_ status: FeedStatus, now: Int64) {
        // A repeated status says nothing new, and neither does the next attempt's other time.
        guard status.word != self.status?.word || status.reason != self.status?.reason || self.isNewAttempt(status)
        else { return }
        self.status = status
        guard let leftOut = self.allowance.wanted(now: now) else { return }
        var facts: Logger.Metadata = ["state": "\(status.word)", "since": "\(Self.time(status.since))"]
        if let reason = status.reason { facts["reason"] = "\(reason)" }
        if let cause = status.cause { facts["cause"] = "\(cause.word)" }
        if case .reconnecting(let attempt, _) = status.phase { facts["attempt"] = "\(attempt)" }
        if let retryAt = status.phase.retryAt { facts["retryAt"] = "\(Self.time(retryAt))" }
        if let via = status.via { facts["via"] = "\(via)" }
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.logger.notice("the feed's state", metadata: facts)
    }

    mutating func symbolChanged(_ status: SymbolStatus, now: Int64) {
        guard let leftOut = self.allowance.wanted(now: now) else { return }
        var facts: Logger.Metadata = [
            "symbol": "\(status.symbol)", "state": "\(status.word)", "since": "\(Self.time(status.since))",
        ]
        if let reason = status.reason { facts["reason"] = "\(reason)" }
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.logger.notice("a symbol's state", metadata: facts)
    }

    func warn(_ text: String) { self.logger.warning("clocks", metadata: ["warning": "\(text)"]) }

    private func isNewAttempt(_ status: FeedStatus) -> Bool {
        guard case .reconnecting(let attempt, _) = status.phase else { return false }
        guard case .reconnecting(let before, _)? = self.status?.phase else { return true }
        return attempt != before
    }

    /// `2026-11-21T19:20:00.123Z`.
    private static func time(_ nanoseconds: Int64) -> String { UTCText.timestamp(nanoseconds) }
}

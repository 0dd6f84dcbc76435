import Logging
import Market

/// The log of the feed's status, with the same word, reason and start that every other output shows.
///
/// Symbols have a separate allowance, so that fifty of them cannot silence the feed. Symbols that change alike within a
/// second share one line. The final state is always logged: at once if the allowance permits, otherwise as soon as it
/// does.
struct StateLog {
    private let logger: Logger
    private var allowance = LogAllowance()
    private var symbolAllowance = LogAllowance()
    private var status: FeedStatus?
    /// The newest status, if the allowance did not permit a line.
    private var unsaid: FeedStatus?
    /// The symbols last logged as quiet or refused, so that their recovery is logged, too. Their number is bounded by
    /// the table's.
    private var troubled: Set<String> = []
    /// The changes of symbols that wait for similar ones, and the time at which they are logged; monotonic ns.
    private var gathered: [String: SymbolStatus] = [:]
    private var gatheredUntil: Int64 = .min

    /// The time for which changes of symbols are gathered, ns.
    private static let gathering: Int64 = 1_000_000_000
    /// The largest number of symbols named in one line.
    private static let maximumNamed = 5

    init(logger: Logger) { self.logger = logger }

    /// The time of the next call of ``timePassed(now:)``, monotonic ns; `nil` if none is needed.
    var deadline: Int64? {
        [self.unsaid.map { _ in self.allowance.reopens }, self.gathered.isEmpty ? nil : self.gatheredUntil]
            .compactMap(\.self).min()
    }

    mutating func statusChanged(_ status: FeedStatus, now: Int64) {
        // A repeated status is not logged, nor is a changed time of the next attempt, nor a reason that disappears
        // while the state stays the same.
        guard status.word != self.status?.word || self.isNewReason(status) || self.isNewAttempt(status) else { return }
        self.status = status
        if status.phase.isLast { self.sayGathered(now: now) }
        if let leftOut = self.allowance.wanted(now: now) {
            self.say(status, leftOut: leftOut)
        } else if status.phase.isLast {
            // No later call follows for this one.
            self.say(status, leftOut: 0)
        } else {
            self.unsaid = status
        }
    }

    /// Logs the pending changes and the pending status, if the allowance now permits.
    mutating func timePassed(now: Int64) {
        if now >= self.gatheredUntil { self.sayGathered(now: now) }
        guard let unsaid, now >= self.allowance.reopens, let leftOut = self.allowance.wanted(now: now) else { return }
        // The status logged now was counted as left out before.
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
        self.logger.log(level: status.phase.isTrouble ? .warning : .notice, "The feed's state", metadata: facts)
    }

    mutating func symbolChanged(_ status: SymbolStatus, now: Int64) {
        switch status.state {
        // Every interruption subscribes all symbols again, and the feed's status has already been logged.
        case .asked: return
        case .live:
            // A trading symbol is logged only if it was logged as quiet or refused.
            guard self.troubled.contains(status.symbol) else {
                self.gathered[status.symbol] = nil
                return
            }
        case .quiet, .refused: break
        }
        self.gathered[status.symbol] = status
        guard now >= self.gatheredUntil else { return }
        self.sayGathered(now: now)
        self.gatheredUntil = now + Self.gathering
    }

    /// Logs the gathered changes, one line for all symbols in the same state.
    private mutating func sayGathered(now: Int64) {
        guard !self.gathered.isEmpty else { return }
        let all = Dictionary(grouping: self.gathered.values, by: \.word)
        self.gathered = [:]
        for (word, symbols) in all.sorted(by: { $0.key < $1.key }) {
            for status in symbols {
                if case .live = status.state {
                    self.troubled.remove(status.symbol)
                } else if self.troubled.count < SymbolTable.capacity {
                    self.troubled.insert(status.symbol)
                }
            }
            guard let leftOut = self.symbolAllowance.wanted(now: now) else { continue }
            let sorted = symbols.sorted { ($0.since, $0.symbol) < ($1.since, $1.symbol) }
            var names = sorted.prefix(Self.maximumNamed).map(\.symbol).joined(separator: ", ")
            if sorted.count > Self.maximumNamed { names += " and \(sorted.count - Self.maximumNamed) more" }
            var facts: Logger.Metadata = [
                "symbol": "\(names)", "state": "\(word)", "since": "\(Self.time(sorted[0].since))",
            ]
            if let reason = sorted[0].reason { facts["reason"] = "\(reason)" }
            if sorted.count > 1 { facts["symbols"] = "\(sorted.count)" }
            if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
            let text: Logger.Message = sorted.count == 1 ? "A symbol's state" : "The state of several symbols"
            self.logger.log(level: sorted[0].isRefused ? .warning : .notice, text, metadata: facts)
        }
    }

    func warn(_ text: String) { self.logger.warning("The clocks do not agree", metadata: ["warning": "\(text)"]) }

    private func isNewReason(_ status: FeedStatus) -> Bool {
        status.reason != self.status?.reason && (status.reason != nil || status.since != self.status?.since)
    }

    private func isNewAttempt(_ status: FeedStatus) -> Bool {
        guard case .reconnecting(let attempt, _) = status.phase else { return false }
        guard case .reconnecting(let before, _)? = self.status?.phase else { return true }
        return attempt != before
    }

    /// Formats a time as `2026-11-21T19:20:00.123Z`.
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

    /// Whether no trades arrive and a person may have to act.
    fileprivate var isTrouble: Bool {
        switch self {
        case .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted: true
        case .connecting, .waiting, .live, .late, .ended, .stopped: false
        }
    }
}

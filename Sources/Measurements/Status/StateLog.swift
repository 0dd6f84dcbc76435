import Logging
import Market

/// The one place that logs what is true of the feed: the same word, reason and since that every other output shows.
///
/// Symbols have an allowance of their own, so that fifty of them do not silence the feed, and many that change alike within a
/// second have one line. The state that is true at last is always said: at once where the allowance has room, and else when
/// it has room again.
struct StateLog {
    private let logger: Logger
    private var allowance = LogAllowance()
    private var symbolAllowance = LogAllowance()
    private var status: FeedStatus?
    /// The newest status, when it found no room.
    private var unsaid: FeedStatus?
    /// Symbols that were last said to be quiet or refused, so that their recovery is news; no more than the feed asks for.
    private var troubled: Set<String> = []
    /// Changes of symbols that wait for others like them, and when they are said; monotonic ns.
    private var gathered: [String: SymbolStatus] = [:]
    private var gatheredUntil: Int64 = .min

    /// For so long changes of symbols are gathered, ns.
    private static let gathering: Int64 = 1_000_000_000
    /// How many symbols one line names.
    private static let mostNamed = 5

    init(logger: Logger) { self.logger = logger }

    /// When ``timePassed(now:)`` wants to be called; monotonic ns, `nil` for never.
    var deadline: Int64? {
        [self.unsaid.map { _ in self.allowance.reopens }, self.gathered.isEmpty ? nil : self.gatheredUntil]
            .compactMap(\.self).min()
    }

    mutating func statusChanged(_ status: FeedStatus, now: Int64) {
        // A repeated status says nothing new, and neither does the next attempt's other time, nor a reason that is gone
        // while the state is the same.
        guard status.word != self.status?.word || self.isNewReason(status) || self.isNewAttempt(status) else { return }
        self.status = status
        if status.phase.isLast { self.sayGathered(now: now) }
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
        if now >= self.gatheredUntil { self.sayGathered(now: now) }
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
        switch status.state {
        // Every symbol is asked for after every interruption, which the feed's state has told.
        case .asked: return
        case .live:
            // That a symbol trades is no news, but for one that did not.
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

    /// Says what was gathered, a line for all symbols in the same state.
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
            var names = sorted.prefix(Self.mostNamed).map(\.symbol).joined(separator: ", ")
            if sorted.count > Self.mostNamed { names += " and \(sorted.count - Self.mostNamed) more" }
            var facts: Logger.Metadata = [
                "symbol": "\(names)", "state": "\(word)", "since": "\(Self.time(sorted[0].since))",
            ]
            if let reason = sorted[0].reason { facts["reason"] = "\(reason)" }
            if sorted.count > 1 { facts["symbols"] = "\(sorted.count)" }
            if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
            let text: Logger.Message = sorted.count == 1 ? "a symbol's state" : "the state of several symbols"
            self.logger.log(level: sorted[0].isRefused ? .warning : .notice, text, metadata: facts)
        }
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

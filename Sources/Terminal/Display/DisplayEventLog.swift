import Market

/// What befell the feed, for the event pane: each change of its state with the reason, gaps, refused symbols, warnings.
///
/// Bounded: of more than ``capacity`` the oldest go. Times are wall clock, ns since 1970.
struct DisplayEventLog: Sendable {
    static let capacity = 500

    private(set) var events: [DisplayEvent] = []
    private var status: FeedStatus?
    private var troubles = ReportedSymbolStates()

    /// Adds an entry; the same text at the same time again is none.
    mutating func add(_ text: String, isTrouble: Bool, at time: Int64) {
        let event = DisplayEvent(time: time, text: text, isTrouble: isTrouble)
        guard self.events.last != event else { return }
        if self.events.count >= Self.capacity { self.events.removeFirst(self.events.count - Self.capacity + 1) }
        self.events.append(event)
    }

    /// Takes the state of the feed; what only repeats the one before is no entry, and neither is the attempt that was
    /// announced with the failure before.
    mutating func statusChanged(_ status: FeedStatus, at time: Int64) {
        defer { self.status = status }
        if let before = self.status, before.word == status.word, before.reason == status.reason,
            before.via == status.via, Self.attempt(before) == Self.attempt(status)
        {
            return
        }
        if let before = self.status, status.isAttempt(after: before) { return }
        self.add(Self.sentence(status), isTrouble: status.phase.isTroubleOnScreen, at: time)
    }

    mutating func gapFound(_ gap: Gap) {
        guard !gap.movesClock else { return self.add(gap.reason, isTrouble: false, at: gap.to) }
        let whose = gap.symbol.map { " of \($0)" } ?? ""
        self.add("gap\(whose) of \(AgeText.words(gap.length)): \(gap.reason)", isTrouble: true, at: gap.to)
    }

    /// Takes the state of a symbol: trouble, and that it is over.
    mutating func symbolChanged(_ status: SymbolStatus) {
        guard self.troubles.isNews(status) else { return }
        let isOver = status.state == .live
        let reason = status.reason.map { ": \($0)" } ?? ""
        let text = isOver ? "\(status.symbol) trades again" : "\(status.symbol) \(status.word)\(reason)"
        self.add(text, isTrouble: !isOver, at: status.since)
    }

    mutating func symbolUnsubscribed(_ symbol: String) { self.troubles.forget(symbol) }

    private static func attempt(_ status: FeedStatus) -> Int? {
        guard case .reconnecting(let attempt, _) = status.phase else { return nil }
        return attempt
    }

    /// The state with its reason. How long a wait is depends on when the line is read, so moments are told.
    private static func sentence(_ status: FeedStatus) -> String {
        var text = status.words { time in
            let moment = UTCText.timeOfDay(time)
            return ("at \(moment)", "until \(moment)")
        }
        if let via = status.via { text += " by the relay at \(via)" }
        return status.reason.map { "\(text): \($0)" } ?? text
    }
}

extension FeedStatus.Phase {
    /// Whether no trades come, or none has for a while.
    fileprivate var isTroubleOnScreen: Bool {
        switch self {
        case .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted: true
        case .connecting, .waiting, .live, .ended, .stopped: false
        }
    }
}

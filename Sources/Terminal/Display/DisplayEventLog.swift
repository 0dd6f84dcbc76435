import Market

/// The entries of the event pane: each change of the feed's status with its reason, gaps, refused symbols, warnings.
///
/// Bounded: beyond ``capacity`` the oldest entries are removed. Times are wall clock, ns since 1970.
struct DisplayEventLog: Sendable {
    static let capacity = 500

    /// The clock of the times in texts, that of the pane.
    let clock: ScreenClock

    private(set) var events: [DisplayEvent] = []
    private var status: FeedStatus?
    private var troubles = ReportedSymbolStates()

    init(clock: ScreenClock = .utc) { self.clock = clock }

    /// Adds an entry, unless the newest one has the same text and time.
    mutating func add(_ text: String, isTrouble: Bool, at time: Int64) {
        let event = DisplayEvent(time: time, text: text, isTrouble: isTrouble)
        guard self.events.last != event else { return }
        if self.events.count >= Self.capacity { self.events.removeFirst(self.events.count - Self.capacity + 1) }
        self.events.append(event)
    }

    /// Takes the feed's status. A repetition gets no entry, nor does the attempt that the previous failure has
    /// announced.
    mutating func statusChanged(_ status: FeedStatus, at time: Int64) {
        defer { self.status = status }
        if let before = self.status, before.word == status.word, before.reason == status.reason,
            before.via == status.via, Self.attempt(before) == Self.attempt(status)
        {
            return
        }
        if let before = self.status, status.isAttempt(after: before) { return }
        self.add(self.sentence(status), isTrouble: status.phase.isTroubleOnScreen, at: time)
    }

    mutating func gapFound(_ gap: Gap) {
        guard !gap.movesClock else { return self.add(gap.reason, isTrouble: false, at: gap.to) }
        let whose = gap.symbol.map { " of \($0)" } ?? ""
        self.add("gap\(whose) of \(AgeText.words(gap.length)): \(gap.reason)", isTrouble: true, at: gap.to)
    }

    /// Takes the status of a symbol; adds an entry when trouble begins, and when it ends.
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

    /// Returns the status with its reason. Wait times become times of day, since an entry may be read much later.
    private func sentence(_ status: FeedStatus) -> String {
        var text = status.words { time in
            let moment = self.clock.timeOfDay(time)
            return ("at \(moment)", "until \(moment)")
        }
        if let via = status.via { text += " via \(via)" }
        return status.reason.map { "\(text): \($0)" } ?? text
    }
}

extension FeedStatus.Phase {
    /// Whether the feed has no trades, or has had none for a while.
    fileprivate var isTroubleOnScreen: Bool {
        switch self {
        case .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted: true
        case .connecting, .waiting, .live, .ended, .stopped: false
        }
    }
}

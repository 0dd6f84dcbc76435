import Feeds
import Ingest
import Market
import Wire

/// A ``SymbolMonitor`` for which a test plays the service; times are seconds.
struct WatchBench {
    static let second: Int64 = 1_000_000_000

    var watch: SymbolMonitor
    var now: Double
    /// The requests that were sent, as `+A` and `-A`, and the published changes, as `A live`.
    var sent: [String] = []
    var reported: [String] = []
    var reconnects: [Double] = []
    var silences: [SymbolSilence] = []
    var table = SymbolTable()

    init(
        _ symbols: [String],
        limit: Int = Subscriptions.Settings().limit,
        opened: Bool = true,
        change: (inout SymbolMonitor.Settings) -> Void = { _ in }
    ) {
        var settings = SymbolMonitor.Settings()
        change(&settings)
        self.now = 0
        self.watch = SymbolMonitor(
            symbols: symbols,
            limit: limit,
            settings: settings,
            now: Moment(monotonic: 0, wall: 0)
        )
        for symbol in symbols { _ = self.table.intern(symbol) }
        self.take()
        if opened { self.open() }
    }

    var moment: Moment {
        // The wall clock is a thousand seconds ahead.
        let time = Int64(self.now * Double(Self.second))
        return Moment(monotonic: time, wall: time + 1_000 * Self.second)
    }

    mutating func open() {
        self.watch.connectionOpened(self.moment)
        self.take()
    }

    mutating func close() {
        self.watch.connectionEnded(self.moment)
        self.take()
    }

    mutating func trade(_ symbols: String...) {
        let trades = symbols.compactMap { symbol in
            self.table.intern(symbol).map { Trade(price: .zero, size: .zero, exchangeTime: 0, symbol: $0) }
        }
        _ = self.watch.traded(trades, symbols: self.table, now: self.moment)
        self.take()
    }

    mutating func error(_ text: String) {
        if let words = SymbolRefusalText(text) {
            let refusal = SymbolRefusal(words.kind, symbol: words.symbol, text: text)
            self.watch.refusalArrived(refusal, now: self.moment)
        }
        self.take()
    }

    /// Lets time pass up to `time`, and obeys every deadline; a reconnect takes half a second.
    mutating func pass(to time: Double) {
        while let deadline = self.watch.deadline(now: self.moment.monotonic) {
            let at = max(Double(deadline) / Double(Self.second), self.now)
            guard at <= time else { break }
            self.now = at
            // Seconds as a double may fall short of the deadline by some nanoseconds for ever.
            while self.moment.monotonic < deadline { self.now = self.now.nextUp }
            let moment = self.moment
            let action = self.watch.deadlineReached(moment)
            self.take(moment)
            if case .reconnect(let silence) = action {
                self.reconnects.append(self.now)
                self.silences.append(silence)
                self.close()
                self.now += 0.5
                self.open()
            }
        }
        self.now = max(self.now, time)
    }

    /// Lets time pass while the symbols trade every `interval` seconds.
    mutating func pass(to time: Double, trading symbols: [String], every interval: Double) {
        while self.now + interval <= time {
            self.pass(to: self.now + interval)
            for symbol in symbols { self.trade(symbol) }
        }
        self.pass(to: time)
    }

    mutating func take(_ moment: Moment? = nil) {
        for request in self.watch.takeRequests(moment ?? self.moment) {
            switch request {
            case .subscribe(let symbol): self.sent.append("+\(symbol)")
            case .unsubscribe(let symbol): self.sent.append("-\(symbol)")
            }
        }
        for change in self.watch.takeChanges() {
            switch change {
            case .state(let status): self.reported.append("\(status.symbol) \(status.word)")
            case .unsubscribed(let symbol): self.reported.append("\(symbol) gone")
            }
        }
    }

    mutating func takeSent() -> [String] {
        defer { self.sent = [] }
        return self.sent
    }

    func word(_ symbol: String) -> String? { self.watch.states.first { $0.symbol == symbol }?.word }

    func status(_ symbol: String) -> SymbolStatus? { self.watch.states.first { $0.symbol == symbol } }

    var condition: SymbolMonitor.Condition { self.watch.condition(now: self.moment.monotonic) }
}

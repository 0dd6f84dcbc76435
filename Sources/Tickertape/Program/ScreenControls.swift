import Alerts
import Feeds
import Ingest
import Market
import Terminal

/// The connections from the screen's keys to the rest of a program, one for each component.
extension DisplayRemote {
    /// Connects the keys that add and remove symbols.
    mutating func connect(to symbols: ScreenSymbols) {
        self.subscribe = .can { await symbols.add($0) }
        self.unsubscribe = .can { await symbols.remove($0) }
    }

    /// Connects the lookup of symbols and headlines, or the reason why it is unavailable.
    mutating func connect(to lookup: Result<ServiceLookup, OperatorError>) {
        switch lookup {
        case .success(let lookup):
            self.search = .can { text in
                let answer = await lookup.suggestions(for: text)
                return .init(answer.suggestions, problem: answer.message)
            }
            self.news = .can { await lookup.news() }
        case .failure(let reason):
            self.search = .cannot("type the whole name, such as BINANCE:ETHUSDT: \(reason)")
            self.news = .cannot("\(reason)")
        }
    }

    /// Connects the keys that set and remove alerts.
    mutating func connect(to alerts: AlertService) {
        let board = alerts.board
        self.alertsAreLost = alerts.loss
        self.checkAlert = { AlertBoard.errorText(about: $0) }
        self.setAlert = .can { text in
            do throws(AlertRule.ParseError) {
                try board.add(text)
                return nil
            } catch {
                return error.description
            }
        }
        self.removeAlert = .can { _, text in board.remove(text) ? nil : "this alert is gone already" }
    }

    /// Connects the keys that control a replay.
    mutating func connect(to replay: any ReplayControlling) {
        self.replay = .can { request in
            await withCheckedContinuation { continuation in
                replay.request(request) { answer in
                    switch answer {
                    case .success: continuation.resume(returning: nil)
                    case .failure(let refusal): continuation.resume(returning: refusal.description)
                    }
                }
            }
        }
    }

    /// Connects the key that reconnects a live feed, and the choice of a symbol, whose missing trades come first.
    ///
    /// - Parameter clock: the screen's.
    mutating func connect(to feed: FeedGroup, of source: FeedStatus.Source, clock: ScreenClock) {
        self.symbolChosen = { feed.prefer($0) }
        switch source {
        case .live: self.reconnect = .can { await feed.reconnect().remark(clock: clock) }
        case .replay: self.reconnect = .cannot("this is a replay: there is nothing to connect to")
        case .simulated: self.reconnect = .cannot("this is a simulation: there is nothing to connect to")
        case .demo: self.reconnect = .cannot("this is the demo: set FINNHUB_TOKEN to connect to Finnhub")
        }
        self.live = .cannot(
            source == .live
                ? "this is the live market" : "this shows no market: start with --from venue, which needs no key"
        )
    }
}

extension DisplayRemote {
    /// Connects the key that leaves the demo for the live market.
    mutating func connect(to start: LiveStart, display: PriceDisplay) {
        self.live = .can { await start.begin { display.liveStart($0) } }
    }
}

extension Subscriptions: ScreenSymbolSource {
    func add(_ symbol: String) async -> String? {
        switch self.retain(symbol) {
        case .accepted: nil
        case .full: self.fullness(for: symbol)
        case .invalid: "\(symbol) cannot be a symbol; write it like BINANCE:BTCUSDT"
        }
    }

    func remove(_ symbol: String) async { self.release(symbol) }

    private func fullness(for symbol: String) -> String {
        let limit = self.limit(of: symbol)
        let whose = limit.owner.map { " of one connection to \($0)" } ?? ""
        let cure = limit.owner == nil ? ", or raise upstream.max-symbols if the key's plan allows more" : ""
        return "all \(limit.count) places\(whose) are taken, those of the relay's clients among them: remove a symbol "
            + "first\(cure)"
    }
}

extension ConnectionRenewal {
    /// Returns in one line why no new connection is made, or that the present one goes on meanwhile; `nil` if the
    /// connection is made anew.
    func remark(now: Int64 = WallClock.now(), clock: ScreenClock) -> String? {
        switch self {
        case .begun: nil
        case .beside: "a second connection is opened, and takes over when its trades prove that nothing is missing"
        case .underWay: "it is connecting already"
        case .notBefore(let until, let reason):
            "not before \(clock.timeOfDay(until)) \(clock.label(at: until)), in \(AgeText.words(until - now)): \(reason)"
        case .tooSoon: "it was asked for a moment ago"
        case .over: "the feed has ended"
        }
    }
}

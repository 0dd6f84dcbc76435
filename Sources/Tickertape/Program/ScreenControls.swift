import Alerts
import Feeds
import Ingest
import Market
import Terminal

/// What the keys at a screen can have done in the rest of a program.
enum ScreenControls {
    /// For a program with a feed of its own.
    ///
    /// - Parameters:
    ///   - symbols: what is on the screen at the start.
    ///   - subscriptions: what the feed is asked for.
    ///   - recorded: the symbols of the recording, where it is one and they are known.
    ///   - material: what the recording is called: `the recording`, `the simulated market`.
    ///   - replay: commands the replay, where it is one.
    ///   - desk: finds symbols and headlines, or why there is none.
    static func make(
        feed: FeedService,
        source: FeedStatus.Source,
        display: PriceDisplay,
        symbols: [String],
        subscriptions: Subscriptions,
        watchlist: KeptWatchlist?,
        recorded: Set<String>?,
        material: String,
        alerts: AlertsPart,
        replay: (any ReplayControlling)?,
        desk: Result<ServiceDesk, OperatorError>
    ) -> DisplayRemote {
        let list = ScreenSymbols(
            symbols: symbols,
            source: ScreenSymbols.Source(
                adopt: { symbol in
                    switch subscriptions.retain(symbol) {
                    case .accepted: nil
                    case .full:
                        "all \(subscriptions.limit) places are taken, those of the relay's clients among them: remove a symbol first, "
                            + "or raise upstream.max-symbols if the key's plan allows more"
                    case .invalid: "\(symbol) cannot be a symbol; write it like BINANCE:BTCUSDT"
                    }
                },
                disown: { subscriptions.release($0) }
            ),
            display: display,
            watchlist: watchlist,
            recorded: recorded,
            material: material
        )
        var remote = DisplayRemote(without: "this version cannot do that")
        remote.subscribe = .can { await list.add($0) }
        remote.unsubscribe = .can { await list.remove($0) }
        switch source {
        case .live: remote.reconnect = .can { Self.words(for: await feed.reconnect()) }
        case .replay: remote.reconnect = .cannot("this is a replay: there is nothing to connect to")
        case .simulated: remote.reconnect = .cannot("this is a simulation: there is nothing to connect to")
        case .demo: remote.reconnect = .cannot("this is the demo: set FINNHUB_TOKEN to connect to Finnhub")
        }
        Self.connect(&remote, to: desk)
        Self.connect(&remote, to: alerts)
        if let replay {
            remote.replay = .can { request in
                await withCheckedContinuation { continuation in
                    replay.request(request) { answer in
                        switch answer {
                        case .success: continuation.resume(returning: nil)
                        case .failure(let refusal): continuation.resume(returning: refusal.description)
                        }
                    }
                }
            }
        } else {
            remote.replay = .cannot("this is not a replay")
        }
        return remote
    }

    private static func connect(_ remote: inout DisplayRemote, to desk: Result<ServiceDesk, OperatorError>) {
        switch desk {
        case .success(let desk):
            remote.search = .can { text in
                let answer = await desk.suggestions(for: text)
                return .init(answer.suggestions, problem: answer.message)
            }
            remote.news = .can { await desk.news() }
        case .failure(let reason):
            remote.search = .cannot("type the whole name, such as BINANCE:ETHUSDT: \(reason)")
            remote.news = .cannot("\(reason)")
        }
    }

    /// Alerts are set and removed alike whatever is watched.
    private static func connect(_ remote: inout DisplayRemote, to part: AlertsPart) {
        let alerts = part.board
        remote.alertsAreLost = part.loss
        remote.checkAlert = { AlertBoard.complaint(about: $0) }
        remote.setAlert = .can { text in
            do throws(AlertRule.Misfit) {
                try alerts.add(text)
                return nil
            } catch {
                return error.description
            }
        }
        remote.removeAlert = .can { _, text in alerts.remove(text) ? nil : "this alert is gone already" }
    }

    /// For a program that watches a relay.
    ///
    /// - Parameter desk: finds symbols and headlines, where a key is set here.
    static func make(
        watching feed: StreamFeed,
        display: PriceDisplay,
        symbols: [String],
        alerts: AlertsPart,
        charts: EarlierCharts,
        desk: Result<ServiceDesk, OperatorError>?
    ) -> DisplayRemote {
        let list = ScreenSymbols(
            symbols: symbols,
            source: ScreenSymbols.Source(
                adopt: { symbol in
                    if let problem = await feed.adopt(symbol) { return problem }
                    charts.added(symbol)
                    return nil
                },
                disown: { symbol in
                    feed.unsubscribe(symbol)
                    charts.forget(symbol)
                }
            ),
            display: display,
            watchlist: nil
        )
        var remote = DisplayRemote(without: "ask for this at the tickertape whose relay is watched")
        remote.subscribe = .can { await list.add($0) }
        remote.unsubscribe = .can { await list.remove($0) }
        remote.reconnect = .can { Self.words(for: await feed.reconnect()) }
        if let desk {
            Self.connect(&remote, to: desk)
        } else {
            remote.search = .cannot(
                "type the whole name, such as BINANCE:ETHUSDT; names are searched with FINNHUB_TOKEN set"
            )
            remote.news = .cannot("news are Finnhub's: set FINNHUB_TOKEN, also where a relay is watched")
        }
        Self.connect(&remote, to: alerts)
        remote.replay = .cannot("this is not a replay of this program; pause it where it runs")
        return remote
    }

    /// Why there is no new connection, in one line; `nil` where there will be one.
    static func words(for renewal: ConnectionRenewal, now: Int64 = WallClock.now()) -> String? {
        switch renewal {
        case .begun: nil
        case .underWay: "it is connecting already"
        case .notBefore(let until, let reason):
            "not before \(UTCText.timeOfDay(until)) UTC, in \(AgeText.words(until - now)): \(reason)"
        case .tooSoon: "it was asked for a moment ago"
        case .over: "the feed has ended"
        }
    }
}

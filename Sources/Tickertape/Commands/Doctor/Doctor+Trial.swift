import Feeds
import Ingest
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform
import Wire

/// The connection that `--connect` makes: with the program's own feed, so that the lock and the attempts of the key
/// count.
extension Doctor {
    /// Returns the checks of the upgrade and of the first trade.
    ///
    /// - Parameters:
    ///   - wait: how long the next attempt has to wait, ns.
    ///   - isReached: whether the steps up to the upgrade work.
    func trial(connects: Bool, _ files: KeyFiles?, wait: Int64, isReached: Bool) async -> [DoctorCheck] {
        func not(_ reason: String, _ state: DoctorCheck.State = .note, cure: String? = nil) -> [DoctorCheck] {
            [
                DoctorCheck("upgrade", state, "not tried: \(reason)", cure: cure),
                DoctorCheck("first-trade", .note, "not waited for"),
            ]
        }
        guard let plan = self.feedPlan else {
            return not(self.unknownKey == nil ? "there is no key" : "the settings are wrong")
        }
        guard connects else { return not("--connect tries it, and makes an attempt that counts") }
        guard isReached else { return not("the steps before it fail") }
        guard wait == 0 else {
            let cure = "wait \((wait + 999_999_999) / 1_000_000_000) s, and run doctor again"
            return not("an attempt now would add to the penalties", .warning, cure: cure)
        }
        guard self.left > .seconds(1) else { return not("the other steps took all the time") }
        let begun = SystemClock.monotonic()
        let trial: TrialFeed
        do {
            trial = try await TrialFeed(plan, files?.storage, self.settings)
        } catch {
            return [DoctorCheck("upgrade", .failure, "\(error)", cure: "correct the setting")]
        }
        let ending = await self.outcome(of: trial, begun)
        await trial.end()
        return ending
    }

    private func outcome(of trial: TrialFeed, _ begun: Int64) async -> [DoctorCheck] {
        let end = ContinuousClock.now + self.left
        while ContinuousClock.now < end {
            switch trial.seen.state {
            case .begun: try? await Task.sleep(for: TrialFeed.interval)
            case .failed(let status):
                let words = "\(status.word)\(status.reason.map { ": \($0)" } ?? "")"
                let cure = "the reason says what to do; docs/upstream.md lists the answers of the service"
                return [DoctorCheck("upgrade", .failure, words, cure: cure)]
            case .open(let at):
                let words = "open after \(Self.words(at - begun)), name, TCP and TLS included"
                return [DoctorCheck("upgrade", .ok, words), await self.firstTrade(trial, since: at)]
            }
        }
        let cure = "the service is slow or overloaded: try again later (docs/upstream.md)"
        return [DoctorCheck("upgrade", .failure, "no answer within \(Self.stepLimit.components.seconds) s", cure: cure)]
    }

    private func firstTrade(_ trial: TrialFeed, since opened: Int64) async -> DoctorCheck {
        let end = ContinuousClock.now + self.left
        while ContinuousClock.now < end {
            if let trade = trial.seen.trade {
                let words = "\(trade.symbol) \(Self.words(max(0, trade.at - opened))) after the upgrade"
                return DoctorCheck("first-trade", .ok, words)
            }
            if case .failed(let status) = trial.seen.state {
                let words = "none: \(status.word)\(status.reason.map { ": \($0)" } ?? "")"
                return DoctorCheck("first-trade", .failure, words, cure: "does another program use the key?")
            }
            try? await Task.sleep(for: TrialFeed.interval)
        }
        let refused = trial.seen.refusals.map { "; \($0)" } ?? ""
        return DoctorCheck(
            "first-trade",
            .warning,
            "none within \(Self.stepLimit.components.seconds) s\(refused)",
            cure: "is the market of the symbols open? BINANCE:BTCUSDT trades every second"
        )
    }
}

/// The feeds of a program for the time of a trial, on a tape that only the trial reads.
final class TrialFeed: Sendable {
    /// The interval of looks at the result.
    static let interval = Duration.milliseconds(20)

    /// What has come so far.
    struct Seen: Sendable {
        enum State: Sendable {
            case begun
            /// The upgrade was answered, at this monotonic time in ns.
            case open(Int64)
            case failed(FeedStatus)
        }

        var state = State.begun
        /// The first trade, and when it came; monotonic ns.
        var trade: (symbol: String, at: Int64)?
        /// What the service said against a symbol.
        var refusals: String?
    }

    /// The reader of the trial's tape.
    private final class Reader: TapeReader {
        let seen = NIOLockedValueBox(Seen())

        func read(_ batch: TapeBatch) {
            guard let first = batch.trades.first else { return }
            self.seen.withLockedValue { seen in
                if seen.trade == nil { seen.trade = (batch.symbols.name(of: first.symbol), SystemClock.monotonic()) }
            }
        }

        func statusChanged(_ status: FeedStatus) {
            self.seen.withLockedValue { seen in
                switch status.phase {
                case .connecting: break
                case .waiting, .live, .late, .stale:
                    if case .begun = seen.state { seen.state = .open(SystemClock.monotonic()) }
                case .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted, .ended:
                    seen.state = .failed(status)
                case .stopped: break
                }
            }
        }

        func symbolChanged(_ status: SymbolStatus) {
            guard status.isRefused else { return }
            self.seen.withLockedValue { $0.refusals = status.reason ?? "\(status.symbol): \(status.word)" }
        }

        func gapFound(_ gap: Gap) {}
    }

    private let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let reader = Reader()
    private let feed: FeedGroup
    private let subscriptions: Subscriptions

    /// Makes the feeds and starts them.
    init(_ plan: FeedPlan, _ storage: KeyStorage?, _ settings: Settings) async throws {
        let loop = self.loops.next()
        let reader = self.reader
        let logger = ProgramLog.silent
        let tape = try await loop.submit { NIOLoopBound(TapeWriter(epoch: 1, readers: [reader]), eventLoop: loop) }
            .get()
        var feeds: [FeedService] = []
        if var finnhub = plan.finnhub {
            if let storage { finnhub.holding = storage.holding }
            finnhub.backoff.rejectedKey = nil
            feeds.append(
                try await FinnhubFeed.make(finnhub, into: tape, loop: loop, logger: logger, wallClock: WallClock.now)
            )
        }
        for var venue in plan.venues {
            venue.backfill = false
            venue.holding =
                KeyStorage(
                    settings.state,
                    identity: KeyIdentity(venue.venue, at: venue.upstream),
                    isShared: false,
                    warnings: Warnings(print: { _, _ in })
                ).holding
            feeds.append(
                try await VenueFeed.make(venue, into: tape, loop: loop, logger: logger, wallClock: WallClock.now)
            )
        }
        self.feed = FeedGroup(feeds)
        self.subscriptions = Subscriptions(plan.shares, order: plan.symbols, loop: loop) { _ in nil }
        self.feed.connect(to: self.subscriptions)
        self.feed.begin()
    }

    var seen: Seen { self.reader.seen.withLockedValue { $0 } }

    /// Ends the connection and releases the key.
    func end() async {
        self.feed.stop()
        let feed = self.feed
        _ = await withTimeLimit(.seconds(1)) { try? await feed.run() }
        await self.loops.end()
    }
}

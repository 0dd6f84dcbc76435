import Market
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The way from the demo to the live market: when a person asks for it, it connects to the exchanges while the demo goes
/// on, and ends the demo at the first trade.
///
/// The live market is a program apart from the demo, with a tape, an epoch, a relay and a screen that never had a trade
/// of the demo. Its feeds are paused from their first trade until its readers take the place of the demo's.
final class LiveStart: Sendable {
    /// A live program whose first trade has come.
    struct Begun: Sendable {
        let program: TickerProgram
        let base: TickerBase
        let held: HeldTape
        /// The signals since the demo began. The demo's services forget those that come while they end.
        var signals: UnixSignalsSequence?

        /// Runs the program until its end.
        func run() async throws {
            try await self.program.run(on: self.base, held: self.held, endedBy: self.signals)
        }
    }

    private enum State {
        case idle
        case beginning
        /// The feeds run; the status and the text say how far they are.
        case connecting(Begun, FeedStatus?, words: String)
        /// The first trade has come.
        case traded(Begun)
        /// The demo has ended, and the live program takes its place.
        case taken(Begun)
        case over
    }

    private let makeProgram: @Sendable () throws -> TickerProgram
    private let state = NIOLockedValueBox(State.idle)
    private let firstTrade = AsyncStream<Void>.makeStream()

    /// - Parameter makeProgram: makes the program of the live market.
    init(_ makeProgram: @escaping @Sendable () throws -> TickerProgram) { self.makeProgram = makeProgram }

    /// The program that takes the place of the demo; `nil` if the demo was left in another way.
    var taken: Begun? {
        self.state.withLockedValue { if case .taken(let begun) = $0 { begun } else { nil } }
    }

    /// Begins to connect, once.
    ///
    /// - Parameter show: takes how far it is, in one line, now and at every change.
    /// - Returns: why it cannot begin, or how far it is if it has begun before.
    func begin(show: @escaping @Sendable (String) -> Void) async -> String? {
        let (isFirst, words) = self.state.withLockedValue { state -> (Bool, String?) in
            switch state {
            case .idle:
                state = .beginning
                return (true, nil)
            case .connecting(_, _, let words): return (false, words)
            case .beginning, .traded, .taken, .over: return (false, nil)
            }
        }
        guard isFirst else { return words }
        do {
            try await self.connect(show)
            return nil
        } catch {
            self.state.withLockedValue { $0 = .idle }
            return "\(error)"
        }
    }

    private func connect(_ show: @escaping @Sendable (String) -> Void) async throws {
        let program = try self.makeProgram()
        let base = try await TickerBase(program, isFirst: false)
        let held = HeldTape(
            on: base.loop,
            statusSeen: { self.statusSeen($0, show) },
            traded: { self.traded() }
        )
        let begun = Begun(program: program, base: base, held: held)
        let isWanted = self.state.withLockedValue { state in
            guard case .beginning = state else { return false }
            state = .connecting(begun, nil, words: "")
            return true
        }
        guard isWanted else { return await Self.end(base) }
        self.statusSeen(base.status, show)
        let tape = base.tape
        try await base.loop.submit { tape.value.add([held]) }.get()
        base.feed.connect(to: base.subscriptions)
        base.feed.begin()
    }

    private func statusSeen(_ status: FeedStatus, _ show: @Sendable (String) -> Void) {
        let words = Self.words(for: status)
        let isNews = self.state.withLockedValue { state in
            guard case .connecting(let begun, let before, let shown) = state else { return false }
            // The attempt after a failure has the failure's reason, which is shown already.
            if let before, status.isAttempt(after: before) { return false }
            state = .connecting(begun, status, words: words)
            return words != shown
        }
        if isNews { show(words) }
    }

    private func traded() {
        let begun = self.state.withLockedValue { state -> Begun? in
            guard case .connecting(let begun, _, _) = state else { return nil }
            state = .traded(begun)
            return begun
        }
        begun?.base.feed.pause()
        self.firstTrade.continuation.finish()
    }

    /// Returns how far the live market is, without the time of the next attempt, since the line stays as it is.
    static func words(for status: FeedStatus) -> String {
        let reason = status.reason.map { ": \($0)" } ?? ""
        let words =
            switch status.phase {
            case .connecting: "connecting to the live market"
            case .waiting, .live, .late, .stale: "connected to the live market, no trade yet"
            case .reconnecting(let attempt, _): "the live market cannot be reached, attempt \(attempt) follows"
            case .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted, .ended, .stopped:
                "the live market: \(status.spokenWord)"
            }
        return "\(words); the demo goes on\(reason)"
    }

    /// The service that ends the demo at the first trade.
    var part: NamedService {
        NamedService("live start") {
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
            await cancelWhenGracefulShutdown {
                for await _ in self.firstTrade.stream {}
            }
            guard !Task.isShuttingDownGracefully else { return }
            self.state.withLockedValue { state in
                guard case .traded(var begun) = state else { return }
                begun.signals = signals
                state = .taken(begun)
            }
        }
    }

    /// Ends the feeds, if they run and the live program does not take them.
    func end() async {
        let begun = self.state.withLockedValue { state -> Begun? in
            switch state {
            case .connecting(let begun, _, _), .traded(let begun):
                state = .over
                return begun
            case .idle, .beginning:
                state = .over
                return nil
            case .taken, .over: return nil
            }
        }
        if let begun { await Self.end(begun.base) }
    }

    private static func end(_ base: TickerBase) async {
        base.feed.stop()
        try? await base.feed.run()
        await base.loops.end()
    }
}

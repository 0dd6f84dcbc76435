import Feeds
import Market
import NIOCore
import ServiceLifecycle
import Terminal
import Wire

/// The loader of a `watch` screen's older bars, which come from the relay, one symbol at a time.
final class EarlierCharts: Sendable {
    private let past: StreamPast?
    private let display: PriceDisplay
    /// The symbols that have been requested, on the feed's loop.
    private let known: NIOLoopBoundBox<Set<String>>
    private let loop: any EventLoop
    private let wanted: AsyncStream<String>
    private let want: AsyncStream<String>.Continuation

    init(_ past: StreamPast?, display: PriceDisplay, loop: any EventLoop) {
        self.past = past
        self.display = display
        self.loop = loop
        self.known = .makeBoxSendingValue([], eventLoop: loop)
        (self.wanted, self.want) = AsyncStream.makeStream()
    }

    /// Requests the older bars of symbols. Each is requested once, and again after a network failure. Must be called on
    /// the feed's loop.
    func want(_ symbols: [String]) {
        guard self.past != nil else { return }
        self.known.withValue { known in
            for symbol in symbols where known.count < StreamPast.maximumSymbols && known.insert(symbol).inserted {
                self.want.yield(symbol)
            }
        }
    }

    /// Takes a message of the relay: its greeting lists the symbols, and a symbol's status says whether it is refused.
    ///
    /// - Parameter chosen: the only symbols that are watched; empty means all.
    func take(_ message: StreamMessage, chosen: [String]) {
        switch message {
        case .hello(_, _, let names, _, _): self.want(chosen.isEmpty ? names : chosen)
        case .symbol(let status): if !status.isRefused { self.want([status.symbol]) }
        case .snapshot, .price, .trades, .trade, .status, .gap, .settled, .venueDay, .resumed, .released, .replay,
            .error, .unknown, .malformed:
            break
        }
    }

    /// Forgets a symbol whose chart is gone, so that the next subscription requests its bars again. May be called on
    /// any thread.
    func forget(_ symbol: String) {
        self.loop.execute { [known] in known.withValue { _ = $0.remove(symbol) } }
    }

    /// Takes a symbol that was added while the program runs. May be called on any thread.
    func added(_ symbol: String) {
        self.loop.execute { self.want([symbol]) }
    }

    var part: NamedService {
        NamedService("history") { [past, display, wanted, known, loop] in
            let asking = Task {
                guard let past else { return }
                for await symbol in wanted {
                    guard let bars = await past.bars(of: symbol) else {
                        // The relay's next greeting or symbol status requests it again.
                        loop.execute { known.withValue { _ = $0.remove(symbol) } }
                        continue
                    }
                    let found = bars.map {
                        EarlierBars(
                            symbol: symbol,
                            width: $0.width,
                            bars: $0.bars,
                            endedAt: $0.bars.last?.end ?? 0
                        )
                    }
                    if !found.isEmpty { display.begin(with: found) }
                }
            }
            // A request in progress ends with the loops, so this does not wait for it.
            try? await gracefulShutdown()
            asking.cancel()
        }
    }
}

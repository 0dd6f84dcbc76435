import Ingest
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing
import Wire

@Suite("The subscriptions of a program")
struct SubscriptionsTests {
    private final class Feed: SubscribingFeed {
        private let heard = NIOLockedValueBox<[[SubscriptionChange]]>([])

        /// The changes since the last call, grouped by call.
        func take() -> [[SubscriptionChange]] {
            self.heard.withLockedValue { heard in
                defer { heard = [] }
                return heard
            }
        }

        func subscriptionsChanged(_ changes: [SubscriptionChange]) {
            self.heard.withLockedValue { $0.append(changes) }
        }
    }

    private let loop = EmbeddedEventLoop()
    private let feed = Feed()

    private func make(limit: Int = 50, retained: [String] = []) -> Subscriptions {
        Subscriptions(Subscriptions.Settings(limit: limit, linger: .seconds(10)), retained: retained, loop: self.loop)
    }

    @Test("changes before there is a feed reach it as soon as it is connected, except those that were undone by then")
    func waits() {
        let subscriptions = self.make(limit: 3, retained: ["OWN"])
        for symbol in ["A", "B", "A"] { #expect(subscriptions.subscribe(symbol) == .accepted) }
        subscriptions.unsubscribe("B")
        // Takes the place of the lingering symbol.
        #expect(subscriptions.retain("C") == .accepted)
        subscriptions.release("OWN")
        self.loop.run()
        #expect(self.feed.take() == [])
        subscriptions.connect(self.feed)
        #expect(self.feed.take() == [])
        self.loop.run()
        #expect(self.feed.take() == [[.subscribe("A"), .subscribe("C"), .unsubscribe("OWN")]])
        #expect(subscriptions.symbols == ["A", "C"])
    }

    @Test("a feed gets changes in order, never within the call that makes them, and those of one turn together")
    func order() {
        let subscriptions = self.make()
        subscriptions.connect(self.feed)
        #expect(subscriptions.subscribe("A") == .accepted)
        #expect(subscriptions.retain("B") == .accepted)
        subscriptions.release("B")
        #expect(self.feed.take() == [])
        self.loop.run()
        #expect(self.feed.take() == [[.subscribe("A"), .subscribe("B"), .unsubscribe("B")]])
        #expect(subscriptions.retain("A") == .accepted && subscriptions.holds("A"))
        self.loop.run()
        #expect(self.feed.take() == [])
    }

    @Test("a symbol without a client is unsubscribed when its linger time ends, the earliest one first")
    func lingers() {
        let subscriptions = self.make()
        subscriptions.connect(self.feed)
        for symbol in ["A", "B"] { #expect(subscriptions.subscribe(symbol) == .accepted) }
        subscriptions.unsubscribe("A")
        self.loop.advanceTime(by: .seconds(4))
        subscriptions.unsubscribe("B")
        _ = self.feed.take()
        self.loop.advanceTime(by: .milliseconds(5_999))
        #expect(self.feed.take() == [])
        self.loop.advanceTime(by: .milliseconds(1))
        #expect(self.feed.take() == [[.unsubscribe("A")]])
        #expect(subscriptions.subscribe("B") == .accepted)
        self.loop.advanceTime(by: .seconds(60))
        #expect(self.feed.take() == [] && subscriptions.symbols == ["B"])
        subscriptions.unsubscribe("B")
        self.loop.advanceTime(by: .seconds(10))
        #expect(self.feed.take() == [[.unsubscribe("B")]])
    }

    @Test("no symbol is unsubscribed by time after a cancellation")
    func cancels() {
        let subscriptions = self.make()
        subscriptions.connect(self.feed)
        for symbol in ["A", "B"] { #expect(subscriptions.subscribe(symbol) == .accepted) }
        subscriptions.unsubscribe("A")
        self.loop.run()
        _ = self.feed.take()
        subscriptions.cancelLinger()
        subscriptions.unsubscribe("B")
        self.loop.advanceTime(by: .hours(1))
        #expect(self.feed.take() == [])
    }

    @Test("are listed in the order of the settings, then of the screen, then the clients' by name")
    func displayOrder() {
        let shares = [
            Subscriptions.Share(Subscriptions.Settings(limit: 9), retained: ["X:2"]) { $0.hasPrefix("X:") },
            Subscriptions.Share(Subscriptions.Settings(limit: 3), retained: ["Y:9", "Y:1"]) { $0.hasPrefix("Y:") },
        ]
        let subscriptions = Subscriptions(shares, order: ["Y:9", "X:2", "Y:1"], loop: self.loop)
        for symbol in ["X:8", "X:5"] { #expect(subscriptions.subscribe(symbol) == .accepted) }
        #expect(subscriptions.retain("Y:2") == .accepted && subscriptions.retain("X:5") == .accepted)
        #expect(subscriptions.retain("Y:3") == .full)
        #expect(subscriptions.ordered == ["Y:9", "X:2", "Y:1", "Y:2", "X:5", "X:8"])
        subscriptions.release("Y:9")
        subscriptions.release("X:5")
        #expect(subscriptions.ordered == ["X:2", "Y:1", "Y:2", "X:5", "X:8"])
        #expect(Subscriptions(shares, loop: self.loop).ordered == ["X:2", "Y:9", "Y:1"])
    }

    @Test("each of two feeds has its symbols, its limit and its changes; a symbol of neither cannot exist")
    func twoFeeds() {
        let second = Feed()
        let subscriptions = Subscriptions(
            [
                Subscriptions.Share(Subscriptions.Settings(limit: 1, linger: .seconds(10)), retained: ["X:1"]) {
                    $0.hasPrefix("X:")
                },
                Subscriptions.Share(Subscriptions.Settings(limit: 2, linger: .seconds(4))) { $0.hasPrefix("Y:") },
            ],
            loop: self.loop
        )
        subscriptions.connect(self.feed)
        #expect(subscriptions.limit == 3)
        #expect(subscriptions.subscribe("X:2") == .full)
        for symbol in ["Y:2", "Y:1"] { #expect(subscriptions.subscribe(symbol) == .accepted) }
        #expect(subscriptions.retain("Y:3") == .full)
        #expect(subscriptions.subscribe("Z:1") == .invalid && subscriptions.retain("Z:1") == .invalid)
        // A refusal frees a place of the same feed only.
        let refused = SymbolStatus.State.refused(.noSuchSymbol, retryAt: 9)
        subscriptions.symbolChanged(SymbolStatus(symbol: "Y:2", state: refused, since: 1))
        #expect(subscriptions.subscribe("X:2") == .full && subscriptions.subscribe("Y:3") == .accepted)
        #expect(subscriptions.symbols == ["X:1", "Y:1", "Y:2", "Y:3"] && subscriptions.holds("Y:3"))
        self.loop.run()
        #expect(self.feed.take() == [])
        // The changes of the second feed have waited for it.
        subscriptions.connect(second, at: 1)
        self.loop.run()
        #expect(second.take() == [[.subscribe("Y:2"), .subscribe("Y:1"), .subscribe("Y:3")]])
        subscriptions.release("X:1")
        subscriptions.unsubscribe("Y:1")
        self.loop.run()
        #expect(self.feed.take() == [[.unsubscribe("X:1")]] && second.take() == [])
        self.loop.advanceTime(by: .seconds(4))
        #expect(self.feed.take() == [] && second.take() == [[.unsubscribe("Y:1")]])
    }

    @Test("a refused symbol frees its place for the screen and for clients, until it recovers")
    func refused() {
        let subscriptions = self.make(limit: 1)
        #expect(subscriptions.subscribe("BAD") == .accepted)
        #expect(subscriptions.retain("A") == .full)
        let refused = SymbolStatus.State.refused(.noSuchSymbol, retryAt: 9)
        subscriptions.symbolChanged(SymbolStatus(symbol: "BAD", state: refused, since: 1))
        #expect(subscriptions.retain("A") == .accepted)
        subscriptions.symbolChanged(SymbolStatus(symbol: "BAD", state: .live, since: 2))
        subscriptions.release("A")
        #expect(subscriptions.retain("B") == .full)
    }
}

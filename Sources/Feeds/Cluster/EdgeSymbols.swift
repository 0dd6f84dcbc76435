import Ingest
import Market
import NIOCore
import Wire

/// The symbols of an edge: those that it wants, those that the ingest has refused it, and those with a state of the
/// ingest.
final class EdgeSymbols {
    private static let dropped = "the ingest has dropped it"

    private let settings: EdgeFeed.Settings
    private let link: any ClusterLink
    private let context: FeedContext
    private let input: NumberedInput
    /// Tells this program from another one with its name.
    let instance: UInt64
    private var wanted: [String]
    /// The wanted symbols of which this edge has said that the ingest does not subscribe to them.
    private var refused: Set<String> = []
    /// The symbols with a state of the ingest.
    private(set) var known: Set<String> = []
    /// Whether wishes are sent: from the start to the end, except while this program is the ingest itself.
    private var isAsking = false
    private var timer: Scheduled<Void>?

    init(_ settings: EdgeFeed.Settings, link: any ClusterLink, _ input: NumberedInput, _ context: FeedContext) {
        self.settings = settings
        self.link = link
        self.context = context
        self.input = input
        self.instance = UInt64(context.chance() * Double(ClusterWish.maximumInstance))
        self.wanted = settings.symbols
    }

    // MARK: Wishes

    /// Sends wishes from now on, also while nothing changes.
    func start(known: Set<String> = []) {
        self.known = known
        self.isAsking = true
        self.repeatWish()
    }

    /// Sends no more wishes, after a last one without symbols, unless the edge is abandoned.
    func stop(isAbandoned: Bool = false) {
        if self.isAsking, !isAbandoned { self.send([]) }
        self.isAsking = false
        self.timer?.cancel()
    }

    /// Repeats the wish at about its interval, so that the ingest does not forget it, and not in step with other edges.
    private func repeatWish() {
        guard self.isAsking else { return }
        let interval = Double(ClusterWish.interval.nanoseconds) * (0.9 + 0.2 * self.context.chance())
        let deadline = self.context.loop.now + .nanoseconds(Int64(interval))
        self.timer = self.context.loop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            self?.ask()
            self?.repeatWish()
        }
    }

    /// Takes what is wanted, and sends it.
    func change(_ changes: [SubscriptionChange]) {
        for change in changes {
            switch change {
            case .subscribe(let symbol): if !self.wanted.contains(symbol) { self.wanted.append(symbol) }
            case .unsubscribe(let symbol):
                self.wanted.removeAll { $0 == symbol }
                self.refused.remove(symbol)
                // Of all others the ingest says when it ends.
                if self.isAsking, !self.known.contains(symbol) { self.input.symbolUnsubscribed(symbol) }
            }
        }
        self.ask()
    }

    /// Sends the wish.
    func ask() {
        guard self.isAsking else { return }
        let asked = self.wanted.prefix(ClusterWish.maximumSymbols)
        for symbol in self.wanted.dropFirst(asked.count) {
            self.refuse(symbol, .overLimit, "an edge can have \(ClusterWish.maximumSymbols) symbols of its ingest")
        }
        self.send(Array(asked))
    }

    private func send(_ symbols: [String]) {
        let wish = ClusterWish(instance: self.instance, symbols: symbols).text()
        let subject = self.settings.subjects.wanted(by: self.settings.member)
        self.link.request(wish, to: subject, within: self.settings.machine.answer).assumeIsolated().whenSuccess {
            guard self.isAsking, let answer = ClusterWishAnswer.parse($0) else { return }
            for symbol in answer.full {
                self.refuse(symbol, .overLimit, "the ingest has no place for it: raise its upstream.max-symbols")
            }
            for symbol in answer.invalid {
                self.refuse(symbol, .noSuchSymbol, "no upstream of the ingest has this symbol")
            }
        }
    }

    /// Says that the ingest does not subscribe to a symbol which this edge wants.
    private func refuse(_ symbol: String, _ refusal: SymbolStatus.Refusal, _ reason: String) {
        // For another edge it may be there.
        guard self.wanted.contains(symbol), !self.known.contains(symbol), self.refused.insert(symbol).inserted else {
            return
        }
        let now = self.context.wallClock()
        let state = SymbolStatus.State.refused(refusal, retryAt: now + ClusterWish.interval.nanoseconds)
        self.input.symbolChanged(SymbolStatus(symbol: symbol, state: state, since: now, reason: reason))
    }

    // MARK: States

    /// Whether a symbol may have a state here; there are no more of them than numbers.
    func admits(_ symbol: String) -> Bool {
        if self.known.contains(symbol) { return true }
        guard self.known.count < SymbolTable.capacity, SymbolName.isValid(symbol) else { return false }
        return self.known.insert(symbol).inserted
    }

    /// Publishes the ingest's state of a symbol.
    func changed(_ status: SymbolStatus) {
        self.refused.remove(status.symbol)
        self.input.symbolChanged(status)
    }

    /// Takes the symbols of a state, and drops those that it covers and has no longer.
    func replace(where covers: (String) -> Bool, by take: () -> Void) {
        let before = self.known.filter(covers)
        self.known.subtract(before)
        take()
        self.dropped(before.subtracting(self.known))
    }

    /// Takes that the ingest does not subscribe to symbols any more. Another program with this one's name, or a wish
    /// that was lost, can have ended it, so one that this edge wants is asked for.
    func dropped(_ symbols: Set<String>) {
        for symbol in symbols.sorted() { self.drop(symbol, Self.dropped) }
        if symbols.contains(where: self.wanted.contains) { self.ask() }
    }

    /// Drops what one ingest has said of its symbols, and asks the next one, which does not know this edge yet.
    func takenOver() {
        for symbol in self.known.union(self.refused).sorted() { self.drop(symbol, nil) }
        self.ask()
    }

    /// Drops the symbols that only another ingest's edges wanted.
    func dropUnwanted() {
        for symbol in self.known.subtracting(self.wanted).sorted() { self.drop(symbol, nil) }
    }

    private func drop(_ symbol: String, _ reason: String?) {
        self.refused.remove(symbol)
        self.known.remove(symbol)
        guard self.wanted.contains(symbol) else { return self.input.symbolUnsubscribed(symbol) }
        let now = self.context.wallClock()
        self.input.symbolChanged(SymbolStatus(symbol: symbol, state: .asked, since: now, reason: reason))
    }
}

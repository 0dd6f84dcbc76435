import Market
import NIOCore
package import Wire

/// The tape's only writer: numbers the trades of all feeds and hands each read to the readers.
///
/// Belongs to the event loop of the feeds, which all feeds share. It outlives their connections, so that the numbers
/// continue after a reconnect. One epoch and one symbol table serve all feeds.
package final class TapeWriter {
    private struct Weak {
        weak var input: FeedInput?
    }

    @exclusivity(unchecked) private var tape: Tape
    /// The symbols of all trades of the epoch.
    @exclusivity(unchecked) var symbols = SymbolTable()
    private var readers: [any TapeReader]
    /// Whether the readers know the epoch.
    private var isEpochPublished = false
    private var inputs: [Weak] = []
    /// The newest move of a replay that was published for several feeds.
    private var newestMove: Gap?
    /// The newest status that was published for several feeds.
    private var published: FeedStatus?
    /// The number of free symbol numbers below which a new epoch begins. One read of a service brings far fewer new
    /// symbols. If a read brings more, the trades of the surplus symbols are left out and counted.
    private static let minimumRoom = 256

    package init(epoch: UInt64, readers: [any TapeReader] = []) {
        self.tape = Tape(epoch: epoch)
        self.readers = readers
    }

    /// Adds readers after the present ones; readers are called in this order. Call it before a feed starts.
    package func add(_ readers: [any TapeReader]) { self.readers += readers }

    package var nextSequence: UInt64 { self.tape.nextSequence }

    package var epoch: UInt64 { self.tape.epoch }

    /// Adds the input of one more feed.
    func add(_ input: FeedInput) { self.inputs.append(Weak(input: input)) }

    /// The input of the feed whose trades have no ids, Finnhub's; `nil` without one.
    package var inputWithoutIDs: FeedInput? { self.feeds.first { !$0.hasIDs } }

    private var feeds: [FeedInput] { self.inputs.compactMap(\.input) }

    /// Numbers the trades of a batch and hands it to every reader.
    func append(_ batch: inout TapeBatch) {
        batch.epoch = self.tape.epoch
        batch.firstSequence = self.tape.append(count: batch.trades.count)
        if !self.isEpochPublished { self.publishEpoch(first: batch.firstSequence, symbols: batch.symbols) }
        for reader in self.readers { reader.read(batch) }
    }

    private func publishEpoch(first: UInt64, symbols: SymbolTable) {
        self.isEpochPublished = true
        for reader in self.readers { reader.epochBegan(self.tape.epoch, first: first, symbols: symbols) }
    }

    /// Begins a new epoch if the symbol numbers are nearly used up. It waits for the end of every feed's read, since
    /// the trades of a read already hold symbol numbers.
    ///
    /// A symbol keeps its number for its whole epoch, and an epoch has ``SymbolTable/capacity`` numbers. A client that
    /// keeps subscribing to new symbols must not use them up for all others.
    func renewIfNeeded() {
        guard SymbolTable.capacity - self.symbols.count < Self.minimumRoom else { return }
        let feeds = self.feeds
        guard feeds.allSatisfy({ !$0.isAmidRead }) else { return }
        self.begin(Tape(epoch: self.tape.epoch + 1))
        for feed in feeds { feed.epochBegan() }
    }

    private func begin(_ tape: Tape) {
        self.tape = tape
        self.symbols = SymbolTable()
        self.isEpochPublished = false
    }

    /// Continues with the numbers of another program, behind one of its trades (``NumberedInput``).
    func go(on position: TapePosition) {
        let tape = Tape(epoch: position.epoch, next: position.sequence + 1)
        // Within an epoch the symbols keep their numbers.
        guard position.epoch != self.tape.epoch else { return self.tape = tape }
        self.begin(tape)
        // Before what is missing there, which is named with its epoch.
        self.publishEpoch(first: tape.nextSequence, symbols: self.symbols)
    }

    /// Begins the tape of this program's own feeds behind that of another program.
    ///
    /// - Parameter epoch: higher than those before.
    package func begin(epoch: UInt64) { self.go(on: TapePosition(epoch: epoch, sequence: 0)) }

    /// Leaves the tape to another program's trades: what its feeds bring from now on is left out.
    package func leave() {
        let rest = TapeWriter(epoch: self.tape.epoch)
        // A read that is under way has numbers of these symbols.
        rest.symbols = self.symbols
        for feed in self.feeds { feed.move(to: rest) }
        self.inputs = []
    }

    /// The feeds that have symbols continue the tape of another program (``FeedInput/tookOver(_:reason:)``).
    package func tookOver(_ complete: TapeCompleteness, reason: String) {
        for feed in self.feeds where !feed.symbols.isEmpty { feed.tookOver(complete, reason: reason) }
    }

    // MARK: Status, gaps and events

    /// Publishes one status for all feeds: the worst. Of several feeds, the name of the worst precedes the reason. A
    /// feed without a symbol counts only while no feed has one, and one whose symbols are all refused only while all
    /// are.
    func statusChanged() {
        let all = self.feeds
        let used = all.filter { !$0.symbols.isEmpty }
        // A client may ask one feed for a symbol that does not exist, which is no fault of the feed.
        let working = used.filter { !$0.status.phase.refusesAll }
        let feeds = working.isEmpty ? (used.isEmpty ? all : used) : working
        guard var worst = feeds.first else { return }
        for feed in feeds.dropFirst() where feed.status.phase.severity > worst.status.phase.severity { worst = feed }
        var status = worst.status
        if feeds.count > 1 {
            // Without a reason the name says which feed is not as the others, and all are live or stopped together.
            let isOfAll = status.phase == .live || status.phase == .stopped
            status.reason = status.reason.map { "\(worst.name): \($0)" } ?? (isOfAll ? nil : worst.name)
        }
        if all.count > 1 {
            // A change of a better feed changes nothing here.
            guard status != self.published else { return }
            self.published = status
        }
        self.publish(status)
    }

    func publish(_ status: FeedStatus) {
        for reader in self.readers { reader.statusChanged(status) }
    }

    func publish(_ gap: Gap) {
        for reader in self.readers { reader.gapFound(gap) }
    }

    func symbolChanged(_ status: SymbolStatus) {
        for reader in self.readers { reader.symbolChanged(status) }
    }

    func symbolUnsubscribed(_ symbol: String) {
        for reader in self.readers { reader.symbolUnsubscribed(symbol) }
    }

    func dayChanged(_ day: VenueDay) {
        for reader in self.readers { reader.dayChanged(day) }
    }

    /// Publishes a gap of one feed. If the tape has several feeds, the gap is published once for each symbol of the
    /// feed. A move of a replay, which each feed notes, is published once for all.
    func gapFound(_ gap: Gap, of input: FeedInput) {
        if gap.symbol == nil, gap.cause == .seek, self.feeds.count > 1 {
            if let move = self.newestMove, move.reason == gap.reason, move.nextSequence == gap.nextSequence { return }
            self.newestMove = gap
            return self.publish(gap)
        }
        guard gap.symbol == nil, self.feeds.count > 1 else { return self.publish(gap) }
        for symbol in input.symbols {
            var own = gap
            own.symbol = symbol
            self.publish(own)
        }
    }

    func gapSettled(_ outcome: GapOutcome) {
        for reader in self.readers { reader.gapSettled(outcome) }
    }

    func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        for reader in self.readers { reader.connectionChanged(event, monotonic: monotonic) }
    }
}

extension FeedStatus.Phase {
    /// Whether the service sends none of the symbols.
    fileprivate var refusesAll: Bool {
        switch self {
        case .noSuchSymbol, .notPermitted: true
        case .connecting, .waiting, .live, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .ended,
            .stopped:
            false
        }
    }

    /// The rank by which the worst status of several feeds is published; 0 is the best for a reader of prices.
    var severity: Int {
        switch self {
        case .live: 0
        case .ended: 1
        case .waiting: 2
        case .late: 3
        case .stale: 4
        case .connecting: 5
        case .reconnecting: 6
        case .keyInUse: 7
        case .rateLimited: 8
        case .notPermitted: 9
        case .noSuchSymbol: 10
        case .keyRejected: 11
        case .stopped: 12
        }
    }
}

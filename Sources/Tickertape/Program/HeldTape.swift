import Ingest
import Market
import NIOCore
import Wire

/// The reader of a tape whose other readers do not exist yet: it keeps the events for them.
///
/// The feeds are paused at the first trade, so that it keeps what was under way by then, and no more. Belongs to the
/// tape's event loop.
final class HeldTape: TapeReader {
    fileprivate enum Event {
        case epoch(UInt64, first: UInt64, symbols: SymbolTable)
        case batch(TapeBatch)
        case status(FeedStatus)
        case symbol(SymbolStatus)
        case unsubscribed(String)
        case gap(Gap)
        case settled(GapOutcome)
        case day(VenueDay)
        case connection(ConnectionEvent, monotonic: Int64)
    }

    private struct State {
        var events: [Event] = []
        var hasTraded = false
        var isOpen = false
    }

    /// The most events before the first trade, as of a venue that cannot be reached for days; the oldest are forgotten.
    private static let limit = 1_024

    private let state: NIOLoopBoundBox<State>
    private let statusSeen: @Sendable (FeedStatus) -> Void
    private let traded: @Sendable () -> Void

    /// - Parameters:
    ///   - statusSeen: takes each status before the first trade.
    ///   - traded: called at the first trade, once.
    init(
        on loop: any EventLoop,
        statusSeen: @escaping @Sendable (FeedStatus) -> Void,
        traded: @escaping @Sendable () -> Void
    ) {
        self.state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
        self.statusSeen = statusSeen
        self.traded = traded
    }

    /// Tells the readers everything that was kept, and adds them to the tape.
    func open(to readers: [any TapeReader], of tape: TapeWriter) {
        let events = self.state.withValue { state in
            defer { state = State(events: [], hasTraded: true, isOpen: true) }
            return state.events
        }
        for event in events {
            for reader in readers { event.tell(reader) }
        }
        tape.add(readers)
    }

    private func keep(_ event: Event) {
        self.state.withValue { state in
            guard !state.isOpen else { return }
            if !state.hasTraded, state.events.count >= Self.limit {
                // The epoch and what became of symbols are needed later; heartbeats and attempts are not.
                state.events.remove(at: state.events.firstIndex(where: \.isPassing) ?? 0)
            }
            state.events.append(event)
        }
    }

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.keep(.epoch(epoch, first: first, symbols: symbols))
    }

    func read(_ batch: TapeBatch) {
        self.keep(.batch(batch))
        guard batch.hasLiveTrade else { return }
        let isFirst = self.state.withValue { state in
            defer { state.hasTraded = true }
            return !state.hasTraded
        }
        if isFirst { self.traded() }
    }

    func statusChanged(_ status: FeedStatus) {
        self.keep(.status(status))
        if !self.state.value.hasTraded { self.statusSeen(status) }
    }

    func symbolChanged(_ status: SymbolStatus) { self.keep(.symbol(status)) }

    func symbolUnsubscribed(_ symbol: String) { self.keep(.unsubscribed(symbol)) }

    func gapFound(_ gap: Gap) { self.keep(.gap(gap)) }

    func gapSettled(_ outcome: GapOutcome) { self.keep(.settled(outcome)) }

    func dayChanged(_ day: VenueDay) { self.keep(.day(day)) }

    func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.keep(.connection(event, monotonic: monotonic))
    }
}

extension HeldTape.Event {
    fileprivate var isPassing: Bool {
        switch self {
        case .batch, .status, .day, .connection: true
        case .epoch, .symbol, .unsubscribed, .gap, .settled: false
        }
    }

    fileprivate func tell(_ reader: any TapeReader) {
        switch self {
        case .epoch(let epoch, let first, let symbols): reader.epochBegan(epoch, first: first, symbols: symbols)
        case .batch(let batch): reader.read(batch)
        case .status(let status): reader.statusChanged(status)
        case .symbol(let status): reader.symbolChanged(status)
        case .unsubscribed(let symbol): reader.symbolUnsubscribed(symbol)
        case .gap(let gap): reader.gapFound(gap)
        case .settled(let outcome): reader.gapSettled(outcome)
        case .day(let day): reader.dayChanged(day)
        case .connection(let event, let monotonic): reader.connectionChanged(event, monotonic: monotonic)
        }
    }
}

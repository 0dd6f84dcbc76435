import Market
import NIOConcurrencyHelpers
import NIOCore
import Wire

/// The queue from the ingest loop to the relay's loop.
///
/// It keeps the order and is bounded; an overflow is counted. It wakes its reader at most once per batch.
final class RelayOutbox: Sendable {
    /// The action that an offer asks of the writer.
    struct Offered: Equatable {
        /// The reader is idle and must be woken.
        var wakesReader = false
        /// The waiting bytes have just passed the high mark.
        var becameHigh = false
    }

    private struct State {
        var events: [RelayEvent] = []
        /// The approximate bytes that the waiting events hold.
        var cost = 0
        /// Whether the reader was woken and has not taken the events yet.
        var isAwaited = false
        /// Whether the reader takes no more events.
        var isClosed = false
    }

    /// Above this many bytes, a feed that can wait is asked to.
    let highMark: Int
    /// Above this many bytes, trades are left out and counted.
    let limit: Int
    private let state = NIOLockedValueBox(State())

    init(highMark: Int, limit: Int) {
        self.highMark = highMark
        self.limit = limit
    }

    /// Whether more bytes wait than the high mark.
    var isHigh: Bool { self.state.withLockedValue { $0.cost > self.highMark } }

    /// The approximate bytes that the waiting events hold.
    var waitingBytes: Int { self.state.withLockedValue { $0.cost } }

    func offer(_ event: RelayEvent) -> Offered {
        let cost = Self.cost(of: event)
        return self.state.withLockedValue { state in
            var offered = Offered()
            guard !state.isClosed else { return offered }
            if case .batch(let batch) = event, !self.hasRoom(cost, in: state) {
                Self.leaveOut(batch, in: &state)
            } else {
                offered.becameHigh = state.cost <= self.highMark && state.cost + cost > self.highMark
                state.events.append(event)
                state.cost += cost
            }
            offered.wakesReader = !state.isAwaited
            state.isAwaited = true
            return offered
        }
    }

    /// Takes no more events and wakes the reader no more, whose loop may be gone.
    func close() { self.state.withLockedValue { $0.isClosed = true } }

    /// Takes all events; the next offer wakes the reader again.
    func take() -> [RelayEvent] {
        self.state.withLockedValue { state in
            let events = state.events
            state.events = []
            state.cost = 0
            state.isAwaited = false
            return events
        }
    }

    /// Returns whether there is buffer space for a batch. After a loss all trades are left out until the reader has
    /// come, which keeps the delivered trades in order.
    private func hasRoom(_ cost: Int, in state: State) -> Bool {
        if case .lost? = state.events.last { return false }
        return state.cost + cost <= self.limit
    }

    private static func leaveOut(_ batch: TapeBatch, in state: inout State) {
        if case .lost(var loss)? = state.events.last {
            state.events.removeLast()
            loss.add(batch)
            state.events.append(.lost(loss))
        } else {
            state.events.append(.lost(RelayLoss(batch)))
        }
    }

    /// Returns the approximate bytes of an event. A frame's bytes share the storage of the batch in which they arrived,
    /// and that storage stays in memory.
    private static func cost(of event: RelayEvent) -> Int {
        switch event {
        case .batch(let batch):
            256 + batch.trades.count * MemoryLayout<Trade>.stride
                + batch.frames.reduce(0) { $0 + $1.bytes.readableBytes + 64 }
        case .epochBegan, .status, .symbol, .day, .gap, .settled, .unsubscribed, .lost:
            256
        }
    }
}

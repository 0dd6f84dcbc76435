import Market
import NIOConcurrencyHelpers
import NIOCore
import Wire

/// The door from the ingest loop to the relay's loop: in order, bounded, honest about overflow, and waking its reader at
/// most once a batch.
final class RelayOutbox: Sendable {
    /// What the writer has to do after an offer.
    struct Offered: Equatable {
        /// The reader sleeps and is to be woken.
        var wakesReader = false
        /// What waits has just passed the high mark.
        var becameHigh = false
    }

    private struct State {
        var events: [RelayEvent] = []
        /// Bytes that the waiting events hold, about.
        var cost = 0
        /// Whether the reader has been woken and has not yet come.
        var isAwaited = false
        /// Whether nobody comes any more.
        var isClosed = false
    }

    /// Above this many bytes a feed that can wait is asked to.
    let highMark: Int
    /// Above this many bytes trades are left out, and counted.
    let limit: Int
    private let state = NIOLockedValueBox(State())

    init(highMark: Int, limit: Int) {
        self.highMark = highMark
        self.limit = limit
    }

    /// Whether more waits than the high mark allows.
    var isHigh: Bool { self.state.withLockedValue { $0.cost > self.highMark } }

    /// The bytes that the waiting events hold, about.
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

    /// Takes nothing any more, and wakes nobody, whose loop may be gone.
    func close() { self.state.withLockedValue { $0.isClosed = true } }

    /// Empties the box; the reader is woken again by the next offer.
    func take() -> [RelayEvent] {
        self.state.withLockedValue { state in
            let events = state.events
            state.events = []
            state.cost = 0
            state.isAwaited = false
            return events
        }
    }

    /// Once something was left out all trades are, until the reader has come: what is delivered is never out of order.
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

    /// A frame's bytes share the storage of the read they came in, which is what waits in memory.
    private static func cost(of event: RelayEvent) -> Int {
        switch event {
        case .batch(let batch):
            256 + batch.trades.count * MemoryLayout<Trade>.stride
                + batch.frames.reduce(0) { $0 + $1.bytes.readableBytes + 64 }
        case .epochBegan, .status, .symbol, .gap, .unsubscribed, .lost:
            256
        }
    }
}

import Ingest
import Market
import NIOCore
import NIOEmbedded
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
import Wire
@testable import Tickertape

@Suite("HeldTape")
struct HeldTapeTests {
    /// A reader that writes down what it is told.
    private final class Notes: TapeReader {
        private let notes = NIOLockedValueBox<[String]>([])

        var all: [String] { self.notes.withLockedValue { $0 } }

        private func add(_ note: String) { self.notes.withLockedValue { $0.append(note) } }

        func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) { self.add("epoch \(epoch)") }
        func read(_ batch: TapeBatch) { self.add("\(batch.trades.count) trades") }
        func statusChanged(_ status: FeedStatus) { self.add(status.word) }
        func symbolChanged(_ status: SymbolStatus) { self.add("\(status.symbol) \(status.word)") }
        func symbolUnsubscribed(_ symbol: String) { self.add("\(symbol) gone") }
        func gapFound(_ gap: Gap) { self.add("gap") }
        func gapSettled(_ outcome: GapOutcome) { self.add("settled") }
    }

    private static func status(_ phase: FeedStatus.Phase) -> FeedStatus {
        FeedStatus(source: .live, phase: phase, since: 0)
    }

    @Test("tells the readers that come later all that they missed, in order, and nothing twice")
    func order() {
        let loop = EmbeddedEventLoop()
        defer { try? loop.syncShutdownGracefully() }
        let (first, seen) = (NIOLockedValueBox(0), NIOLockedValueBox<[String]>([]))
        let held = HeldTape(
            on: loop,
            statusSeen: { status in seen.withLockedValue { $0.append(status.word) } },
            traded: { first.withLockedValue { $0 += 1 } }
        )
        let tape = TapeWriter(epoch: 7, readers: [held])
        held.statusChanged(Self.status(.waiting))
        held.symbolChanged(SymbolStatus(symbol: "X:A", state: .live, since: 0))
        var source = BatchSource()
        let batch = source.batch([Frames.trade("X:A", "1")])
        held.epochBegan(7, first: 1, symbols: batch.symbols)
        held.read(batch)
        held.statusChanged(Self.status(.live))
        held.read(batch)
        #expect(first.withLockedValue { $0 } == 1)
        // After the first trade the status belongs to the readers, not to the demo.
        #expect(seen.withLockedValue { $0 } == ["waiting"])
        let notes = Notes()
        held.open(to: [notes], of: tape)
        let all = ["waiting", "X:A live", "epoch 7", "1 trades", "live", "1 trades"]
        #expect(notes.all == all)
        // From now on the tape tells the readers by itself.
        held.read(batch)
        #expect(notes.all == all)
    }

    @Test("keeps a bounded number of events while no trade comes")
    func bounds() {
        let loop = EmbeddedEventLoop()
        defer { try? loop.syncShutdownGracefully() }
        let held = HeldTape(on: loop, statusSeen: { _ in }, traded: {})
        for attempt in 0..<5_000 { held.statusChanged(Self.status(.reconnecting(attempt: attempt, retryAt: 0))) }
        held.statusChanged(Self.status(.waiting))
        let notes = Notes()
        held.open(to: [notes], of: TapeWriter(epoch: 1))
        #expect(notes.all.count == 1_024 && notes.all.last == "waiting")
    }
}

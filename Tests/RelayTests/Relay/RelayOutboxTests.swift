import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("The relay's outbox and flow gate")
struct RelayOutboxTests {
    private func batches(_ count: Int) -> [TapeBatch] {
        var feed = BatchSource()
        return (1...count).map { feed.batch([Frames.trade(Frames.btc, "\($0)")], received: Int64($0)) }
    }

    private func describe(_ event: RelayEvent) -> String {
        switch event {
        case .epochBegan: "epoch"
        case .batch(let batch): "batch \(batch.firstSequence)"
        case .status(let status): status.word
        case .gap(let gap): "gap \(gap.nextSequence)"
        case .symbol(let status): "symbol \(status.symbol) \(status.word)"
        case .day(let day): "day \(day.symbol)"
        case .settled(let outcome): "settled \(outcome.symbol)"
        case .unsubscribed(let symbol): "unwished \(symbol)"
        case .lost(let loss):
            "lost \(loss.count { _ in true }) from \(loss.from) to \(loss.to) before \(loss.nextSequence)"
        }
    }

    @Test("it wakes its reader once, however much comes before the reader does")
    func wakesOnce() {
        let outbox = RelayOutbox(highMark: 1 << 20, limit: 1 << 20)
        let batches = self.batches(3)
        #expect(outbox.offer(.batch(batches[0])).wakesReader)
        #expect(!outbox.offer(.status(FeedStatus(source: .live, phase: .late, since: 0))).wakesReader)
        #expect(!outbox.offer(.batch(batches[1])).wakesReader)
        #expect(outbox.take().map(self.describe) == ["batch 1", "late", "batch 2"])
        #expect(outbox.offer(.batch(batches[2])).wakesReader)
        #expect(outbox.take().map(self.describe) == ["batch 3"])
        #expect(outbox.take().isEmpty)
    }

    @Test(
        "trades beyond its limit are left out until the reader comes, as one loss; status and gaps are kept"
    )
    func overflows() {
        let outbox = RelayOutbox(highMark: 600, limit: 1_000)
        let marks = self.batches(5).map { outbox.offer(.batch($0)).becameHigh }
        #expect(marks == [false, true, false, false, false])
        _ = outbox.offer(.gap(Gap(from: 0, to: 0, reason: "", nextSequence: 6)))
        #expect(outbox.take().map(self.describe) == ["batch 1", "batch 2", "lost 3 from 3 to 5 before 6", "gap 6"])
    }

    @Test("a loss is counted for the symbols that a reader wanted")
    func countsLoss() {
        var feed = BatchSource()
        var loss = RelayLoss(feed.batch([Frames.trade("A", "1"), Frames.trade("B", "1"), Frames.trade("A", "1")]))
        loss.add(feed.batch([Frames.trade("C", "1"), Frames.trade("A", "1")]))
        #expect(loss.count { $0 == "A" } == 3)
        #expect(loss.count { $0 != "A" } == 2)
        #expect(loss.count { _ in false } == 0)
    }

    @Test("a loss over the end of an epoch is two, each counted for the symbols that its numbers meant")
    func countsLossOverEpochs() {
        var feed = BatchSource()
        let outbox = RelayOutbox(highMark: 1, limit: 1)
        _ = outbox.offer(.batch(feed.batch([Frames.trade("A", "1"), Frames.trade("B", "1")])))
        feed.beginAnew()
        _ = outbox.offer(.epochBegan(8, first: 1))
        _ = outbox.offer(.batch(feed.batch([Frames.trade("C", "1")])))
        _ = outbox.offer(.batch(feed.batch([Frames.trade("A", "1")])))
        let events = outbox.take()
        let lost = events.compactMap { event in
            if case .lost(let loss) = event { return loss.counts }
            return nil
        }
        #expect(lost == [["A": 1, "B": 1], ["C": 1, "A": 1]])
        #expect(events.map { self.describe($0).prefix(5) } == ["lost ", "epoch", "lost "])
    }

    @Test("the feed waits while the outbox is high or any client is slow, with one call for each change")
    func brakes() async {
        let flow = FlowRecorder()
        let gate = FlowGate(flow)
        let outbox = RelayOutbox(highMark: 100, limit: 1_000)
        let batch = self.batches(1)[0]
        gate.outboxChanged(outbox)
        gate.clientBecameSlow()
        gate.clientBecameSlow()
        _ = outbox.offer(.batch(batch))
        gate.outboxChanged(outbox)
        gate.clientCaughtUp()
        gate.clientCaughtUp()
        _ = outbox.take()
        gate.outboxChanged(outbox)
        _ = outbox.offer(.batch(batch))
        gate.outboxChanged(outbox)
        _ = outbox.take()
        gate.outboxChanged(outbox)
        for expected in ["pause", "resume", "pause", "resume"] { #expect(await flow.next() == expected) }
    }

    @Test("the end of a replay waits until nothing holds up the feed any more")
    func opens() async {
        let gate = FlowGate(FlowRecorder())
        await gate.opens()
        gate.clientBecameSlow()
        let isWaiting = Calls()
        async let opened: Void = {
            await gate.opens()
            isWaiting.add("over")
        }()
        gate.clientBecameSlow()
        gate.clientCaughtUp()
        #expect(isWaiting.all == [])
        gate.clientCaughtUp()
        await opened
        #expect(isWaiting.all == ["over"])
    }

    @Test("a writer that reports late that the outbox was high does not stop the feed for ever")
    func brakeRace() async {
        let flow = FlowRecorder()
        let gate = FlowGate(flow)
        let outbox = RelayOutbox(highMark: 100, limit: 1_000)
        #expect(outbox.offer(.batch(self.batches(1)[0])).becameHigh)
        _ = outbox.take()
        gate.outboxChanged(outbox)
        gate.outboxChanged(outbox)
        #expect(!flow.isPaused)
    }
}

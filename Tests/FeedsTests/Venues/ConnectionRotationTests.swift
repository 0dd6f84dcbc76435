import NIOCore
import Testing
@testable import Feeds

/// Transcripts: what happens at a second, and what the machine answers.
@Suite("The rotation of connections")
struct ConnectionRotationTests {
    private struct Transcript {
        var machine: ConnectionRotation
        var lines: [String] = []

        init(_ change: (inout ConnectionRotation.Settings) -> Void = { _ in }) {
            var settings = ConnectionRotation.Settings(age: Self.second(84_600))
            settings.renewsSilent = true
            change(&settings)
            self.machine = ConnectionRotation(settings)
        }

        static func second(_ count: Int64) -> Int64 { count * 1_000_000_000 }

        /// Lets time pass up to a second; notes what the machine wants on the way.
        mutating func passes(to second: Int64) {
            while let deadline = self.machine.deadline, deadline <= Self.second(second), !self.machine.isDouble {
                let action = self.machine.timePassed(now: deadline)
                self.lines.append("\(deadline / 1_000_000_000): \(action)")
                if action == .none { break }
            }
        }

        mutating func overlaps(
            at second: Int64,
            proven: Bool = false,
            missed: Bool = false,
            lag: Int64 = 0,
            full: Bool = false
        ) {
            var overlap = ConnectionRotation.Overlap()
            overlap.isProven = proven
            overlap.hasMissed = missed
            overlap.lag = Self.second(lag)
            overlap.isFull = full
            self.lines.append("\(second): \(self.machine.overlapChanged(overlap, now: Self.second(second)))")
        }

        mutating func opened(at second: Int64, chance: Double = 0) {
            self.machine.connectionOpened(now: Self.second(second), chance: chance)
        }

        mutating func failed(at second: Int64, wait: Int64 = 0) {
            self.machine.secondFailed(wait: Self.second(wait), now: Self.second(second))
        }

        mutating func asked(at second: Int64) { self.machine.renewalAsked(now: Self.second(second)) }

        mutating func secondOpened(at second: Int64) { self.machine.secondOpened(now: Self.second(second)) }

        mutating func changed(at second: Int64, chance: Double = 0) {
            self.machine.changed(now: Self.second(second), chance: chance)
        }
    }

    @Test("opens a second connection at 23 h 30 min, changes when it is proven, and begins to count again")
    func age() {
        var run = Transcript()
        run.opened(at: 0)
        run.passes(to: 90_000)
        run.secondOpened(at: 84_601)
        run.overlaps(at: 84_602)
        run.overlaps(at: 84_603, proven: true)
        run.changed(at: 84_603)
        run.passes(to: 180_000)
        #expect(
            run.lines == ["84600: open(Feeds.ConnectionRotation.Reason.age)", "84602: none", "84603: change"]
                + ["169201: open(Feeds.ConnectionRotation.Reason.age)"]
        )
    }

    @Test("does it up to ten minutes later, by chance")
    func jitter() {
        for (chance, second) in [(0.5, 84_900), (1.0, 85_200), (7.0, 85_200), (-1.0, 84_600)] {
            var run = Transcript()
            run.opened(at: 0, chance: chance)
            run.passes(to: 100_000)
            #expect(run.lines == ["\(second): open(Feeds.ConnectionRotation.Reason.age)"])
        }
    }

    @Test("opens a second connection within two seconds of an announcement, which counts once")
    func announced() {
        var run = Transcript()
        run.opened(at: 0)
        run.machine.closingAnnounced(now: Transcript.second(100), chance: 1)
        run.machine.closingAnnounced(now: Transcript.second(101), chance: 1)
        run.passes(to: 200)
        #expect(run.lines == ["102: open(Feeds.ConnectionRotation.Reason.announced)"])
        #expect(run.machine.deadline == nil)
    }

    @Test("tries again after waits that double up to five minutes, or after the wait that the service asks for")
    func failures() {
        var run = Transcript()
        run.opened(at: 0)
        run.machine.closingAnnounced(now: Transcript.second(100), chance: 0)
        var at: Int64 = 100
        for wait: Int64 in [10, 20, 40, 80, 160, 300, 300] {
            run.passes(to: at)
            run.failed(at: at)
            at += wait
            #expect(run.machine.deadline == Transcript.second(at))
        }
        run.passes(to: at)
        run.failed(at: at, wait: 3_600)
        #expect(run.machine.deadline == Transcript.second(at + 3_600))
        #expect(run.lines.count == 8)
    }

    @Test("waits three minutes for a symbol that does not trade, and changes then, unless the second one lacks a trade")
    func limits() {
        for (missed, end) in [(false, "change"), (true, "giveUp")] {
            var run = Transcript()
            run.opened(at: 0)
            run.passes(to: 84_600)
            run.secondOpened(at: 84_600)
            #expect(run.machine.deadline == Transcript.second(84_780))
            run.overlaps(at: 84_779, missed: missed)
            run.overlaps(at: 84_780, missed: missed)
            #expect(run.lines.dropFirst() == ["84779: none", "84780: \(end)"])
        }
    }

    @Test("changes at once when the first connection lags three seconds behind, or when no frame can wait any more")
    func lag() {
        var run = Transcript()
        run.opened(at: 0)
        run.passes(to: 84_600)
        run.secondOpened(at: 84_600)
        run.overlaps(at: 84_602, lag: 2)
        run.overlaps(at: 84_603, lag: 3)
        run.overlaps(at: 84_604, full: true)
        #expect(run.lines.dropFirst() == ["84602: none", "84603: change", "84604: change"])
    }

    @Test("opens a second connection at once when a person asks for it, and not again if that one fails")
    func asked() {
        var run = Transcript { $0.age = nil }
        run.opened(at: 0)
        run.asked(at: 100)
        #expect(run.machine.isSingle && run.machine.deadline == Transcript.second(100))
        run.passes(to: 100)
        #expect(run.machine.isOpening)
        run.failed(at: 101)
        #expect(run.machine.isSingle && run.machine.deadline == nil)
        // A further wish does not wait for the earlier failure.
        run.asked(at: 102)
        run.passes(to: 102)
        run.secondOpened(at: 103)
        run.overlaps(at: 104, proven: true)
        run.changed(at: 104)
        #expect(run.machine.deadline == nil)
        let open = "open(Feeds.ConnectionRotation.Reason.asked)"
        #expect(run.lines == ["100: \(open)", "102: \(open)", "104: change"])
        // The connection for which it was asked is gone.
        run.asked(at: 105)
        run.machine.connectionEnded()
        run.opened(at: 106)
        #expect(run.machine.deadline == nil)
    }

    @Test("renews a connection that is silent for far longer than usual, ever more rarely while it stays so")
    func silence() {
        var run = Transcript { $0.age = nil }
        run.opened(at: 0)
        #expect(run.machine.deadline == nil)
        run.machine.silenceBegan(after: Transcript.second(30), now: Transcript.second(100))
        run.machine.silenceBegan(after: Transcript.second(30), now: Transcript.second(130))
        var at: Int64 = 160
        for wait: Int64 in [120, 240, 480, 960, 1_920, 3_600, 3_600] {
            run.passes(to: at)
            run.secondOpened(at: at)
            run.overlaps(at: at + 180)
            run.changed(at: at + 180)
            at += 180 + wait
            #expect(run.machine.deadline == Transcript.second(at))
        }
        run.machine.silenceEnded()
        #expect(run.machine.deadline == nil)
        run.machine.silenceBegan(after: Transcript.second(600), now: Transcript.second(at))
        #expect(run.machine.deadline == Transcript.second(at + 600))
        #expect(run.lines.count == 14)
    }

    @Test("wants nothing without a connection")
    func closed() {
        var run = Transcript()
        run.opened(at: 0)
        run.machine.connectionEnded()
        run.failed(at: 1)
        #expect(run.machine.deadline == nil)
        run.passes(to: 100_000)
        run.overlaps(at: 5, proven: true)
        #expect(run.lines == ["5: none"])
    }
}

@Suite("The frames that wait for the first connection")
struct HeldFramesTests {
    @Test("are bounded, by their number and by their size, and a full store still has room for a read")
    func bounds() {
        let ids = [FrameIDs(symbol: "A", ids: 1...1)]
        for (text, full) in [("x", HeldFrames.maximumCount), (String(repeating: "x", count: 1 << 20), 8)] {
            var held = HeldFrames()
            for number in 1...3 * full {
                held.append(ByteBuffer(string: text), ids: ids, at: Int64(number))
                #expect(held.isFull == (number >= full))
            }
            var count = 0
            while !held.isEmpty {
                count += 1
                #expect(held.removeFirst().at == Int64(count))
            }
            #expect(count == 2 * full && !held.isFull)
        }
    }
}

@Suite("The proof that two connections overlap")
struct OverlapProofTests {
    @Test("needs, of each symbol, a first id that follows directly on the newest one of the first connection")
    func proof() {
        var proof = OverlapProof(["A", "B", "C", "D"])
        proof.arrived(7, of: "A", newest: 6)
        proof.arrived(3, of: "B", newest: 9)
        #expect(proof.provenCount == 2 && !proof.isComplete)
        // The first connection is behind.
        proof.arrived(9, of: "C", newest: 6)
        proof.arrived(10, of: "C", newest: 6)
        #expect(proof.provenCount == 2)
        proof.firstAdvanced { _ in 7 }
        #expect(proof.provenCount == 2)
        proof.firstAdvanced { _ in 8 }
        #expect(proof.provenCount == 3)
        // No id is known.
        proof.arrived(5, of: "D", newest: nil)
        #expect(!proof.isComplete)
        proof.arrived(UInt64.max, of: "X", newest: 0)
        proof.unsubscribed("D")
        #expect(proof.isComplete && proof.count == 3)
        proof.subscribed(to: "E")
        #expect(!proof.isComplete)
    }

    @Test("counts a trade that only the first connection brought after the subscriptions took effect")
    func missed() {
        var proof = OverlapProof(["A", "B"])
        #expect(!proof.hasMissed { _ in 100 })
        proof.subscriptionsTookEffect { $0 == "A" ? 5 : nil }
        #expect(!proof.hasMissed { $0 == "A" ? 5 : nil })
        #expect(proof.hasMissed { $0 == "A" ? 6 : nil })
        #expect(proof.hasMissed { $0 == "B" ? 1 : 5 })
        // It lags, but it brings the symbol.
        proof.arrived(9, of: "B", newest: 1)
        #expect(!proof.hasMissed { $0 == "B" ? 1 : 5 })
    }
}

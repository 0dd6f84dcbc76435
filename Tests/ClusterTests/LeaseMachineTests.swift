import NIOCore
import Testing

@testable import Cluster

@Suite struct LeaseMachineTests {
    private let held = "report waiting for the lease: b on h2 holds it since then"
    private let taking = "report taking the lease: b on h2 holds it since then"

    @Test("takes a released lease at once, and runs from before the write was sent")
    func released() {
        var lease = LeaseTranscript()
        #expect(lease.start() == ["read 1"])
        #expect(
            lease.answer(1, LeaseTranscript.value(.released, epoch: 7, at: 10), at: 10)
                == ["report taking the lease: b on h2 has given it back", "write 2 held 1000010 expecting 10"]
        )
        #expect(!lease.machine.guarding.allows(at: 10_000_000))
        #expect(
            lease.answer(2, .written(revision: 11), at: 400)
                == ["run 1000010 until 10510", "report holding the lease, epoch 1000010"]
        )
        #expect(lease.machine.guarding.allows(at: 10_509_999_999) && !lease.machine.guarding.allows(at: 10_510_000_000))
        #expect(lease.deadline == 1_010)
        #expect(lease.time(1_010) == ["write 3 held 1000010 expecting 11"])
        #expect(lease.answer(3, .written(revision: 14), at: 1_500) == ["extend until 11510"])
    }

    @Test("takes a held lease when a read sent after the time to live still shows its revision")
    func waits() {
        var lease = LeaseTranscript()
        #expect(lease.start() == ["read 1"])
        #expect(lease.answer(1, LeaseTranscript.value(at: 10), at: 40) == [self.held])
        #expect(lease.time(500) == ["read 2"])
        // Another revision begins the wait anew, at the arrival of its answer.
        #expect(lease.answer(2, LeaseTranscript.value(token: "u", at: 11), at: 600) == [])
        var number: UInt64 = 2
        while lease.deadline! < 12_600 {
            number += 1
            #expect(lease.time(lease.deadline!) == ["read \(number)"])
            #expect(lease.answer(number, LeaseTranscript.value(token: "u", at: 11), at: lease.now + 30) == [])
        }
        #expect(lease.deadline == 12_600)
        #expect(lease.time(12_600) == ["read \(number + 1)"])
        #expect(
            lease.answer(number + 1, LeaseTranscript.value(token: "u", at: 11), at: 12_700)
                == [self.taking, "write \(number + 2) held 1012700 expecting 11"]
        )
    }

    @Test("does not take a lease by an answer that it slept over")
    func slept() {
        var lease = LeaseTranscript()
        _ = lease.start()
        _ = lease.answer(1, LeaseTranscript.value(at: 10), at: 20)
        #expect(lease.time(500) == ["read 2"])
        // The answer was there before the sleep, and is read after it.
        #expect(lease.answer(2, LeaseTranscript.value(at: 10), at: 30_000) == ["read 3"])
        #expect(lease.answer(2, LeaseTranscript.value(at: 10), at: 30_001) == [])
        #expect(
            lease.answer(3, LeaseTranscript.value(at: 10), at: 30_010)
                == [self.taking, "write 4 held 1030010 expecting 10"]
        )
    }

    @Test("counts the same revision with another value as another one")
    func repeatedRevision() {
        var lease = LeaseTranscript()
        _ = lease.start()
        _ = lease.answer(1, LeaseTranscript.value(at: 10), at: 20)
        #expect(lease.time(20_000) == ["read 2"])
        #expect(lease.answer(2, LeaseTranscript.value(token: "u", at: 10), at: 20_010) == [])
        #expect(lease.deadline == 20_500)
    }

    @Test("writes a value to a key without one, and waits for the time to live of that")
    func absent() {
        var lease = LeaseTranscript()
        _ = lease.start()
        #expect(
            lease.answer(1, .state(.absent), at: 20)
                == ["report waiting for the lease: its key had no value", "write 2 vacant 0 expecting 0"]
        )
        #expect(lease.answer(2, .written(revision: 1), at: 40) == [])
        #expect(lease.time(12_000) == ["read 3"])
        #expect(lease.answer(3, lease.own(2, at: 1), at: 12_030) == [])
        #expect(lease.deadline == 12_040)
        #expect(lease.time(12_040) == ["read 4"])
        #expect(
            lease.answer(4, lease.own(2, at: 1), at: 12_050)
                == ["report taking the lease: its key had no value", "write 5 held 1012050 expecting 1"]
        )
    }

    @Test("takes a deletion for no release")
    func deletion() {
        var lease = LeaseTranscript()
        _ = lease.start()
        _ = lease.answer(1, LeaseTranscript.value(epoch: 9_000_000, at: 10), at: 20)
        _ = lease.time(500)
        #expect(
            lease.answer(2, .state(.deleted(revision: 11)), at: 510) == [
                "report waiting for the lease: its key was deleted by hand, which no holder does",
                "write 3 vacant 9000000 expecting 11",
            ]
        )
        #expect(lease.answer(3, .refused, at: 520) == [])
    }

    @Test("does not overwrite the value of another program before the time to live, and says so in one line")
    func unreadable() {
        var lease = LeaseTranscript()
        _ = lease.start()
        let foreign = LeaseAnswer.state(.value(ByteBuffer(string: "{\"x\":\n1}"), revision: 5))
        let words =
            "its key has a value of another program or version, which is overwritten if it does not change: "
            + "give that program another key, or delete the value ({\"x\":\u{240A}1})"
        #expect(lease.answer(1, foreign, at: 20) == ["report waiting for the lease: \(words)"])
        #expect(lease.time(12_019) == ["read 2"])
        #expect(lease.answer(2, foreign, at: 12_019) == [] && lease.time(12_020) == ["read 3"])
        #expect(
            lease.answer(3, foreign, at: 12_030)
                == ["report taking the lease: \(words)", "write 4 held 1012030 expecting 5"]
        )
    }

    @Test("chooses an epoch above all that it has seen, by its wall clock if that is higher")
    func epochs() {
        var lease = LeaseTranscript()
        _ = lease.start()
        #expect(
            lease.answer(1, LeaseTranscript.value(.released, epoch: 2_000_000, at: 10), at: 10).last
                == "write 2 held 2001024 expecting 10"
        )
    }

    @Test("fences itself when no renewal is proven in time, before it does anything else")
    func fence() {
        var lease = LeaseTranscript()
        lease.acquire()
        #expect(lease.time(1_010) == ["write 3 held 1000010 expecting 11"])
        let expired = "fence: the lease was not renewed in time: the store did not answer, or this program stood still"
        // The answer came in time, and was read after a sleep.
        #expect(lease.answer(3, .written(revision: 12), at: 10_510) == [expired, "read 4"])
        #expect(lease.machine.guarding == .closed)
    }

    @Test("reads back a write without an answer, and extends nothing by that")
    func readBack() {
        var lease = LeaseTranscript()
        lease.acquire()
        _ = lease.time(1_010)
        #expect(lease.deadline == 3_010)
        #expect(lease.time(3_010) == ["read 4"])
        #expect(lease.answer(4, lease.own(3, at: 12), at: 3_020) == ["write 5 held 1000010 expecting 12"])
        #expect(lease.machine.guarding.until == 10_510_000_000)
        // The answer to the earlier write comes now, and proves nothing.
        #expect(lease.answer(3, .written(revision: 12), at: 3_030) == [])
        #expect(lease.answer(5, .written(revision: 13), at: 3_040) == ["extend until 13520"])
    }

    @Test("tries again where a write without an answer had no effect, and adopts it if it has one later")
    func lateEffect() {
        var lease = LeaseTranscript()
        lease.acquire()
        _ = lease.time(1_010)
        #expect(lease.answer(3, .unknown, at: 1_020) == [] && lease.time(1_510) == ["read 4"])
        #expect(lease.answer(4, lease.own(2, at: 11), at: 1_520) == ["write 5 held 1000010 expecting 11"])
        #expect(lease.answer(5, .refused, at: 1_530) == ["read 6"])
        #expect(lease.answer(6, lease.own(3, at: 12), at: 1_540) == [] && lease.deadline == 2_020)
        #expect(lease.time(2_020) == ["write 7 held 1000010 expecting 12"])
    }

    @Test("fences itself at once when the key is another's")
    func lost() {
        var lease = LeaseTranscript()
        lease.acquire()
        _ = lease.time(1_010)
        var other = lease
        #expect(
            lease.answer(3, .refused, at: 1_020) == [
                "fence: the lease was lost: another program has written to its key",
                "report waiting for the lease: another program has written to its key", "read 4",
            ]
        )
        _ = other.answer(3, .unknown, at: 1_020)
        #expect(other.time(1_510) == ["read 4"])
        #expect(
            other.answer(4, LeaseTranscript.value(at: 12), at: 1_520)
                == ["fence: the lease was lost: b on h2 holds it since then", self.held]
        )
    }

    @Test("fences itself and then gives the lease back when it is asked to stop")
    func stops() {
        var lease = LeaseTranscript()
        lease.acquire()
        lease.now = 500
        let fence = "fence: the lease is given back"
        #expect(lease.stop() == [fence])
        #expect(lease.stop() == [] && lease.deadline == 4_500)
        // The successor must not find an upstream that is still open.
        #expect(lease.close() == ["write 3 released 1000010 expecting 11"])
        #expect(lease.answer(3, .written(revision: 12), at: 520) == ["report the lease is given back", "end"])
        #expect(lease.machine.isEnded && lease.deadline == nil && lease.start() == [])
    }

    @Test("waits for the outcome of a renewal before it gives the lease back")
    func stopsInRenewal() {
        var lease = LeaseTranscript()
        lease.acquire()
        _ = lease.time(1_010)
        var other = lease
        #expect(lease.stop() == ["fence: the lease is given back"] && lease.close() == [])
        #expect(lease.answer(3, .written(revision: 12), at: 1_020) == ["write 4 released 1000010 expecting 12"])
        // Without the store it ends at its limit.
        _ = other.stop()
        #expect(other.time(3_010) == ["read 4"] && other.time(5_009) == [] && other.time(5_010) == [self.kept, "end"])
    }

    private let kept = "report the lease is not given back: another program can take it when its time is over"
    private let givenBack = ["report the lease is given back", "end"]

    /// A program that has sent its release as request 3, at 500 ms.
    private func releasing() -> LeaseTranscript {
        var lease = LeaseTranscript()
        lease.acquire()
        lease.now = 500
        _ = lease.stop()
        #expect(lease.close() == ["write 3 released 1000010 expecting 11"])
        return lease
    }

    @Test("reads back a release without an answer, and repeats it where it had no effect")
    func repeatsRelease() {
        var lease = self.releasing()
        #expect(lease.answer(3, .unknown, at: 520) == [] && lease.deadline == 1_000 && lease.time(1_000) == ["read 4"])
        var effective = lease
        #expect(effective.answer(4, effective.own(3, at: 12), at: 1_010) == self.givenBack)
        var taken = lease
        #expect(taken.answer(4, LeaseTranscript.value(at: 13), at: 1_010) == self.givenBack)
        var deleted = lease
        #expect(deleted.answer(4, .state(.deleted(revision: 12)), at: 1_010) == [self.kept, "end"])
        #expect(lease.answer(4, lease.own(2, at: 11), at: 1_010) == ["write 5 released 1000010 expecting 11"])
        // The first one has its effect only now.
        var late = lease
        #expect(late.answer(5, .refused, at: 1_020) == ["read 6"])
        #expect(late.answer(6, late.own(3, at: 12), at: 1_030) == self.givenBack)
        #expect(lease.answer(5, .unsent, at: 1_020) == [] && lease.deadline == 1_510)
        #expect(lease.time(1_510) == ["write 6 released 1000010 expecting 11"])
        #expect(lease.answer(6, .written(revision: 12), at: 1_520) == self.givenBack)
    }

    @Test("ends a release without an answer at the limit of a stop, or when the outcome of the last request is known")
    func releaseLimit() {
        var lease = self.releasing()
        #expect(lease.time(2_500) == ["read 4"] && lease.answer(4, lease.own(2, at: 11), at: 2_510).count == 1)
        #expect(lease.time(4_500) == [] && lease.deadline == 4_510)
        var known = lease
        #expect(known.answer(5, .written(revision: 12), at: 4_505) == self.givenBack)
        #expect(lease.time(4_510) == [self.kept, "end"])
        // Another program's revision is not overwritten.
        var refused = self.releasing()
        #expect(refused.answer(3, .refused, at: 520) == [self.kept, "end"])
    }

    @Test("ends a try to take the lease when it is asked to stop, without running")
    func stopsInTaking() {
        var lease = LeaseTranscript()
        _ = lease.start()
        _ = lease.answer(1, LeaseTranscript.value(.released, at: 10), at: 10)
        #expect(lease.stop() == [])
        #expect(lease.answer(2, .written(revision: 11), at: 20) == ["write 3 released 1000010 expecting 11"])
    }

    @Test("says once that the store is silent")
    func silent() {
        var lease = LeaseTranscript()
        _ = lease.start()
        #expect(lease.answer(1, .unsent, at: 1) == [] && lease.time(500) == ["read 2"])
        #expect(
            lease.time(2_500) == [
                "report waiting for the lease: the store does not answer; is it running, and may this user read the key?",
                "read 3",
            ]
        )
        #expect(lease.time(4_500) == ["read 4"])
        #expect(lease.answer(4, LeaseTranscript.value(at: 10), at: 4_510) == [self.held])
    }

    @Test("has times with which a holder is fenced before another program takes the lease")
    func settings() {
        var settings = LeaseSettings()
        #expect(settings.isSafe)
        settings.fence = 13_000_000_000
        #expect(!settings.isSafe)
    }
}

import NIOCore
import Testing

@testable import Cluster

/// Two leases of two programs, with a store that answers at once.
private struct SetBench {
    var sets: [LeaseSet]
    var values: [String: (revision: UInt64, value: ByteBuffer)] = [:]
    var revision: UInt64 = 0
    /// ms of all clocks.
    var now: Int64 = 0
    /// What each program did, without its requests and reports.
    var log: [[String]]
    /// The programs that cannot reach the store, and the keys that answer no writes.
    var cutOff: Set<Int> = []
    var broken: Set<String> = []
    private var pending: [(program: Int, action: LeaseSet.Action)] = []

    init(_ keys: [[String]]) {
        self.sets = keys.enumerated().map { index, keys in
            LeaseSet(LeaseSettings(), keys: keys, name: "p\(index)", host: "h", instance: "i\(index)")
        }
        self.log = keys.map { _ in [] }
    }

    private var moment: LeaseMoment {
        LeaseMoment(boottime: self.now * 1_000_000, wall: self.now * 1_000_000, chance: UInt64(self.now))
    }

    func isAllowed(_ program: Int) -> Bool { self.sets[program].allows(at: self.now * 1_000_000) }

    mutating func start(_ program: Int) { self.take(program, self.sets[program].started(at: self.moment)) }
    mutating func stop(_ program: Int) { self.take(program, self.sets[program].stopRequested(at: self.moment)) }
    mutating func close(_ program: Int) { self.take(program, self.sets[program].closed(at: self.moment)) }

    mutating func pass(_ milliseconds: Int64) {
        for _ in 0..<milliseconds / 10 {
            self.now += 10
            for program in self.sets.indices {
                guard let deadline = self.sets[program].deadline, deadline <= self.now * 1_000_000 else { continue }
                self.take(program, self.sets[program].deadlineReached(at: self.moment))
            }
        }
    }

    private mutating func take(_ program: Int, _ actions: [LeaseSet.Action]) {
        for action in actions {
            switch action {
            case .read(let lease, let number):
                guard !self.cutOff.contains(program) else { break }
                let key = self.sets[program].keys[lease]
                let state: LeaseKeyState =
                    self.values[key].map { .value($0.value, revision: $0.revision) } ?? .absent
                self.take(program, self.sets[program].answered(lease: lease, number, .state(state), at: self.moment))
            case .write(let lease, let number, let value, let expected):
                let key = self.sets[program].keys[lease]
                guard !self.cutOff.contains(program), !self.broken.contains(key) else { break }
                var answer = LeaseAnswer.refused
                if self.values[key]?.revision ?? 0 == expected {
                    self.revision += 1
                    self.values[key] = (self.revision, value)
                    answer = .written(revision: self.revision)
                }
                self.take(program, self.sets[program].answered(lease: lease, number, answer, at: self.moment))
            case .run(let epoch): self.log[program].append("run \(epoch)")
            case .fence(let reason):
                self.log[program].append("fence \(reason == .expired ? "expired" : "\(reason)")")
            case .report: break
            case .end: self.log[program].append("end")
            }
        }
    }
}

@Suite("The leases of one program")
struct LeaseSetTests {
    @Test("runs when it has all of them, and gives them back when it is stopped, after its upstreams are closed")
    func runs() {
        var bench = SetBench([["tape", "key"], ["tape", "key"]])
        bench.start(0)
        bench.pass(13_000)
        #expect(bench.log[0].count == 1 && bench.isAllowed(0))
        bench.start(1)
        bench.pass(30_000)
        #expect(bench.log[1].isEmpty && !bench.isAllowed(1) && bench.isAllowed(0))
        bench.stop(0)
        #expect(!bench.isAllowed(0))
        bench.pass(1_000)
        // Its upstreams may be open yet.
        #expect(bench.log[1].isEmpty)
        bench.close(0)
        #expect(bench.log[0].last == "end")
        bench.pass(510)
        #expect(bench.log[1].count == 1 && bench.isAllowed(1))
    }

    @Test("upstreams that have not ended cleanly by the end of the proven time are closed at once, and only then")
    func endsLate() {
        var bench = SetBench([["tape", "key"]])
        bench.start(0)
        bench.pass(13_000)
        bench.cutOff = [0]
        bench.pass(5_000)
        bench.stop(0)
        // The newest proof is up to a second older than the cut.
        bench.pass(4_500)
        #expect(bench.log[0].last == "fence the lease is given back")
        bench.pass(1_100)
        #expect(bench.log[0].last == "fence expired")
        let count = bench.log[0].count
        bench.close(0)
        bench.pass(10_000)
        #expect(bench.log[0].count == count + 1 && bench.log[0].last == "end")
    }

    @Test("a stop that comes first after a sleep ends nothing cleanly")
    func stopsLate() {
        var bench = SetBench([["tape", "key"]])
        bench.start(0)
        bench.pass(13_000)
        bench.now += 20_000
        bench.stop(0)
        #expect(bench.log[0].dropFirst() == ["fence expired"])
        bench.close(0)
        bench.pass(100)
        #expect(bench.log[0].last == "end")
    }

    @Test("a release that is lost is repeated, so that another program runs long before the time to live is over")
    func lostRelease() {
        var bench = SetBench([["tape", "key"], ["tape", "key"]])
        bench.start(0)
        bench.pass(13_000)
        bench.start(1)
        bench.pass(1_000)
        bench.broken = ["tape", "key"]
        bench.stop(0)
        bench.close(0)
        bench.pass(1_900)
        #expect(bench.log[0].last == "fence the lease is given back" && !bench.isAllowed(1))
        bench.broken = []
        bench.pass(800)
        #expect(bench.log[0].last == "end" && bench.isAllowed(1))
    }

    @Test("two programs that need the same leases, which are free, do not wait for each other")
    func noDeadlock() {
        var bench = SetBench([["tape", "a", "b"], ["tape", "a", "b"], ["other", "a"]])
        for program in 0..<3 { bench.start(program) }
        bench.pass(14_000)
        #expect((0..<3).count { bench.isAllowed($0) } == 1)
    }

    @Test("two clusters do not use one key at once")
    func sharedKey() {
        var bench = SetBench([["tape.a", "key"], ["tape.b", "key"]])
        bench.start(0)
        bench.pass(13_000)
        bench.start(1)
        bench.pass(40_000)
        #expect(bench.isAllowed(0) && !bench.isAllowed(1) && bench.log[1].isEmpty)
    }

    @Test("when one of them cannot be renewed it closes its upstreams, gives the others back, and is a candidate again")
    func losesOne() {
        var bench = SetBench([["tape", "key"], ["tape", "key"]])
        bench.start(0)
        bench.pass(13_000)
        bench.start(1)
        bench.pass(1_000)
        bench.broken = ["key"]
        bench.pass(11_000)
        #expect(bench.log[0].last == "fence expired" && !bench.isAllowed(0))
        bench.broken = []
        bench.close(0)
        bench.pass(3_000)
        #expect(bench.isAllowed(1) && !bench.isAllowed(0))
        bench.stop(1)
        bench.close(1)
        bench.pass(14_000)
        #expect(bench.isAllowed(0))
        // Each holder has a higher epoch.
        let epochs = (bench.log[0] + bench.log[1]).compactMap { $0.hasPrefix("run ") ? UInt64($0.dropFirst(4)) : nil }
        #expect(epochs.count == 3 && epochs[0] < epochs[2] && epochs[2] < epochs[1])
    }

    @Test("nothing is allowed after the end of the first of its guards, although its timer is late")
    func eachGuard() {
        var bench = SetBench([["tape", "key"]])
        bench.start(0)
        bench.pass(13_000)
        bench.broken = ["key"]
        bench.pass(9_000)
        #expect(bench.isAllowed(0))
        bench.now += 1_600
        #expect(!bench.isAllowed(0))
    }

    @Test("a program without the store is fenced in 10.5 s, and another one runs within 13 s")
    func takesOver() {
        var bench = SetBench([["tape", "key", "venue"], ["tape", "key", "venue"]])
        bench.start(0)
        bench.pass(13_000)
        bench.start(1)
        bench.pass(20_000)
        bench.cutOff = [0]
        bench.pass(9_400)
        #expect(bench.isAllowed(0))
        bench.pass(1_200)
        #expect(!bench.isAllowed(0) && bench.log[0].last == "fence expired")
        bench.pass(2_400)
        #expect(bench.isAllowed(1))
    }

    @Test("the answer to a request of an earlier start is not taken for that of a later one")
    func lateAnswer() {
        var set = LeaseSet(LeaseSettings(), keys: ["tape"], name: "p", host: "h", instance: "i")
        let moment = LeaseMoment(boottime: 0, wall: 0, chance: 1)
        let first = set.started(at: moment)
        guard case .read(let lease, let number) = first.first else {
            Issue.record("the first action is \(first)")
            return
        }
        // The same number in another start.
        #expect(set.answered(lease: lease, number + (1 << 32), .state(.absent), at: moment) == [])
        #expect(!set.answered(lease: lease, number, .state(.absent), at: moment).isEmpty)
    }
}

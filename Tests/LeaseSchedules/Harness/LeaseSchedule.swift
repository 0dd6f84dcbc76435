import Market

/// What a seed chooses: the faults with their times, and how bad the network is. Times are in ns.
package struct LeaseSchedule: Sendable {
    /// Whom a fault strikes when its time comes.
    package enum Target: Sendable, Equatable {
        case holder
        case program(Int)
    }

    package enum Fault: Sendable, Equatable {
        /// The program stands still, as by SIGSTOP or with its machine.
        case pause(Target, Int64)
        /// Neither requests reach the store nor answers the program.
        case partition(Target, Int64)
        /// Answers are lost; requests have their effect.
        case deaf(Target, Int64)
        /// Requests are lost; answers to earlier ones come.
        case mute(Target, Int64)
        /// The connection to the store ends: outcomes are unknown at once, and nothing is sent for a time.
        case disconnect(Target, Int64)
        /// Requests, and answers, take as long as one of these.
        case slow(Target, requests: ClosedRange<Int64>, answers: ClosedRange<Int64>, Int64)
        /// The program dies, and begins anew after a time.
        case crash(Target, Int64)
        case stop(Target)
        case wallJump(Target, Int64)
        case storeDown(Int64)
        /// The store restarts and has lost all.
        case storeLoss(Int64)
        /// The store restarts and has lost its last writes.
        case storeRollback(Int)
        /// An edge has no connection to NATS.
        case edgeCut(Int, Int64)
        /// The messages of an edge are lost, and it does not know.
        case edgeDeaf(Int, Int64)
        /// A person deletes the key of a lease.
        case deletion
        /// Another program writes to the key of a lease.
        case intrusion
    }

    /// What a restart of the store may lose.
    package enum Storage: String, Sendable {
        case kept
        /// All. It begins anew with other revisions, as a bucket of nats-server 2.10 or later does.
        case lost
        /// All. Its revisions come again, as those of nats-server 2.9 do. The lease is known to be weaker then.
        case lostRevisions
        /// All, or its last writes with their revisions. The lease is known to be weaker then.
        case rolledBack
    }

    /// The programs that share the leases.
    package static let programs = 3
    package static let edges = 2

    package var seed: UInt64
    let storage: Storage
    package var faults: [(at: Int64, fault: Fault)] = []
    /// From when on nothing fails, so that what must happen in a certain time is checked.
    package var calmAt: Int64
    /// The probability that a message is lost.
    package var loss = 0.0
    /// The probability that a program stands still before a step within a turn of its loop.
    package var pauseInTurn = 0.0
    /// The longest lateness of a timer.
    package var lateness: Int64 = 5_000_000
    /// How many leases a program needs.
    package var leases = 1
    /// Whether they begin as given back, so that the first acquisition needs no wait.
    package var beginsReleased: Bool

    /// - Parameter storage: what the store may lose.
    package init(seed: UInt64, storage: Storage = .kept) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        self.storage = storage
        self.calmAt = random.time(from: 25, to: 75)
        self.beginsReleased = random.chance(0.6)
        self.loss = [0, 0, 0.01, 0.05, 0.25][random.index(5)]
        self.pauseInTurn = [0, 0, 0, 0.001, 0.01][random.index(5)]
        self.lateness = random.chance(0.3) ? 300_000_000 : 5_000_000
        // How often each kind of fault comes, in mean times a schedule.
        var weights = (0..<15).map { _ in [0, 0, 0, 0.7, 2, 5][random.index(6)] }
        // Some schedules have late answers only, which other faults would hide.
        let hasLateAnswersOnly = random.chance(0.1)
        if hasLateAnswersOnly {
            weights = (0..<15).map { $0 == 5 ? 5 : 0 }
            self.loss = 0
            self.pauseInTurn = 0
            self.lateness = 5_000_000
        }
        if storage == .kept { weights[10] = 0 }
        if storage != .rolledBack { weights[13] = 0 }
        // A program that writes the same again and again leaves nothing by which the others could see a loss.
        if storage != .kept { weights[14] = 0 }
        for (kind, weight) in weights.enumerated() where weight > 0 {
            var at = random.time(from: 0, to: 50)
            while at < self.calmAt {
                if hasLateAnswersOnly {
                    let late: ClosedRange<Int64> = 1_600_000_000...2_000_000_000
                    self.faults.append(
                        (at, .slow(.holder, requests: 0...0, answers: late, random.time(from: 5, to: 20)))
                    )
                } else {
                    self.faults.append((at, Self.fault(kind, &random)))
                }
                // A renewal whose answer was late may be the last one.
                if kind == 5, hasLateAnswersOnly || random.chance(0.5) {
                    let cut = random.time(from: 9, to: 16)
                    self.faults.append((at + random.time(from: 1, to: 8), .partition(.holder, cut)))
                }
                at += Int64(Double(self.calmAt) / weight * 2 * random.fraction())
            }
        }
        self.faults.sort { $0.at < $1.at }
        self.leases = 1 + random.index(3)
    }

    private static func fault(_ kind: Int, _ random: inout SeededGenerator) -> Fault {
        let target = random.chance(0.7) ? Target.holder : .program(random.index(Self.programs))
        // Many of the times that matter are near the lease's own.
        let length = random.chance(0.4) ? random.time(from: 9, to: 16) : random.time(from: 0, to: 30)
        switch kind {
        case 0: return .pause(target, length)
        case 1: return .partition(target, length)
        case 2: return .deaf(target, length)
        case 3: return .mute(target, length)
        case 4: return .disconnect(target, random.time(from: 0, to: 5))
        case 5:
            let requests = random.chance(0.5) ? 0...0 : random.times(upTo: 4)
            // Just within the limit of a request an answer proves the least.
            let late = random.chance(0.3) ? 1_600_000_000...2_000_000_000 : random.times(upTo: 4)
            return .slow(target, requests: requests, answers: random.chance(0.3) ? 0...0 : late, length)
        case 6: return .crash(target, random.time(from: 0, to: 20))
        case 7: return .stop(target)
        case 8:
            let jump = random.time(from: 0, to: random.chance(0.5) ? 100_000_000 : 60)
            return .wallJump(target, random.chance(0.5) ? jump : -jump)
        case 9: return .storeDown(random.time(from: 0, to: 15))
        case 10: return .storeLoss(random.time(from: 0, to: 3))
        case 11:
            let edge = random.index(Self.edges)
            return random.chance(0.5) ? .edgeCut(edge, length) : .edgeDeaf(edge, length)
        case 12: return .deletion
        case 13: return .storeRollback(1 + random.index(20))
        default: return .intrusion
        }
    }
}

extension SeededGenerator {
    mutating func fraction() -> Double { Double(self.next() >> 11) * 0x1p-53 }

    mutating func chance(_ probability: Double) -> Bool { probability > 0 && self.fraction() < probability }

    mutating func index(_ count: Int) -> Int { Int(self.next() % UInt64(count)) }

    /// Returns a time in ns between two in s.
    mutating func time(from: Double, to: Double) -> Int64 {
        Int64((from + (to - from) * self.fraction()) * 1_000_000_000)
    }

    /// Returns a range in ns within one in s.
    mutating func times(upTo seconds: Double) -> ClosedRange<Int64> {
        let last = self.time(from: 0, to: seconds)
        return self.time(upTo: last)...last
    }

    mutating func time(in range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + self.time(upTo: range.upperBound - range.lowerBound)
    }

    mutating func time(upTo nanoseconds: Int64) -> Int64 {
        nanoseconds > 0 ? Int64(self.next() % UInt64(nanoseconds + 1)) : 0
    }
}

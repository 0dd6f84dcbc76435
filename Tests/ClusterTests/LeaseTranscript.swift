import NIOCore

@testable import Cluster

/// A machine with a virtual clock and a store that a test plays, and the transcript of its actions.
struct LeaseTranscript {
    var machine: LeaseMachine
    /// ms of the boottime; the wall clock is 1,000 s ahead of it.
    var now: Int64 = 0
    private(set) var settings = LeaseSettings()
    /// The values that were written, by their requests.
    private(set) var written: [UInt64: ByteBuffer] = [:]

    init(_ name: String = "a") {
        self.machine = LeaseMachine(LeaseSettings(), name: name, host: "h", instance: "i")
    }

    var moment: LeaseMoment {
        LeaseMoment(boottime: self.now * 1_000_000, wall: (self.now + 1_000_000) * 1_000_000, chance: 255)
    }

    /// ms of the next deadline.
    var deadline: Int64? { self.machine.deadline.map { $0 / 1_000_000 } }

    static func value(
        _ state: LeaseClaim.State = .held,
        _ holder: String = "b",
        epoch: UInt64 = 7,
        token: String = "t",
        at revision: UInt64
    ) -> LeaseAnswer {
        let claim = LeaseClaim(state, holder: holder, host: "h2", token: token, epoch: epoch, since: "then")
        return .state(.value(claim.json, revision: revision))
    }

    /// The answer to a read that finds what a request of this machine wrote.
    func own(_ number: UInt64, at revision: UInt64) -> LeaseAnswer {
        .state(.value(self.written[number] ?? ByteBuffer(), revision: revision))
    }

    mutating func start() -> [String] { self.text(self.machine.started(at: self.moment)) }

    mutating func stop() -> [String] { self.text(self.machine.stopRequested(at: self.moment)) }

    mutating func close() -> [String] { self.text(self.machine.closed(at: self.moment)) }

    mutating func permit() -> [String] { self.text(self.machine.permitted(at: self.moment)) }

    mutating func answer(_ number: UInt64, _ answer: LeaseAnswer, at now: Int64) -> [String] {
        self.now = now
        return self.text(self.machine.answered(number, answer, at: self.moment))
    }

    mutating func time(_ now: Int64) -> [String] {
        self.now = now
        return self.text(self.machine.deadlineReached(at: self.moment))
    }

    /// Becomes the holder by a release: at revision 11, with request 2, which is sent at 10 ms and answered at 20 ms.
    mutating func acquire() {
        _ = self.start()
        _ = self.answer(1, Self.value(.released, at: 10), at: 10)
        _ = self.answer(2, .written(revision: 11), at: 20)
    }

    private mutating func text(_ actions: [LeaseMachine.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .read(let number): return "read \(number)"
            case .write(let number, let value, let expected):
                self.written[number] = value
                guard let claim = LeaseClaim(value) else { return "write \(number) ?" }
                return "write \(number) \(claim.state) \(claim.epoch) expecting \(expected)"
            case .run(let grant): return "run \(grant.epoch) until \(grant.guarding.until / 1_000_000)"
            case .extend(let guarding): return "extend until \(guarding.until / 1_000_000)"
            case .fence(let reason): return "fence: \(reason)"
            case .report(let report): return "report \(report)"
            case .end: return "end"
            }
        }
    }
}

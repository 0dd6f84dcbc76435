import NIOCore
import Recordings

/// The files of a key as its keeper has them: every question is asked on the loop, answered on the loop, and the disk is
/// waited for elsewhere, and not for ever.
///
/// Where a disk does not answer within ``limit`` the keeper goes on without it, after one line that says what that costs;
/// what the disk says later counts from then on. Belongs to one event loop.
final class KeyFiles {
    /// How long the disk is waited for before an attempt.
    static let limit: TimeAmount = .seconds(2)
    /// How long the end waits for the attempts, and then for the lock; a takeover may take 2 s in all.
    static let closeLimit: TimeAmount = .milliseconds(500)

    private enum Change {
        case save(LadderMemory)
        case clear
    }

    private let holding: KeyHolding
    private let loop: any EventLoop
    private let lockWarning: OneWarning
    private let ledgerWarning: OneWarning
    /// What the lock said last.
    private var claim: KeyClaim?
    private var claims = DiskQuestions<KeyClaim>()
    private var loads = DiskQuestions<LadderMemory?>()
    private var writes = DiskQuestions<Void>()
    /// The newest that is to be in the file and is not yet being written.
    private var change: Change?

    init(_ holding: KeyHolding, loop: any EventLoop) {
        self.holding = holding
        self.loop = loop
        self.lockWarning = OneWarning(holding.warn)
        self.ledgerWarning = OneWarning(holding.warn)
    }

    var hasLock: Bool { self.holding.ownership != nil }
    var hasLedger: Bool { self.holding.ledger != nil }
    /// Whether the lock's disk is being waited for.
    var isClaiming: Bool { self.claims.isAsking }

    // MARK: The lock

    /// Takes the key if it is free, and says whose it is; where the disk does not say, it is as it was.
    func claim(_ then: @escaping (KeyClaim) -> Void) {
        guard let ownership = self.holding.ownership else { return then(.mine) }
        self.claims.add(then, on: self.loop, within: Self.limit) {
            self.lockWarning.tell(
                "a second tickertape with this key may not be noticed: the disk of the lock has not answered for "
                    + "\(Self.limit.nanoseconds / 1_000_000_000) s (state.runtime-directory)"
            )
            return self.claim ?? .mine
        }
        guard self.claims.begin() else { return }
        self.holding.lockDisk.perform(on: self.loop, { ownership.claim() }) { claim in
            self.claim = claim
            self.claims.end(claim)
        }
    }

    // MARK: The attempts

    /// What an earlier run left, if anything.
    func load(_ then: @escaping (LadderMemory?) -> Void) {
        guard let ledger = self.holding.ledger else { return then(nil) }
        self.loads.add(then, on: self.loop, within: Self.limit) {
            self.warnOfLedger()
            return nil
        }
        guard self.loads.begin() else { return }
        self.holding.ledgerDisk.perform(on: self.loop, { ledger.load() }) { self.loads.end($0) }
    }

    /// Keeps this, and answers when it is kept.
    func save(_ memory: LadderMemory, _ then: @escaping () -> Void) {
        guard self.hasLedger else { return then() }
        self.change = .save(memory)
        self.waitForWriting(within: Self.limit, then)
        self.write()
    }

    /// Keeps this.
    func save(_ memory: LadderMemory) {
        guard self.hasLedger else { return }
        self.change = .save(memory)
        self.write()
    }

    /// Forgets what was kept.
    func clear() {
        guard self.hasLedger else { return }
        self.change = .clear
        self.write()
    }

    private func waitForWriting(within limit: TimeAmount, _ then: @escaping () -> Void) {
        self.writes.add({ _ in then() }, on: self.loop, within: limit) { self.warnOfLedger() }
    }

    private func write() {
        guard let ledger = self.holding.ledger, self.change != nil, self.writes.begin() else { return }
        let change = self.change
        self.change = nil
        let work: @Sendable () -> Void =
            switch change {
            case .save(let memory): { ledger.save(memory) }
            case .clear, nil: { ledger.clear() }
            }
        self.holding.ledgerDisk.perform(on: self.loop, work) {
            // What came meanwhile is newer: those who wait for it wait on.
            let isNewest = self.change == nil
            self.writes.end((), answers: isNewest)
            if !isNewest { self.write() }
        }
    }

    private func warnOfLedger() {
        self.ledgerWarning.tell(
            "attempts may not be remembered over a restart: the disk of the state directory has not answered for "
                + "\(Self.limit.nanoseconds / 1_000_000_000) s (state.directory)"
        )
    }

    // MARK: The end

    /// Waits for what is being written, then gives the key up: whoever takes it finds what was written.
    func close(_ then: @escaping () -> Void) {
        let release = { self.release(then) }
        if self.writes.isAsking { self.waitForWriting(within: Self.closeLimit, release) } else { release() }
    }

    private func release(_ then: @escaping () -> Void) {
        guard let ownership = self.holding.ownership else { return then() }
        let releases = DiskQuestions<Void>()
        releases.add({ _ in then() }, on: self.loop, within: Self.closeLimit) { () }
        let isUnderWay = releases.begin()
        precondition(isUnderWay)
        self.holding.lockDisk.perform(on: self.loop, { ownership.release() }) { releases.end(()) }
    }
}

/// Those who wait for one kind of answer of the disk, each of them for a limited time.
///
/// Once the disk has let one of them wait for too long, the next are not made to wait until it answers.
struct DiskQuestions<Answer> {
    /// One who waits: is answered once, by the disk or without it.
    private final class Waiting {
        private var then: ((Answer) -> Void)?
        var timer: Scheduled<Void>?

        init(_ then: @escaping (Answer) -> Void) { self.then = then }

        func take(_ answer: Answer) {
            self.timer?.cancel()
            self.timer = nil
            let then = self.then
            self.then = nil
            then?(answer)
        }
    }

    /// What the timers change.
    private final class State {
        var waiting: [Waiting] = []
        var isAsking = false
        var isStuck = false
    }

    private let state = State()

    /// Whether the disk is at it.
    var isAsking: Bool { self.state.isAsking }

    /// - Parameter otherwise: the answer where the disk has none in time.
    func add(
        _ then: @escaping (Answer) -> Void,
        on loop: any EventLoop,
        within limit: TimeAmount,
        otherwise: @escaping () -> Answer
    ) {
        guard !self.state.isStuck else { return then(otherwise()) }
        let waiting = Waiting(then)
        let state = self.state
        state.waiting.append(waiting)
        let bound = NIOLoopBound(
            {
                state.isStuck = true
                state.waiting.removeAll { $0 === waiting }
                waiting.take(otherwise())
            },
            eventLoop: loop
        )
        waiting.timer = loop.scheduleTask(in: limit) { bound.value() }
    }

    /// Notes that the disk is asked now; `false` where it is at it already.
    func begin() -> Bool {
        defer { self.state.isAsking = true }
        return !self.state.isAsking
    }

    /// Takes the disk's answer.
    ///
    /// - Parameter answers: whether it is for those who wait.
    func end(_ answer: Answer, answers: Bool = true) {
        self.state.isAsking = false
        self.state.isStuck = false
        guard answers else { return }
        let waiting = self.state.waiting
        self.state.waiting = []
        for one in waiting { one.take(answer) }
    }
}

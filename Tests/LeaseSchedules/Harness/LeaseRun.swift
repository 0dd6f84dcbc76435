import Cluster
import Market
import NIOCore

/// Three programs that share one or more leases, the store, the upstream and two edges, through one schedule of faults.
///
/// All times are virtual. The rules are checked after each event and at each read and publish. A program that is stopped
/// between the guard's answer and the act that it asked for acts once after waking: that act is in flight, and is
/// counted. Every later act must ask again.
package final class LeaseRun {
    enum Event {
        case begin(Int)
        case deliver(Int, life: Int, LeaseProgram.Incoming)
        case timer(Int, life: Int, version: Int)
        case effect(Int, life: Int, lease: Int, UInt64, LeaseStore.Operation)
        case upstream(Int, life: Int, connection: Int)
        case wake(Int, life: Int)
        case message(Int, connection: Int, LeaseMessage)
        case edgeConnects(Int)
        case edgeTimer(Int, version: Int)
        case fault(LeaseSchedule.Fault)
        case calm
        case check(Check)
    }

    /// What must be true when nothing fails any more.
    enum Check {
        case firstHolder, steady, silentDeath, afterSilentDeath, cleanStop, afterCleanStop, lostRelease,
            afterLostRelease
    }

    let schedule: LeaseSchedule
    let planted: PlantedLeaseFault?
    let isTraced: Bool
    var settings = LeaseSettings()
    var random: SeededGenerator
    var events = LeaseEventQueue<Event>()
    var now: Int64 = 0
    var isCalm = false
    var isOver = false
    var programs = [LeaseProgram](repeating: LeaseProgram(), count: LeaseSchedule.programs)
    var store: LeaseStore
    var edges = [LeaseEdge](repeating: LeaseEdge(), count: LeaseSchedule.edges)
    var connections = 0
    /// For each lease the program and life whose claim took effect last.
    var takers: [(program: Int, life: Int)]
    var highestEpoch: UInt64 = 0
    /// Whether the chain of epochs was broken by others than the programs.
    var isTampered = false
    var steadyEpoch: UInt64 = 0
    /// The leases whose next release has no answer, and whether its request is lost, too.
    var lostReleases: (leases: Set<Int>, areSent: Bool) = ([], false)
    var outcome = LeaseOutcome()

    private init(_ schedule: LeaseSchedule, _ planted: PlantedLeaseFault?, isTraced: Bool) {
        self.schedule = schedule
        self.planted = planted
        self.isTraced = isTraced
        self.store = LeaseStore(leases: schedule.leases)
        self.takers = Array(repeating: (-1, -1), count: schedule.leases)
        self.random = SeededGenerator(seed: schedule.seed ^ 0x5EED_1EA5E)
        if planted == .lateFence { self.settings.fence = 13_000_000_000 }
        if planted == .noWait { self.settings.timeToLive = 0 }
    }

    /// Runs a schedule to its end, or to the first broken rule.
    package static func run(
        _ schedule: LeaseSchedule,
        planted: PlantedLeaseFault? = nil,
        isTraced: Bool = false
    ) -> LeaseOutcome {
        let run = LeaseRun(schedule, planted, isTraced: isTraced)
        run.begin()
        while !run.isOver, let (at, event) = run.events.next() {
            run.now = at
            run.outcome.counts.events += 1
            run.handle(event)
            run.checkHolders()
        }
        run.outcome.counts.schedules = 1
        return run.outcome
    }

    // MARK: Events

    func begin() {
        self.store.begin(firstRevision: self.firstRevision)
        if self.schedule.beginsReleased {
            let claim = LeaseClaim(
                .released,
                holder: "p9",
                host: "h9",
                token: "earlier",
                epoch: 1_000,
                since: "earlier"
            )
            for lease in self.takers.indices { self.store.put(claim.json, lease) }
        }
        for program in self.programs.indices {
            self.events.add(.begin(program), at: self.random.time(from: 0, to: 2))
            // A good quartz is off by 20 millionths, a virtual machine's clock by more.
            self.programs[program].drift = self.random.time(upTo: 400) - 200
        }
        for edge in self.edges.indices { self.events.add(.edgeConnects(edge), at: self.random.time(from: 0, to: 2)) }
        for (at, fault) in self.schedule.faults { self.events.add(.fault(fault), at: at) }
        self.events.add(.calm, at: self.schedule.calmAt)
    }

    func handle(_ event: Event) {
        switch event {
        case .begin(let program): if self.programs[program].leases == nil { self.start(program) }
        case .deliver(let program, let life, let incoming):
            guard self.programs[program].life == life, self.programs[program].leases != nil else { return }
            if self.programs[program].isPaused {
                self.programs[program].inbox.append(incoming)
            } else {
                self.take(incoming, program)
            }
        case .timer(let program, let life, let version):
            guard self.programs[program].life == life, self.programs[program].timerVersion == version,
                !self.programs[program].isPaused, self.programs[program].leases != nil
            else { return }
            self.take(.timer, program)
        case .effect(let program, let life, let lease, let number, let operation):
            self.apply(operation, program, life, lease, number)
        case .upstream(let program, let life, let connection): self.emit(program, life, connection)
        case .wake(let program, let life): if self.programs[program].life == life { self.wake(program) }
        case .message(let edge, let connection, let message): self.arrive(edge, connection: connection, message)
        case .edgeConnects(let edge): self.connect(edge)
        case .edgeTimer(let edge, let version): self.edgeTimer(edge, version: version)
        case .fault(let fault): if !self.isCalm { self.strike(fault) }
        case .calm: self.beginCalm()
        case .check(let check): self.check(check)
        }
    }

    func start(_ program: Int) {
        let life = self.programs[program].life + 1
        self.programs[program].life = life
        // The machine may have booted anew.
        self.programs[program].bootOffset = self.random.time(from: 1, to: 1_000_000)
        self.programs[program].rest = []
        self.programs[program].inbox = []
        self.programs[program].isPaused = false
        self.programs[program].isWaking = false
        self.programs[program].outstanding = [:]
        self.programs[program].isFenceDeferred = false
        self.programs[program].beliefs = Array(repeating: .min, count: self.schedule.leases)
        let instance = String(self.random.next(), radix: 16)
        self.programs[program].ownTokenPrefix = "\"\(instance)-"
        self.programs[program].leases = LeaseSet(
            self.settings,
            keys: (0..<self.schedule.leases).map { "key\($0)" },
            name: "p\(program)",
            host: "h\(program)",
            instance: instance
        )
        self.trace("p\(program) begins")
        self.perform(self.programs[program].leases!.started(at: self.moment(program)), program)
    }

    /// The first revision of a store that begins now: as `NATSLeaseStore`, by the slowest wall clock.
    var firstRevision: UInt64 {
        guard self.schedule.storage != .lostRevisions else { return 1 }
        return UInt64(self.programs.indices.map { self.wall($0) }.min() ?? 0) / 1_000
    }

    func wall(_ program: Int) -> Int64 { 1_790_000_000_000_000_000 + self.now + self.programs[program].wallOffset }

    func moment(_ program: Int) -> LeaseMoment {
        LeaseMoment(
            boottime: self.programs[program].boottime(at: self.now),
            wall: self.wall(program),
            chance: self.random.next()
        )
    }

    /// A turn of a program's loop for one event; returns whether there was anything to do.
    @discardableResult
    func take(_ incoming: LeaseProgram.Incoming, _ program: Int) -> Bool {
        switch incoming {
        case .answer, .timer, .closed:
            self.run([.event(incoming, self.moment(program))], program, isResumed: false)
            self.arm(program)
        case .upstream(let connection):
            guard self.programs[program].connection == connection else { return false }
            self.run([.ask(.read), .ask(.publish)], program, isResumed: false)
            self.armAgain(program)
        case .request(let request, let edge, let connection):
            guard self.programs[program].connection != nil else { return false }
            self.run([.ask(.answer(request, edge: edge, connection: connection))], program, isResumed: false)
            self.armAgain(program)
        }
        return true
    }

    func stop(_ program: Int) {
        guard self.programs[program].leases != nil, !self.programs[program].isPaused else { return }
        self.trace("p\(program) is asked to stop")
        let life = self.programs[program].life
        self.perform(self.programs[program].leases!.stopRequested(at: self.moment(program)), program)
        // A wrong belief has hidden the fence.
        guard !self.hasLeft(program, life), self.programs[program].isFenceDeferred else { return }
        self.close(program, "it stops")
        self.perform(self.programs[program].leases!.closed(at: self.moment(program)), program)
    }
}

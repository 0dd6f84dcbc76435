import Cluster
import Market
import NIOCore

/// Three programs that share a lease, the store, the upstream and two edges, through one schedule of faults.
///
/// All times are virtual. The rules are checked after each event and at each read and publish. A program that is stopped
/// between the guard's answer and the act that it asked for acts once after waking: that act is in flight, and is
/// counted. Every later act must ask again.
package final class LeaseRun {
    private enum Event {
        case begin(Int)
        case deliver(Int, life: Int, LeaseProgram.Incoming)
        case timer(Int, life: Int, version: Int)
        case effect(Int, life: Int, UInt64, LeaseStore.Operation)
        case upstream(Int, life: Int, connection: Int)
        case wake(Int, life: Int)
        case frame(Int, epoch: UInt64)
        case fault(LeaseSchedule.Fault)
        case calm
        case check(Check)
    }

    /// What must be true when nothing fails any more.
    private enum Check {
        case firstHolder, steady, silentDeath, afterSilentDeath, cleanStop, afterCleanStop
    }

    private let schedule: LeaseSchedule
    private let planted: PlantedLeaseFault?
    private let isTraced: Bool
    private var settings = LeaseSettings()
    private var random: SeededGenerator
    private var events = LeaseEventQueue<Event>()
    private var now: Int64 = 0
    private var isCalm = false
    private var isOver = false
    private var programs = [LeaseProgram](repeating: LeaseProgram(), count: LeaseSchedule.programs)
    private var store = LeaseStore()
    private var edges = [(gate: EpochGate, highest: UInt64, cutUntil: Int64)](
        repeating: (EpochGate(), 0, .min),
        count: LeaseSchedule.edges
    )
    private var connections = 0
    /// The program and life whose claim took effect last.
    private var taker = (program: -1, life: -1)
    private var highestEpoch: UInt64 = 0
    /// Whether the chain of epochs was broken by others than the programs.
    private var isTampered = false
    private var steadyEpoch: UInt64 = 0
    private var outcome = LeaseOutcome()

    private init(_ schedule: LeaseSchedule, _ planted: PlantedLeaseFault?, isTraced: Bool) {
        self.schedule = schedule
        self.planted = planted
        self.isTraced = isTraced
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

    private func begin() {
        if self.schedule.beginsReleased {
            let claim = LeaseClaim(
                .released,
                holder: "p9",
                host: "h9",
                token: "earlier",
                epoch: 1_000,
                since: "earlier"
            )
            self.store.put(claim.json)
        }
        for program in self.programs.indices {
            self.events.add(.begin(program), at: self.random.time(from: 0, to: 2))
            // A good quartz is off by 20 millionths, a virtual machine's clock by more.
            self.programs[program].drift = self.random.time(upTo: 400) - 200
        }
        for (at, fault) in self.schedule.faults { self.events.add(.fault(fault), at: at) }
        self.events.add(.calm, at: self.schedule.calmAt)
    }

    private func handle(_ event: Event) {
        switch event {
        case .begin(let program): if self.programs[program].machine == nil { self.start(program) }
        case .deliver(let program, let life, let incoming):
            guard self.programs[program].life == life, self.programs[program].machine != nil else { return }
            if self.programs[program].isPaused {
                self.programs[program].inbox.append(incoming)
            } else {
                self.take(incoming, program)
            }
        case .timer(let program, let life, let version):
            guard self.programs[program].life == life, self.programs[program].timerVersion == version,
                !self.programs[program].isPaused, self.programs[program].machine != nil
            else { return }
            self.take(.timer, program)
        case .effect(let program, let life, let number, let operation):
            self.apply(operation, program, life, number)
        case .upstream(let program, let life, let connection): self.emit(program, life, connection)
        case .wake(let program, let life): if self.programs[program].life == life { self.wake(program) }
        case .frame(let edge, let epoch): self.arrive(edge, epoch)
        case .fault(let fault): if !self.isCalm { self.strike(fault) }
        case .calm: self.beginCalm()
        case .check(let check): self.check(check)
        }
    }

    private func start(_ program: Int) {
        let life = self.programs[program].life + 1
        self.programs[program].life = life
        // The machine may have booted anew.
        self.programs[program].bootOffset = self.random.time(from: 1, to: 1_000_000)
        self.programs[program].guarding = .closed
        self.programs[program].rest = []
        self.programs[program].inbox = []
        self.programs[program].isPaused = false
        self.programs[program].isWaking = false
        self.programs[program].outstanding = nil
        self.programs[program].isFenceDeferred = false
        self.programs[program].wrongUntil = .min
        let instance = String(self.random.next(), radix: 16)
        self.programs[program].ownTokenPrefix = "\"\(instance)-"
        self.programs[program].machine = LeaseMachine(
            self.settings,
            name: "p\(program)",
            host: "h\(program)",
            instance: instance
        )
        self.trace("p\(program) begins")
        self.perform(self.programs[program].machine!.started(at: self.moment(program)), program)
    }

    private func moment(_ program: Int) -> LeaseMoment {
        LeaseMoment(
            boottime: self.programs[program].boottime(at: self.now),
            wall: 1_790_000_000_000_000_000 + self.now + self.programs[program].wallOffset,
            chance: self.random.next()
        )
    }

    /// A turn of a program's loop for one event; returns whether there was anything to do.
    @discardableResult
    private func take(_ incoming: LeaseProgram.Incoming, _ program: Int) -> Bool {
        switch incoming {
        case .answer(let number, let answer):
            if self.programs[program].outstanding == number { self.programs[program].outstanding = nil }
            self.perform(self.programs[program].machine!.answered(number, answer, at: self.moment(program)), program) {
                self.plantAfter(answer, $0, program)
            }
        case .timer:
            self.endWrongBelief(program)
            self.perform(self.programs[program].machine!.deadlineReached(at: self.moment(program)), program)
        case .upstream(let connection):
            guard self.programs[program].connection == connection else { return false }
            self.run([.ask(.read), .ask(.publish)], program, isResumed: false)
        }
        return true
    }

    private func stop(_ program: Int) {
        guard self.programs[program].machine != nil, !self.programs[program].isPaused else { return }
        self.trace("p\(program) is asked to stop")
        self.perform(self.programs[program].machine!.stopRequested(at: self.moment(program)), program)
    }

    // MARK: The driver

    private func perform(
        _ actions: [LeaseMachine.Action],
        _ program: Int,
        then: (([LeaseMachine.Action]) -> Void)? = nil
    ) {
        then?(actions)
        self.run(actions.map { .action($0) }, program, isResumed: false)
        self.arm(program)
    }

    private func arm(_ program: Int) {
        guard let machine = self.programs[program].machine else { return }
        self.programs[program].timerVersion += 1
        var deadline = machine.deadline
        if self.programs[program].isFenceDeferred {
            deadline = min(deadline ?? .max, self.programs[program].wrongUntil)
        }
        guard let deadline else { return }
        let late = self.random.time(upTo: self.isCalm ? 5_000_000 : self.schedule.lateness)
        let version = self.programs[program].timerVersion
        self.events.add(
            .timer(program, life: self.programs[program].life, version: version),
            at: self.programs[program].time(of: deadline, now: self.now) + late
        )
    }

    /// Does the steps of a turn, which may stop before each of them.
    private func run(_ steps: [LeaseProgram.Step], _ program: Int, isResumed: Bool) {
        var steps = steps
        var position = 0
        var isInFlight = isResumed
        let life = self.programs[program].life
        while position < steps.count {
            if !isInFlight, !self.isCalm, self.random.chance(self.schedule.pauseInTurn) {
                self.programs[program].rest = Array(steps[position...])
                self.outcome.counts.pausesInTurn += 1
                self.pause(program, self.random.time(from: 0, to: 30))
                return
            }
            let step = steps[position]
            position += 1
            switch step {
            case .action(.run(let grant)): steps.insert(.ask(.open(grant)), at: position)
            case .action(let action): self.perform(action, program)
            case .ask(let act):
                if case .open(let grant) = act { self.guardBy(grant.guarding, program) }
                let isAsked = !(self.planted == .unaskedGuard && self.programs[program].isWaking)
                let boottime = self.programs[program].boottime(at: self.now)
                if !isAsked || self.programs[program].guarding.allows(at: boottime) {
                    steps.insert(.act(act), at: position)
                } else {
                    self.endWrongBelief(program)
                    self.trace("p\(program) is not allowed to \(act)")
                    let actions = self.programs[program].machine!.deadlineReached(at: self.moment(program))
                    steps.insert(contentsOf: actions.map { .action($0) }, at: position)
                    self.arm(program)
                }
            case .act(let act): self.act(act, program, isInFlight: isInFlight)
            }
            isInFlight = false
            guard self.programs[program].life == life, self.programs[program].machine != nil, !self.isOver else {
                return
            }
        }
    }

    private func perform(_ action: LeaseMachine.Action, _ program: Int) {
        switch action {
        case .read(let number): self.send(.read, number, program)
        case .write(let number, let value, let expected):
            self.send(.write(value, expecting: expected), number, program)
        case .run: break
        case .extend(let guarding): self.guardBy(guarding, program)
        case .fence(let reason):
            switch reason {
            case .expired: self.outcome.counts.expired += 1
            case .lost: self.outcome.counts.lost += 1
            case .stopping: self.outcome.counts.stops += 1
            }
            if reason == .expired, self.programs[program].wrongUntil > self.programs[program].boottime(at: self.now) {
                self.programs[program].isFenceDeferred = true
                return
            }
            self.close(program, "\(reason)")
        case .report(let report): self.trace("p\(program): \(report)")
        case .end:
            self.close(program, "it has ended")
            self.trace("p\(program) has ended")
            self.programs[program].machine = nil
            self.events.add(.begin(program), at: self.now + self.random.time(from: 0, to: 10))
        }
    }

    private func act(_ act: LeaseProgram.Act, _ program: Int, isInFlight: Bool) {
        if isInFlight { self.outcome.counts.inFlight += 1 }
        switch act {
        case .open(let grant):
            self.connections += 1
            self.outcome.counts.acquisitions += 1
            self.programs[program].connection = self.connections
            self.programs[program].epoch = grant.epoch
            self.programs[program].isFenceDeferred = false
            self.trace("p\(program) RUNS with epoch \(grant.epoch)\(isInFlight ? ", in flight" : "")")
            if grant.epoch <= self.highestEpoch, !self.isTampered, !isInFlight {
                self.fail(.epoch, "epoch \(grant.epoch) after \(self.highestEpoch)")
            }
            self.highestEpoch = max(self.highestEpoch, grant.epoch)
            self.events.add(
                .upstream(program, life: self.programs[program].life, connection: self.connections),
                at: self.now + self.random.time(from: 0, to: 0.25)
            )
        case .read:
            guard self.programs[program].connection != nil else { return }
            self.outcome.counts.reads += 1
            self.checkAct("reads", program, isInFlight)
        case .publish:
            guard self.programs[program].connection != nil else { return }
            self.checkAct("publishes", program, isInFlight)
            self.publish(program)
        }
    }

    private func checkAct(_ verb: String, _ program: Int, _ isInFlight: Bool) {
        guard !isInFlight, self.taker != (program, self.programs[program].life) else { return }
        self.fail(.readsOn, "p\(program) \(verb) after the claim of p\(self.taker.program)")
    }

    private func close(_ program: Int, _ reason: @autoclosure () -> String) {
        if self.programs[program].connection != nil { self.trace("p\(program) CLOSES: \(reason())") }
        self.programs[program].connection = nil
        self.programs[program].guarding = .closed
        self.programs[program].isFenceDeferred = false
        self.programs[program].wrongUntil = .min
    }

    // MARK: Planted faults in a driver

    private func plantAfter(_ answer: LeaseAnswer, _ actions: [LeaseMachine.Action], _ program: Int) {
        var isProof = false
        switch self.planted {
        case .proofFromAnswer:
            isProof = actions.contains { action in
                switch action {
                case .run, .extend: true
                case .read, .write, .fence, .report, .end: false
                }
            }
        case .readExtends:
            if case .state(.value(let bytes, _)) = answer, self.programs[program].connection != nil,
                !actions.contains(where: { if case .fence = $0 { true } else { false } })
            {
                isProof = String(buffer: bytes).contains(self.programs[program].ownTokenPrefix)
            }
        case nil, .lateFence, .noWait, .unaskedGuard: break
        }
        guard isProof else { return }
        self.programs[program].wrongUntil = self.programs[program].boottime(at: self.now) + self.settings.fence
        self.guardBy(self.programs[program].guarding, program)
    }

    /// Closes a program at the end of a wrong belief.
    private func endWrongBelief(_ program: Int) {
        guard self.programs[program].isFenceDeferred,
            self.programs[program].boottime(at: self.now) >= self.programs[program].wrongUntil
        else { return }
        self.close(program, "the end of a wrong belief")
    }

    /// Sets the driver's guard, unless it wrongly believes in a later one.
    private func guardBy(_ guarding: LeaseGuard, _ program: Int) {
        self.programs[program].guarding = LeaseGuard(until: max(guarding.until, self.programs[program].wrongUntil))
    }

    // MARK: Stops

    private func pause(_ program: Int, _ duration: Int64) {
        guard self.programs[program].machine != nil, !self.programs[program].isPaused else { return }
        self.trace("p\(program) stands still for \(Self.seconds(duration))")
        self.outcome.counts.pauses += 1
        self.programs[program].isPaused = true
        self.events.add(.wake(program, life: self.programs[program].life), at: self.now + duration)
    }

    /// Goes on where the program was stopped: with the rest of the turn, and then with what has come, in any order.
    private func wake(_ program: Int) {
        guard self.programs[program].isPaused else { return }
        self.trace("p\(program) goes on")
        self.programs[program].isPaused = false
        self.programs[program].isWaking = true
        let life = self.programs[program].life
        let rest = self.programs[program].rest
        self.programs[program].rest = []
        if !rest.isEmpty {
            self.run(rest, program, isResumed: true)
            if self.hasLeft(program, life) { return }
        }
        var incoming = self.programs[program].inbox
        self.programs[program].inbox = []
        if let deadline = self.programs[program].machine?.deadline,
            deadline <= self.programs[program].boottime(at: self.now)
        {
            incoming.append(.timer)
        }
        incoming.shuffle(using: &self.random)
        var position = 0
        while position < incoming.count {
            let isHandled = self.take(incoming[position], program)
            position += 1
            guard self.programs[program].life == life, self.programs[program].machine != nil else { return }
            if self.programs[program].isPaused {
                self.programs[program].inbox.insert(contentsOf: incoming[position...], at: 0)
                return
            }
            guard isHandled else { continue }
            self.programs[program].isWaking = false
            if self.programs[program].connection != nil, self.planted == nil,
                !self.programs[program].guarding.allows(at: self.programs[program].boottime(at: self.now))
            {
                self.fail(.staysOpen, "p\(program) keeps its upstream open after its first turn")
            }
            self.checkHolders()
            if self.isOver { return }
        }
        self.programs[program].isWaking = false
        self.arm(program)
    }

    private func hasLeft(_ program: Int, _ life: Int) -> Bool {
        self.programs[program].life != life || self.programs[program].machine == nil || self.programs[program].isPaused
    }

    // MARK: The network, the store and the upstream

    private func delay() -> Int64 { 200_000 + self.random.time(upTo: self.isCalm ? 15_000_000 : 40_000_000) }

    private func isLost() -> Bool { !self.isCalm && self.random.chance(self.schedule.loss) }

    private func send(_ operation: LeaseStore.Operation, _ number: UInt64, _ program: Int) {
        let own = self.programs[program]
        self.programs[program].outstanding = number
        if own.disconnectedUntil > self.now {
            self.events.add(.deliver(program, life: own.life, .answer(number, .unsent)), at: self.now + 1_000_000)
            return
        }
        guard own.requestsCutUntil <= self.now, !self.isLost() else { return }
        let extra = own.slowUntil > self.now ? self.random.time(in: own.slowRequests) : 0
        self.events.add(.effect(program, life: own.life, number, operation), at: self.now + self.delay() + extra)
    }

    private func apply(_ operation: LeaseStore.Operation, _ program: Int, _ life: Int, _ number: UInt64) {
        guard self.store.downUntil <= self.now else { return }
        let answer = self.store.apply(operation)
        if case .write(let value, let expected) = operation {
            if case .written = answer {
                if LeaseClaim(value)?.state == .held { self.taker = (program, life) }
            }
            self.trace("store: p\(program) writes at \(expected): \(answer)")
        }
        let own = self.programs[program]
        guard own.life == life, own.answersCutUntil <= self.now, !self.isLost() else { return }
        let extra = own.slowUntil > self.now ? self.random.time(in: own.slowAnswers) : 0
        self.events.add(.deliver(program, life: life, .answer(number, answer)), at: self.now + self.delay() + extra)
    }

    private func emit(_ program: Int, _ life: Int, _ connection: Int) {
        guard self.programs[program].life == life, self.programs[program].connection == connection else { return }
        self.events.add(.upstream(program, life: life, connection: connection), at: self.now + 250_000_000)
        if self.programs[program].isPaused {
            let isWaiting = self.programs[program].inbox.contains { if case .upstream = $0 { true } else { false } }
            if !isWaiting { self.programs[program].inbox.append(.upstream(connection)) }
        } else {
            self.take(.upstream(connection), program)
        }
    }

    private func publish(_ program: Int) {
        let own = self.programs[program]
        guard own.requestsCutUntil <= self.now, own.disconnectedUntil <= self.now else { return }
        for edge in self.edges.indices where self.edges[edge].cutUntil <= self.now && !self.isLost() {
            let extra = own.slowUntil > self.now ? self.random.time(in: own.slowRequests) : 0
            // A frame may come twice, and after a later one.
            for _ in 0..<(self.random.chance(0.02) ? 2 : 1) {
                self.events.add(.frame(edge, epoch: own.epoch), at: self.now + self.delay() + extra)
            }
        }
    }

    private func arrive(_ edge: Int, _ epoch: UInt64) {
        guard self.edges[edge].gate.judge(epoch) != .older else {
            self.outcome.counts.refused += 1
            return
        }
        self.outcome.counts.accepted += 1
        if epoch < self.edges[edge].highest {
            self.fail(.staleFrame, "edge \(edge) accepts epoch \(epoch) after \(self.edges[edge].highest)")
        }
        self.edges[edge].highest = max(self.edges[edge].highest, epoch)
    }

    // MARK: Faults

    private var holder: Int? {
        self.programs.indices.first { self.programs[$0].connection != nil && !self.programs[$0].isPaused }
    }

    private func program(_ target: LeaseSchedule.Target) -> Int {
        switch target {
        case .holder: self.holder ?? self.random.index(self.programs.count)
        case .program(let program): program
        }
    }

    private func strike(_ fault: LeaseSchedule.Fault) {
        switch fault {
        case .pause(let target, let duration): self.pause(self.program(target), duration)
        case .partition(let target, let duration):
            let program = self.program(target)
            self.trace("p\(program) and the store are parted for \(Self.seconds(duration))")
            self.programs[program].requestsCutUntil = self.now + duration
            self.programs[program].answersCutUntil = self.now + duration
        case .deaf(let target, let duration):
            let program = self.program(target)
            self.trace("p\(program) gets no answers for \(Self.seconds(duration))")
            self.programs[program].answersCutUntil = self.now + duration
        case .mute(let target, let duration):
            let program = self.program(target)
            self.trace("p\(program)'s requests are lost for \(Self.seconds(duration))")
            self.programs[program].requestsCutUntil = self.now + duration
        case .disconnect(let target, let duration):
            let program = self.program(target)
            self.trace("p\(program) is disconnected for \(Self.seconds(duration))")
            self.programs[program].disconnectedUntil = self.now + duration
            if let number = self.programs[program].outstanding, self.programs[program].machine != nil {
                let life = self.programs[program].life
                self.events.add(.deliver(program, life: life, .answer(number, .unknown)), at: self.now)
            }
        case .slow(let target, let requests, let answers, let duration):
            let program = self.program(target)
            self.trace(
                "p\(program)'s network is slow for \(Self.seconds(duration)): requests up to "
                    + "\(Self.seconds(requests.upperBound)), answers \(Self.seconds(answers.lowerBound)) "
                    + "to \(Self.seconds(answers.upperBound))"
            )
            self.programs[program].slowUntil = self.now + duration
            self.programs[program].slowRequests = requests
            self.programs[program].slowAnswers = answers
        case .crash(let target, let duration): self.crash(self.program(target), beginsAfter: duration)
        case .stop(let target): self.stop(self.program(target))
        case .wallJump(let target, let jump):
            let program = self.program(target)
            self.trace("p\(program)'s wall clock jumps by \(Self.seconds(jump))")
            self.programs[program].wallOffset += jump
        case .storeDown(let duration):
            self.trace("the store is down for \(Self.seconds(duration))")
            self.store.downUntil = self.now + duration
        case .storeLoss(let duration):
            self.trace("the store loses all and is down for \(Self.seconds(duration))")
            self.store.downUntil = self.now + duration
            self.store.lose()
            self.isTampered = true
        case .storeRollback(let writes):
            self.trace("the store loses its last \(writes) writes")
            self.store.lose(last: writes)
            self.isTampered = true
        case .edgeCut(let edge, let duration): self.edges[edge].cutUntil = self.now + duration
        case .deletion:
            self.trace("the key is deleted by hand")
            self.store.delete()
            self.isTampered = true
        case .intrusion:
            self.trace("another program writes to the key")
            self.store.put(ByteBuffer(string: #"{"host":"x"}"#))
            self.isTampered = true
        }
    }

    private func crash(_ program: Int, beginsAfter duration: Int64) {
        guard self.programs[program].machine != nil else { return }
        self.trace("p\(program) dies")
        self.close(program, "it has died")
        self.programs[program].machine = nil
        self.programs[program].life += 1
        self.events.add(.begin(program), at: self.now + duration)
    }

    // MARK: Rules

    private func checkHolders() {
        var live = 0
        for program in self.programs.indices where self.programs[program].isLive { live += 1 }
        guard live > 1 else { return }
        let names = self.programs.indices.filter { self.programs[$0].isLive }.map { "p\($0)" }
        self.fail(.twoHolders, "\(names.joined(separator: " and ")) run")
    }

    private func beginCalm() {
        self.trace("nothing fails any more")
        self.isCalm = true
        self.store.downUntil = .min
        for edge in self.edges.indices { self.edges[edge].cutUntil = .min }
        for program in self.programs.indices {
            self.programs[program].requestsCutUntil = .min
            self.programs[program].answersCutUntil = .min
            self.programs[program].disconnectedUntil = .min
            self.programs[program].slowUntil = .min
            if self.programs[program].machine == nil {
                self.events.add(.begin(program), at: self.now)
            } else {
                self.events.add(.wake(program, life: self.programs[program].life), at: self.now)
            }
        }
        // What was sent before may change the key for some seconds more, and each change begins the wait anew.
        self.events.add(.check(.firstHolder), at: self.now + 4_200_000_000 + 15_000_000_000)
    }

    private func check(_ check: Check) {
        let epoch = self.holder.map { self.programs[$0].epoch }
        if epoch == nil, check != .silentDeath, check != .cleanStop {
            self.fail(.late, "no program runs at the check \(check)")
        }
        switch check {
        case .firstHolder:
            self.steadyEpoch = epoch ?? 0
            self.next(.steady, after: 3_000_000_000)
        case .steady, .silentDeath:
            if epoch != self.steadyEpoch { self.fail(.unsteady, "epoch \(epoch ?? 0) after \(self.steadyEpoch)") }
            guard check == .silentDeath else { return self.next(.silentDeath, after: self.random.time(from: 0, to: 1)) }
            if let holder { self.crash(holder, beginsAfter: self.random.time(from: 0, to: 5)) }
            self.next(.afterSilentDeath, after: 13_000_000_000)
        case .afterSilentDeath:
            self.steadyEpoch = epoch ?? 0
            self.next(.cleanStop, after: self.random.time(from: 2, to: 3))
        case .cleanStop:
            if epoch != self.steadyEpoch { self.fail(.unsteady, "epoch \(epoch ?? 0) after \(self.steadyEpoch)") }
            if let holder { self.stop(holder) }
            self.next(.afterCleanStop, after: 1_000_000_000)
        case .afterCleanStop:
            self.isOver = true
        }
    }

    private func next(_ check: Check, after: Int64) { self.events.add(.check(check), at: self.now + after) }

    private func fail(_ kind: LeaseViolation, _ text: String) {
        guard self.outcome.violation == nil else { return }
        self.trace("BROKEN: \(text)")
        self.outcome.violation = (kind, "at \(Self.seconds(self.now)): \(text)")
        self.isOver = true
    }

    private func trace(_ text: @autoclosure () -> String) {
        if self.isTraced { self.outcome.trace.append("\(Self.seconds(self.now))  \(text())") }
    }

    private static func seconds(_ time: Int64) -> String {
        let milliseconds = time.magnitude / 1_000_000
        return "\(time < 0 ? "-" : "")\(milliseconds / 1_000).\("\(1_000 + milliseconds % 1_000)".dropFirst()) s"
    }
}

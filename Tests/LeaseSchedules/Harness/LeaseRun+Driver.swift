import Cluster

/// The driver of a program's machine, and its stops.
extension LeaseRun {
    /// Hands an event to the machine.
    private func actions(
        _ incoming: LeaseProgram.Incoming,
        _ program: Int,
        _ moment: LeaseMoment
    ) -> [LeaseMachine.Action] {
        switch incoming {
        case .answer(let number, let answer):
            if self.programs[program].outstanding == number { self.programs[program].outstanding = nil }
            let actions = self.programs[program].machine!.answered(number, answer, at: moment)
            self.plantAfter(answer, actions, program)
            return actions
        case .timer:
            self.endWrongBelief(program)
            return self.programs[program].machine!.deadlineReached(at: moment)
        case .upstream: return []
        }
    }

    func perform(_ actions: [LeaseMachine.Action], _ program: Int) {
        self.run(actions.map { .action($0) }, program, isResumed: false)
        self.arm(program)
    }

    func arm(_ program: Int) {
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
    func run(_ steps: [LeaseProgram.Step], _ program: Int, isResumed: Bool) {
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
            case .event(let incoming, let moment):
                let actions = self.actions(incoming, program, moment)
                steps.insert(contentsOf: actions.map { .action($0) }, at: position)
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

    func perform(_ action: LeaseMachine.Action, _ program: Int) {
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

    func act(_ act: LeaseProgram.Act, _ program: Int, isInFlight: Bool) {
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

    func checkAct(_ verb: String, _ program: Int, _ isInFlight: Bool) {
        guard !isInFlight, self.taker != (program, self.programs[program].life) else { return }
        self.fail(.readsOn, "p\(program) \(verb) after the claim of p\(self.taker.program)")
    }

    func close(_ program: Int, _ reason: @autoclosure () -> String) {
        if self.programs[program].connection != nil { self.trace("p\(program) CLOSES: \(reason())") }
        self.programs[program].connection = nil
        self.programs[program].guarding = .closed
        self.programs[program].isFenceDeferred = false
        self.programs[program].wrongUntil = .min
    }

    func pause(_ program: Int, _ duration: Int64) {
        guard self.programs[program].machine != nil, !self.programs[program].isPaused else { return }
        self.trace("p\(program) stands still for \(Self.seconds(duration))")
        self.outcome.counts.pauses += 1
        self.programs[program].isPaused = true
        self.events.add(.wake(program, life: self.programs[program].life), at: self.now + duration)
    }

    /// Goes on where the program was stopped: with the rest of the turn, and then with what has come, in any order.
    func wake(_ program: Int) {
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

    func hasLeft(_ program: Int, _ life: Int) -> Bool {
        self.programs[program].life != life || self.programs[program].machine == nil || self.programs[program].isPaused
    }
}

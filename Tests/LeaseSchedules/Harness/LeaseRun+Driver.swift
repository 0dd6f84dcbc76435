import Cluster

/// The driver of a program's leases, and its stops.
extension LeaseRun {
    /// Hands an event to the leases.
    private func actions(
        _ incoming: LeaseProgram.Incoming,
        _ program: Int,
        _ moment: LeaseMoment
    ) -> [LeaseSet.Action] {
        switch incoming {
        case .answer(let lease, let number, let answer):
            let actions = self.programs[program].leases!.answered(lease: lease, number, answer, at: moment)
            self.plantAfter(answer, lease, number, actions, program)
            if self.programs[program].outstanding[lease]?.number == number {
                self.programs[program].outstanding[lease] = nil
            }
            return actions
        case .timer:
            let actions = self.endWrongBelief(program, moment)
            return actions + self.programs[program].leases!.deadlineReached(at: moment)
        case .closed:
            self.programs[program].isClosing = false
            self.programs[program].endsCleanly = false
            return self.programs[program].leases!.closed(at: moment)
        case .upstream, .request: return []
        }
    }

    func perform(_ actions: [LeaseSet.Action], _ program: Int) {
        self.run(actions.map { .action($0) }, program, isResumed: false)
        self.arm(program)
    }

    func arm(_ program: Int) {
        guard let leases = self.programs[program].leases else { return }
        self.programs[program].timerVersion += 1
        var deadline = leases.deadline
        if self.programs[program].isFenceDeferred {
            deadline = min(deadline ?? .max, self.programs[program].wrongUntil)
        }
        self.programs[program].isArmed = deadline != nil
        guard let deadline else { return }
        let late = self.random.time(upTo: self.isCalm ? 5_000_000 : self.schedule.lateness)
        let version = self.programs[program].timerVersion
        self.events.add(
            .timer(program, life: self.programs[program].life, version: version),
            at: self.programs[program].time(of: deadline, now: self.now) + late
        )
    }

    /// Arms the timer if none is due: the end of the upstream can have begun the leases anew.
    func armAgain(_ program: Int) {
        if !self.programs[program].isArmed { self.arm(program) }
    }

    /// Does the steps of a turn, which may stop before each of them.
    func run(_ steps: [LeaseProgram.Step], _ program: Int, isResumed: Bool) {
        var steps = steps
        var position = 0
        var isInFlight = isResumed
        let life = self.programs[program].life
        // As `LeaseHolder` does: a fence goes before what is left of earlier events, all else behind it.
        func insert(_ actions: [LeaseSet.Action]) {
            steps.insert(contentsOf: actions.filter(\.isFence).map { .action($0) }, at: position)
            var end = position
            while end < steps.count, case .action = steps[end] { end += 1 }
            steps.insert(contentsOf: actions.filter { !$0.isFence }.map { .action($0) }, at: end)
        }
        while position < steps.count {
            // A stop between its decision and its act is rare among the steps.
            let isStop = if case .action(.fence(.stopping)) = steps[position] { true } else { false }
            let pause = self.schedule.pauseInTurn * (isStop ? 20 : 1)
            if !isInFlight, !self.isCalm, self.random.chance(pause) {
                self.programs[program].rest = Array(steps[position...])
                self.outcome.counts.pausesInTurn += 1
                self.pause(program, self.random.time(from: 0, to: 30))
                return
            }
            let step = steps[position]
            position += 1
            switch step {
            case .event(let incoming, let moment):
                insert(self.actions(incoming, program, moment))
            case .action(.run(let epoch)): steps.insert(.ask(.open(epoch: epoch)), at: position)
            case .action(let action):
                let following = self.perform(action, program)
                if let following { steps.insert(following, at: position) }
                // As `LeaseHolder` does.
                if action == .fence(.stopping) { steps.insert(.event(.timer, self.moment(program)), at: position) }
            case .ask(let act):
                let isAsked = !(self.planted == .unaskedGuard && self.programs[program].isWaking)
                if !isAsked || self.isAllowed(program) {
                    steps.insert(.act(act), at: position)
                } else {
                    self.trace("p\(program) is not allowed to \(act)")
                    insert(self.actions(.timer, program, self.moment(program)))
                    self.arm(program)
                }
            case .act(let act): self.act(act, program, isInFlight: isInFlight)
            }
            isInFlight = false
            guard self.programs[program].life == life, self.programs[program].leases != nil, !self.isOver else {
                return
            }
        }
    }

    /// Does an action, and returns the step that it begins.
    private func perform(_ action: LeaseSet.Action, _ program: Int) -> LeaseProgram.Step? {
        switch action {
        case .read(let lease, let number): self.send(.read, lease, number, program)
        case .write(let lease, let number, let value, let expected):
            self.send(.write(value, expecting: expected), lease, number, program)
        case .run: break
        case .fence(let reason):
            switch reason {
            case .expired: self.outcome.counts.expired += 1
            case .lost: self.outcome.counts.lost += 1
            case .stopping: self.outcome.counts.stops += 1
            }
            if reason == .expired, self.programs[program].wrongUntil > self.programs[program].boottime(at: self.now) {
                self.programs[program].isFenceDeferred = true
                return nil
            }
            // A clean end has taken too long. The news of it comes nevertheless.
            if self.programs[program].endsCleanly {
                if self.planted != .slowStop { self.programs[program].isClosing = false }
                return nil
            }
            self.close(program, "\(reason)")
            self.programs[program].endsCleanly = reason == .stopping
            guard !self.isCalm, self.random.chance(0.5) else { return .event(.closed, self.moment(program)) }
            // A clean end of the connections takes up to a second; after a cut only the news of it may be late.
            self.programs[program].isClosing = reason == .stopping
            let end = self.now + self.random.time(from: 0, to: reason == .stopping ? 1 : 6)
            self.events.add(.deliver(program, life: self.programs[program].life, .closed), at: end)
        case .report(let lease, let report): self.trace("p\(program), lease \(lease): \(report)")
        case .end:
            self.close(program, "it has ended")
            self.trace("p\(program) has ended")
            self.programs[program].leases = nil
            self.events.add(.begin(program), at: self.now + self.random.time(from: 0, to: 10))
        }
        return nil
    }

    func act(_ act: LeaseProgram.Act, _ program: Int, isInFlight: Bool) {
        if isInFlight { self.outcome.counts.inFlight += 1 }
        switch act {
        case .open(let epoch):
            self.connections += 1
            self.outcome.counts.acquisitions += 1
            self.programs[program].connection = self.connections
            self.programs[program].begin(epoch: epoch)
            self.programs[program].isFenceDeferred = false
            self.trace("p\(program) RUNS with epoch \(epoch)\(isInFlight ? ", in flight" : "")")
            if epoch <= self.highestEpoch, !self.isTampered, !isInFlight {
                self.fail(.epoch, "epoch \(epoch) after \(self.highestEpoch)")
            }
            self.highestEpoch = max(self.highestEpoch, epoch)
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
        case .answer(let request, let edge, let connection):
            guard self.programs[program].connection != nil else { return }
            self.checkAct("answers", program, isInFlight)
            self.answer(request, program, edge: edge, connection: connection)
        }
    }

    func checkAct(_ verb: String, _ program: Int, _ isInFlight: Bool) {
        guard !isInFlight else { return }
        for taker in self.takers where taker != (program, self.programs[program].life) {
            self.fail(.readsOn, "p\(program) \(verb) after the claim of p\(taker.program)")
        }
    }

    func close(_ program: Int, _ reason: @autoclosure () -> String) {
        if self.programs[program].connection != nil { self.trace("p\(program) CLOSES: \(reason())") }
        self.programs[program].connection = nil
        self.programs[program].isClosing = false
        self.programs[program].endsCleanly = false
        self.programs[program].isFenceDeferred = false
        self.programs[program].beliefs = Array(repeating: .min, count: self.schedule.leases)
    }

    func pause(_ program: Int, _ duration: Int64) {
        guard self.programs[program].leases != nil, !self.programs[program].isPaused else { return }
        self.trace("p\(program) stands still for \(Self.seconds(duration))")
        self.outcome.counts.pauses += 1
        self.programs[program].isPaused = true
        // What was closing has ended when it goes on.
        self.programs[program].isClosing = false
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
        if let deadline = self.programs[program].leases?.deadline,
            deadline <= self.programs[program].boottime(at: self.now)
        {
            incoming.append(.timer)
        }
        incoming.shuffle(using: &self.random)
        var position = 0
        while position < incoming.count {
            let isHandled = self.take(incoming[position], program)
            position += 1
            guard self.programs[program].life == life, self.programs[program].leases != nil else { return }
            if self.programs[program].isPaused {
                self.programs[program].inbox.insert(contentsOf: incoming[position...], at: 0)
                return
            }
            guard isHandled else { continue }
            self.programs[program].isWaking = false
            if self.programs[program].connection != nil, self.planted == nil, !self.isAllowed(program) {
                self.fail(.staysOpen, "p\(program) keeps its upstream open after its first turn")
            }
            self.checkHolders()
            if self.isOver { return }
        }
        self.programs[program].isWaking = false
        self.arm(program)
    }

    func hasLeft(_ program: Int, _ life: Int) -> Bool {
        self.programs[program].life != life || self.programs[program].leases == nil || self.programs[program].isPaused
    }
}

extension LeaseSet.Action {
    var isFence: Bool { if case .fence = self { true } else { false } }
}

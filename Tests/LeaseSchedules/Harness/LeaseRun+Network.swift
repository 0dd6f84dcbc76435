import Cluster

/// What is between the programs.
extension LeaseRun {
    func delay() -> Int64 { 200_000 + self.random.time(upTo: self.isCalm ? 15_000_000 : 40_000_000) }

    func isLost() -> Bool { !self.isCalm && self.random.chance(self.schedule.loss) }

    /// Whether a message of a release is lost on purpose: the request, or else its answer.
    private func losesRelease(_ operation: LeaseStore.Operation, _ lease: Int, isRequest: Bool) -> Bool {
        guard self.lostReleases.areSent != isRequest, case .write(let value, _) = operation,
            LeaseClaim(value)?.state == .released
        else { return false }
        return self.lostReleases.leases.remove(lease) != nil
    }

    func send(_ operation: LeaseStore.Operation, _ lease: Int, _ number: UInt64, _ program: Int) {
        let own = self.programs[program]
        self.programs[program].outstanding[lease] = LeaseProgram.Outstanding(
            number: number,
            sent: own.boottime(at: self.now)
        )
        if own.disconnectedUntil > self.now {
            let answer = LeaseProgram.Incoming.answer(lease: lease, number, .unsent)
            self.events.add(.deliver(program, life: own.life, answer), at: self.now + 1_000_000)
            return
        }
        guard own.requestsCutUntil <= self.now, !self.isLost(), !self.losesRelease(operation, lease, isRequest: true)
        else { return }
        let extra = own.slowUntil > self.now ? self.random.time(in: own.slowRequests) : 0
        self.events.add(
            .effect(program, life: own.life, lease: lease, number, operation),
            at: self.now + self.delay() + extra
        )
    }

    func apply(_ operation: LeaseStore.Operation, _ program: Int, _ life: Int, _ lease: Int, _ number: UInt64) {
        guard self.store.downUntil <= self.now else { return }
        let answer = self.store.apply(operation, lease)
        if case .write(let value, let expected) = operation {
            if case .written = answer {
                if LeaseClaim(value)?.state == .held { self.takers[lease] = (program, life) }
            }
            self.trace("store: p\(program) writes key \(lease) at \(expected): \(answer)")
        }
        let own = self.programs[program]
        guard own.life == life, own.answersCutUntil <= self.now, !self.isLost(),
            !self.losesRelease(operation, lease, isRequest: false)
        else { return }
        let extra = own.slowUntil > self.now ? self.random.time(in: own.slowAnswers) : 0
        self.events.add(
            .deliver(program, life: life, .answer(lease: lease, number, answer)),
            at: self.now + self.delay() + extra
        )
    }

    func emit(_ program: Int, _ life: Int, _ connection: Int) {
        guard self.programs[program].life == life, self.programs[program].connection == connection else { return }
        self.events.add(.upstream(program, life: life, connection: connection), at: self.now + 250_000_000)
        if self.programs[program].isPaused {
            let isWaiting = self.programs[program].inbox.contains { if case .upstream = $0 { true } else { false } }
            if !isWaiting { self.programs[program].inbox.append(.upstream(connection)) }
        } else {
            self.take(.upstream(connection), program)
        }
    }
}

import Cluster
import NIOCore

/// Faults that are planted in a driver: it believes that it may run for longer than its machine says.
extension LeaseRun {
    func plantAfter(_ answer: LeaseAnswer, _ actions: [LeaseMachine.Action], _ program: Int) {
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
    func endWrongBelief(_ program: Int) {
        guard self.programs[program].isFenceDeferred,
            self.programs[program].boottime(at: self.now) >= self.programs[program].wrongUntil
        else { return }
        self.close(program, "the end of a wrong belief")
    }

    /// Sets the driver's guard, unless it wrongly believes in a later one.
    func guardBy(_ guarding: LeaseGuard, _ program: Int) {
        self.programs[program].guarding = LeaseGuard(until: max(guarding.until, self.programs[program].wrongUntil))
    }
}

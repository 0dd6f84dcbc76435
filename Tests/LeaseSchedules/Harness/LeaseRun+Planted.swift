import Cluster
import NIOCore

/// Faults that are planted in a driver: it believes that it may run for longer than its machine says.
extension LeaseRun {
    func plantAfter(
        _ answer: LeaseAnswer,
        _ lease: Int,
        _ number: UInt64,
        _ actions: [LeaseSet.Action],
        _ program: Int
    ) {
        guard self.planted == .proofFromAnswer || self.planted == .readExtends,
            let request = self.programs[program].outstanding[lease], request.number == number,
            !actions.contains(where: \.isFence)
        else { return }
        let boottime = self.programs[program].boottime(at: self.now)
        let proof: Int64
        switch answer {
        case .written: proof = self.planted == .proofFromAnswer ? boottime : request.sent
        case .state(.value(let bytes, _)):
            guard self.planted == .readExtends, self.programs[program].connection != nil,
                String(buffer: bytes).contains(self.programs[program].ownTokenPrefix)
            else { return }
            proof = boottime
        case .state, .refused, .unknown, .unsent: return
        }
        if boottime - request.sent < self.settings.request {
            self.programs[program].beliefs[lease] = proof + self.settings.fence
        }
    }

    /// Returns whether a program believes that it holds a lease.
    func holds(_ lease: Int, _ program: Int) -> Bool {
        let boottime = self.programs[program].boottime(at: self.now)
        if self.programs[program].leases?.holds(lease, at: boottime) == true { return true }
        return self.programs[program].connection != nil && boottime < self.programs[program].beliefs[lease]
    }

    /// Returns whether a program believes that a read or a publish may begin.
    func isAllowed(_ program: Int) -> Bool {
        let boottime = self.programs[program].boottime(at: self.now)
        if self.programs[program].leases?.allows(at: boottime) == true { return true }
        return self.programs[program].connection != nil && boottime < self.programs[program].wrongUntil
    }

    /// Closes a program at the end of a wrong belief, and returns what follows.
    func endWrongBelief(_ program: Int, _ moment: LeaseMoment) -> [LeaseSet.Action] {
        guard self.programs[program].isFenceDeferred,
            self.programs[program].boottime(at: self.now) >= self.programs[program].wrongUntil
        else { return [] }
        self.close(program, "the end of a wrong belief")
        return self.programs[program].leases!.closed(at: moment)
    }
}

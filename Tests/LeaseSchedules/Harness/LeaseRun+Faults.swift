import Cluster
import NIOCore

/// The faults, when their times come.
extension LeaseRun {
    var holder: Int? {
        self.programs.indices.first { self.programs[$0].connection != nil && !self.programs[$0].isPaused }
    }

    func program(_ target: LeaseSchedule.Target) -> Int {
        switch target {
        case .holder: self.holder ?? self.random.index(self.programs.count)
        case .program(let program): program
        }
    }

    func strike(_ fault: LeaseSchedule.Fault) {
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
            guard self.programs[program].leases != nil else { return }
            for lease in self.takers.indices {
                guard let request = self.programs[program].outstanding[lease] else { continue }
                let answer = LeaseProgram.Incoming.answer(lease: lease, request.number, .unknown)
                self.events.add(.deliver(program, life: self.programs[program].life, answer), at: self.now)
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
            self.store.begin(firstRevision: self.firstRevision)
            self.isTampered = true
        case .storeRollback(let writes):
            self.trace("the store loses its last \(writes) writes")
            self.store.lose(last: writes)
            self.isTampered = true
        case .edgeCut(let edge, let duration): self.disconnect(edge, duration)
        case .edgeDeaf(let edge, let duration):
            self.edges[edge].deafUntil = self.now + duration
        case .deletion:
            let lease = self.random.index(self.takers.count)
            self.trace("key \(lease) is deleted by hand")
            self.store.delete(lease)
            self.isTampered = true
        case .intrusion:
            let lease = self.random.index(self.takers.count)
            self.trace("another program writes to key \(lease)")
            self.store.put(ByteBuffer(string: #"{"host":"x"}"#), lease)
            self.isTampered = true
        }
    }

    func crash(_ program: Int, beginsAfter duration: Int64) {
        guard self.programs[program].leases != nil else { return }
        self.trace("p\(program) dies")
        self.close(program, "it has died")
        self.programs[program].leases = nil
        self.programs[program].life += 1
        self.events.add(.begin(program), at: self.now + duration)
    }
}

import Cluster
import Wire

/// What must be true after each event, and at the end.
extension LeaseRun {
    func checkHolders() {
        var live = 0
        for program in self.programs.indices where self.programs[program].isLive { live += 1 }
        guard live > 1 else { return self.checkLeases() }
        let names = self.programs.indices.filter { self.programs[$0].isLive }.map { "p\($0)" }
        self.fail(.twoHolders, "\(names.joined(separator: " and ")) run")
    }

    private func checkLeases() {
        for lease in self.takers.indices {
            var holders = 0
            for program in self.programs.indices {
                if self.holds(lease, program) { holders += 1 }
            }
            if holders > 1 { return self.fail(.sharedLease, "\(holders) programs hold lease \(lease)") }
        }
    }

    func beginCalm() {
        self.trace("nothing fails any more")
        self.isCalm = true
        self.store.downUntil = .min
        for edge in self.edges.indices {
            self.edges[edge].deafUntil = .min
            self.connect(edge)
        }
        for program in self.programs.indices {
            self.programs[program].requestsCutUntil = .min
            self.programs[program].answersCutUntil = .min
            self.programs[program].disconnectedUntil = .min
            self.programs[program].slowUntil = .min
            if self.programs[program].leases == nil {
                self.events.add(.begin(program), at: self.now)
            } else {
                self.events.add(.wake(program, life: self.programs[program].life), at: self.now)
            }
        }
        // What was sent before may change the key for some seconds more, and each change begins the wait anew.
        self.events.add(.check(.firstHolder), at: self.now + 4_200_000_000 + 15_000_000_000)
    }

    func check(_ check: Check) {
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
            if check == .steady, !self.isTampered,
                self.edges.contains(where: { $0.delivered?.epoch != self.steadyEpoch })
            {
                self.fail(.late, "an edge has no frame of epoch \(self.steadyEpoch)")
            }
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
            self.steadyEpoch = epoch ?? 0
            self.next(.lostRelease, after: self.random.time(from: 2, to: 3))
        case .lostRelease:
            if epoch != self.steadyEpoch { self.fail(.unsteady, "epoch \(epoch ?? 0) after \(self.steadyEpoch)") }
            self.lostReleases = (Set(self.takers.indices), areSent: self.random.chance(0.5))
            if let holder { self.stop(holder) }
            // A request's limit, and then as after any stop.
            self.next(.afterLostRelease, after: self.settings.request + 1_000_000_000)
        case .afterLostRelease:
            self.isOver = true
        }
    }

    func next(_ check: Check, after: Int64) { self.events.add(.check(check), at: self.now + after) }

    func fail(_ kind: LeaseViolation, _ text: String) {
        guard self.outcome.violation == nil else { return }
        self.trace("BROKEN: \(text)")
        self.outcome.violation = (kind, "at \(Self.seconds(self.now)): \(text)")
        self.isOver = true
    }

    func trace(_ text: @autoclosure () -> String) {
        if self.isTraced { self.outcome.trace.append("\(Self.seconds(self.now))  \(text())") }
    }

    static func seconds(_ time: Int64) -> String {
        let milliseconds = time.magnitude / 1_000_000
        return "\(time < 0 ? "-" : "")\(milliseconds / 1_000).\("\(1_000 + milliseconds % 1_000)".dropFirst()) s"
    }
}

import Feeds
import NIOCore
import Wire

/// The edges, their messages and their requests.
extension LeaseRun {
    private var moment: NIODeadline { .uptimeNanoseconds(1_000_000_000 + UInt64(self.now)) }

    func connect(_ edge: Int) {
        guard !self.edges[edge].isConnected else { return }
        self.edges[edge].isConnected = true
        self.edges[edge].connection += 1
        // An edge that forgets the epochs at each connection takes old frames.
        if self.planted == .forgetfulEdge { self.edges[edge].machine = EdgeMachine() }
        self.perform(self.edges[edge].machine.connected(now: self.moment), edge: edge)
    }

    func disconnect(_ edge: Int, _ duration: Int64) {
        self.trace("edge \(edge) is without NATS for \(Self.seconds(duration))")
        self.edges[edge].isConnected = false
        self.edges[edge].machine.disconnected()
        self.events.add(.edgeConnects(edge), at: self.now + duration)
    }

    /// Hands a message to an edge.
    func arrive(_ edge: Int, connection: Int, _ message: LeaseMessage) {
        guard self.edges[edge].isConnected, self.edges[edge].connection == connection else { return }
        let now = self.moment
        let epoch = message.epoch ?? self.edges[edge].heard
        if epoch >= self.edges[edge].heard { (self.edges[edge].heard, self.edges[edge].newest) = (epoch, self.now) }
        let before = self.edges[edge].machine.refused
        let actions =
            switch message {
            case .frame(let frame): self.edges[edge].machine.received(frame, now: now)
            case .beat(let beat): self.edges[edge].machine.received(beat, now: now)
            case .snapshot(let snapshot, let number):
                self.edges[edge].machine.answered(snapshot, request: number, now: now)
            case .history(let answer, let number):
                self.edges[edge].machine.answered(answer, request: number, now: now)
            }
        self.outcome.counts.refused += Int(self.edges[edge].machine.refused - before)
        self.perform(actions, edge: edge)
    }

    func edgeTimer(_ edge: Int, version: Int) {
        guard self.edges[edge].timerVersion == version else { return }
        self.perform(self.edges[edge].machine.timeReached(now: self.moment), edge: edge)
    }

    private func perform(_ actions: [EdgeMachine.Action], edge: Int) {
        for action in actions {
            switch action {
            case .askSnapshot(let request, let number): self.ask(.snapshot(request, number: number), edge)
            case .askHistory(let position, let number): self.ask(.history(position, number: number), edge)
            case .begin(let position):
                self.trace("edge \(edge) begins at \(position.epoch):\(position.frame)")
                self.checkEpoch(position.epoch, edge)
                self.edges[edge].start = position
            case .state(let snapshot): self.checkEpoch(snapshot.position.epoch, edge)
            case .deliver(let frame): self.deliver(frame, edge)
            case .present: self.checkPresence(edge)
            case .gap(let hole): self.trace("edge \(edge) has a gap: \(hole)")
            case .silent, .unanswered: break
            }
        }
        self.edges[edge].timerVersion += 1
        guard let deadline = self.edges[edge].machine.deadline else { return }
        let at = self.now + max(0, (deadline - self.moment).nanoseconds)
        self.events.add(.edgeTimer(edge, version: self.edges[edge].timerVersion), at: at)
    }

    private func deliver(_ frame: ClusterFrame, _ edge: Int) {
        self.outcome.counts.accepted += 1
        self.checkEpoch(frame.position.epoch, edge)
        let before = self.edges[edge].start ?? self.edges[edge].delivered
        self.edges[edge].start = nil
        self.edges[edge].delivered = frame.position
        if let before, before.epoch == frame.position.epoch, before.frame + 1 != frame.position.frame {
            self.fail(.order, "edge \(edge) puts frame \(frame.position.frame) behind frame \(before.frame)")
        }
    }

    private func checkEpoch(_ epoch: UInt64, _ edge: Int) {
        guard epoch < self.edges[edge].heard else { return self.edges[edge].heard = epoch }
        self.fail(.staleFrame, "edge \(edge) takes epoch \(epoch) after \(self.edges[edge].heard)")
    }

    private func checkPresence(_ edge: Int) {
        self.checkEpoch(self.edges[edge].machine.position?.epoch ?? 0, edge)
        let age = self.now - self.edges[edge].newest
        guard age > self.edges[edge].machine.settings.silence.nanoseconds else { return }
        self.fail(.staleFrame, "edge \(edge) is live \(Self.seconds(age)) after the newest message")
    }

    // MARK: Network

    private func canReach(_ edge: Int) -> Bool {
        self.edges[edge].isConnected && self.edges[edge].deafUntil <= self.now && !self.isLost()
    }

    private func ask(_ request: LeaseRequest, _ edge: Int) {
        guard self.canReach(edge) else { return }
        let connection = self.edges[edge].connection
        for program in self.programs.indices where self.programs[program].requestsCutUntil <= self.now {
            let incoming = LeaseProgram.Incoming.request(request, edge: edge, connection: connection)
            self.events.add(
                .deliver(program, life: self.programs[program].life, incoming),
                at: self.now + self.delay()
            )
        }
    }

    /// Sends a frame with what has been read, and a heartbeat.
    func publish(_ program: Int) {
        let frame = self.programs[program].makeFrame()
        for edge in self.edges.indices {
            let extra = self.slowness(program)
            // A frame may come twice, and after a later one.
            for _ in 0..<(self.random.chance(0.02) ? 2 : 1) { self.send(.frame(frame), from: program, to: edge, extra) }
            let beat = ClusterBeat(position: frame.position, sent: 0, member: "p\(program)")
            self.send(.beat(beat), from: program, to: edge, extra)
        }
    }

    func answer(_ request: LeaseRequest, _ program: Int, edge: Int, connection: Int) {
        let position = self.programs[program].position
        let message: LeaseMessage
        switch request {
        case .snapshot(let request, let number):
            guard request.epoch <= position.epoch else { return }
            let name = "p\(program)"
            message = .snapshot(
                ClusterSnapshot(position: position, sent: 0, member: name, lines: ByteBuffer()),
                request: number
            )
        case .history(let from, let number):
            guard from.epoch <= position.epoch else { return }
            message = .history(self.programs[program].history(after: from), request: number)
        }
        guard self.edges[edge].connection == connection else { return }
        self.send(message, from: program, to: edge, self.slowness(program))
    }

    private func slowness(_ program: Int) -> Int64 {
        let own = self.programs[program]
        return own.slowUntil > self.now ? self.random.time(in: own.slowRequests) : 0
    }

    private func send(_ message: LeaseMessage, from program: Int, to edge: Int, _ extra: Int64) {
        let own = self.programs[program]
        guard own.requestsCutUntil <= self.now, own.disconnectedUntil <= self.now, self.canReach(edge) else { return }
        let connection = self.edges[edge].connection
        self.events.add(.message(edge, connection: connection, message), at: self.now + self.delay() + extra)
    }
}

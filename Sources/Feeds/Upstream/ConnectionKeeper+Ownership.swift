import Market
import NIOCore

extension ConnectionKeeper {
    /// How often to look whose the key is; a takeover may take 2 s in all.
    static let patrolInterval: TimeAmount = .milliseconds(500)

    /// Begins the next attempt, at whoever has the trades now.
    func next() {
        guard self.files.hasLock else {
            // Nobody else to ask; what was before the start counts all the same.
            guard !self.isOwner, self.files.hasLedger else { return self.connectToService() }
            return self.becomeOwner()
        }
        self.look(self.files.claim) { claim in
            switch claim {
            case .mine: self.isOwner ? self.connectToService() : self.becomeOwner()
            case .others(let owner): self.attach(to: owner)
            }
        }
    }

    /// Looks whether the key has changed hands, now and twice a second from now on.
    func patrol() {
        guard self.files.hasLock else { return }
        // A loop does not take back a timer that is due in the same turn as what cancels it.
        if case .finished = self.state { return }
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.patrolTimer = self.loop.scheduleTask(in: Self.patrolInterval) { loopBound.value.patrol() }
        // One question at a time, where the disk is slow.
        guard !self.files.isClaiming else { return }
        switch self.state {
        case .connected, .pausing: break
        case .connecting where self.attachment != nil: break
        case .idle, .looking, .connecting, .finished: return
        }
        self.files.claim { [weak self] claim in self?.patrolled(claim) }
    }

    /// Takes whose the key is, whatever has happened since it was asked.
    private func patrolled(_ claim: KeyClaim) {
        switch self.state {
        case .connected(_, let channel):
            guard (claim == .mine) != self.isOwner, !self.isStopping else { return }
            self.isOwner = false
            // Its end, which the handler tells of, leads to the other way. The peer may be gone: no closing handshake.
            channel.close(mode: .all, promise: nil)
        case .pausing(let timer):
            guard (claim == .mine) != self.isOwner else { return }
            timer.cancel()
            self.next()
        case .connecting where self.attachment != nil:
            // What answers at the address of a relay that is gone may hang, and an attempt has more time than a takeover.
            guard claim == .mine else { return }
            self.abandonAttempt()
            self.becomeOwner()
        case .idle, .looking, .connecting, .finished:
            break
        }
    }

    // MARK: The key is ours

    /// Takes the key: waits what is left of what a program before this one, or this one before its restart, had to wait.
    private func becomeOwner() {
        self.isOwner = true
        self.relayFailures = 0
        let isTakeover = self.formerOwner != nil
        if let pid = self.formerOwner {
            self.reason = "the tickertape that held the key (pid \(pid)) has gone"
            self.cause = .relay
        }
        self.formerOwner = nil
        self.follow(nil)
        self.look(self.files.load) { memory in self.begin(with: memory, isTakeover: isTakeover) }
    }

    /// Begins the first attempt, as far as what was before lets it.
    private func begin(with memory: LadderMemory?, isTakeover: Bool) {
        let settings = self.ladder.settings
        let now = self.wallClock()
        guard var memory, let wait = memory.wait(at: now, isTakeover: isTakeover, settings: settings) else {
            self.ladder = ReconnectLadder(settings: settings)
            return self.connectToService()
        }
        self.ladder = ReconnectLadder(settings: settings, memory: memory, isTakeover: isTakeover)
        guard wait > 0 else { return self.connectToService() }
        if now < memory.at {
            // The clock was set back: from here on it counts.
            memory.at = now
            self.files.save(memory)
        }
        let reason: String
        if isTakeover, memory.isHandedOver {
            reason =
                "programs with this key took over from each other too often: at most \(AttemptBudget.attempts) connections "
                + "are begun within \(AttemptBudget.span / 1_000_000_000) s"
        } else {
            let earlier = isTakeover ? "waiting as the tickertape before this one did" : "waiting as before the restart"
            reason = "\(earlier): \(memory.reason.map(self.redact) ?? "the last attempt was a moment ago")"
        }
        let cause: FeedStatus.Cause =
            switch memory.kind {
            case .reconnecting: .other
            case .rateLimited: .rateLimited
            case .keyInUse: .keyInUse
            }
        self.report(self.phase(of: memory.kind, until: now + wait), reason, cause)
        // What the run before this one was told, nobody knows any more in full.
        self.leaveAlone(for: wait, reason)
        self.retry(in: wait)
    }

    // MARK: The key is another program's

    private func attach(to owner: KeyOwner?) {
        self.isOwner = false
        self.formerOwner = owner?.pid ?? self.formerOwner
        guard let owner, case .at(let relay) = owner.relay else { return self.wait(for: owner) }
        let name = "another tickertape (pid \(owner.pid))"
        let attachment = Attachment(owner: owner, via: relay.place)
        if self.attachment?.owner != owner {
            self.follow(attachment)
            self.logger.notice("The key is held by another tickertape", metadata: ["pid": "\(owner.pid)"])
        }
        do {
            let connector = try self.connector(to: relay)
            self.report(.connecting, "\(name) holds the key: its relay at \(relay.place) has the trades", nil)
            self.connect(with: connector)
        } catch {
            self.detached(UpstreamFailure("the relay of \(name) cannot be used: \(error)"))
        }
    }

    /// The other program has no relay that we know of: nothing but looking again.
    private func wait(for owner: KeyOwner?) {
        self.follow(nil)
        let who = owner.map { " (pid \($0.pid))" } ?? ""
        let until = self.wallClock() + Self.patrolInterval.nanoseconds
        let words: String
        if owner?.relay == .off {
            words = "another tickertape\(who) holds this key and has no relay: stop it, or start it with --relay"
            if self.reason != words { self.report(.keyInUse(retryAt: until), words, .keyInUse) }
        } else {
            words = "waiting for the other tickertape\(who) to open its relay"
            if self.reason != words { self.report(.connecting, words, nil) }
        }
        self.reason = words
        self.retry(in: Self.patrolInterval.nanoseconds)
    }

    /// The relay of the other program is reached.
    func attached() {
        self.relayFailures = 0
        guard let attachment else { return }
        self.logger.notice("Attached to another tickertape's relay", metadata: ["relay": "\(attachment.via)"])
    }

    /// The way through the other program's relay has ended, or did not come to be.
    func detached(_ failure: UpstreamFailure) {
        guard self.files.hasLock else { return self.pauseDetached(failure) }
        self.look(self.files.claim) { claim in
            claim == .mine ? self.becomeOwner() : self.pauseDetached(failure)
        }
    }

    private func pauseDetached(_ failure: UpstreamFailure) {
        self.isOwner = false
        self.relayFailures += 1
        // The patrol notices in time when there is nobody to wait for any more.
        let wait = Self.patrolInterval.nanoseconds << Int64(min(self.relayFailures - 1, 2))
        let who = self.attachment.map { " of pid \($0.owner.pid)" } ?? ""
        self.follow(nil)
        self.report(
            .reconnecting(attempt: self.relayFailures, retryAt: self.wallClock() + wait),
            "the relay\(who), which holds the key: \(failure.description)",
            .relay
        )
        self.retry(in: wait)
    }

    /// Notes through whose relay the trades come, or shall; `nil` for the service itself.
    func follow(_ attachment: Attachment?) {
        guard self.attachment != attachment else { return }
        self.attachment = attachment
        self.delegate?.attachmentChanged(attachment)
    }
}

import Logging
import Market
import NIOCore

// The waits between attempts.
extension ConnectionKeeper {
    func pause(_ pause: ReconnectLadder.Pause, reason: String) {
        let now = self.wallClock()
        self.files.save(self.ladder.memory(of: pause, at: now, reason: reason))
        self.report(
            self.phase(of: pause.kind, until: now + pause.wait),
            self.words(pause.kind, reason: reason),
            pause.kind == .keyInUse ? .keyInUse : self.cause
        )
        switch pause.kind {
        case .reconnecting: break
        case .rateLimited, .keyInUse: self.leaveAlone(for: pause.wait, self.words(pause.kind, reason: reason))
        }
        self.pause(for: pause.wait)
    }

    /// Notes that the wait which begins now is the service's wish, or is there to leave the key to somebody else.
    func leaveAlone(for wait: Int64, _ reason: String) {
        self.leftAlone = (self.wallClock() + wait, reason)
    }

    func phase(of kind: ReconnectLadder.Pause.Kind, until: Int64) -> FeedStatus.Phase {
        switch kind {
        case .reconnecting: .reconnecting(attempt: max(self.ladder.failures, 1), retryAt: until)
        case .rateLimited: .rateLimited(until: until)
        case .keyInUse: .keyInUse(retryAt: until)
        }
    }

    private func words(_ kind: ReconnectLadder.Pause.Kind, reason: String) -> String {
        switch kind {
        case .reconnecting, .rateLimited: reason
        case .keyInUse:
            "connections are accepted and die within seconds: is the key used by another program? (\(reason))"
        }
    }

    /// Waits, then tries again.
    func pause(for wait: Int64) {
        if let reason {
            // The state that is reported says the same to people.
            self.logger.debug(
                "The connection ended",
                metadata: ["reason": "\(reason)", "retry_in_ms": "\(wait / 1_000_000)"]
            )
        }
        self.retry(in: wait)
    }

    /// Waits without a word, then asks again whose the key is.
    func retry(in wait: Int64) {
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.pauseNumber += 1
        self.pausedAt = self.loop.now
        let number = self.pauseNumber
        self.state = .pausing(
            self.loop.scheduleTask(in: .nanoseconds(wait)) {
                // A loop does not take back a timer that is due in the same turn as what cancels it.
                guard case .pausing = loopBound.value.state, number == loopBound.value.pauseNumber else { return }
                loopBound.value.next()
            }
        )
    }
}

// What a connection has proved.
extension ConnectionKeeper {
    /// Looks now and then whether the connection has been good for long enough to forget what was before.
    func armProof() {
        let interval = max(self.ladder.settings.brief, 100_000_000)
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.proof = self.loop.scheduleTask(in: .nanoseconds(interval)) {
            let keeper = loopBound.value
            guard let connection = keeper.connection, !keeper.judge(connection) else { return }
            keeper.armProof()
        }
    }

    /// Writes down how good the connection has been so far; returns whether there is nothing more to prove.
    func judge(_ connection: any KeptConnection) -> Bool {
        guard self.files.hasLedger else { return true }
        if self.forgetsAttempts(for: connection) { return true }
        if self.isSound(connection) { self.files.save(self.ladder.memory(ofSoundConnectionAt: self.attemptedAt)) }
        return false
    }

    /// Writes down, for the program that takes the key over, that the connection stood until this program's end.
    func handOver(_ connection: any KeptConnection) {
        guard self.files.hasLedger, !self.forgetsAttempts(for: connection) else { return }
        self.files.save(
            self.ladder.memory(ofHandingOverAt: self.attemptedAt, isSound: self.isSound(connection))
        )
    }

    private func forgetsAttempts(for connection: any KeptConnection) -> Bool {
        guard connection.tradedFor >= self.ladder.settings.settled else { return false }
        self.ladder.connectionSettled()
        self.files.clear()
        return true
    }

    private func isSound(_ connection: any KeptConnection) -> Bool {
        guard let openedAt else { return false }
        let brief = self.ladder.settings.brief
        return (self.loop.now - openedAt).nanoseconds >= 2 * brief && connection.tradedFor >= brief
    }
}

import Logging
import Market
import NIOCore

// The waits between attempts.
extension ReconnectingConnection {
    func pause(_ pause: ReconnectBackoff.Pause, reason: String) {
        let now = self.context.wallClock()
        self.backoff.paused(pause, at: now, reason: reason)
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

    /// Waits until the budget of attempts allows the next one.
    func waitForBudget(_ wait: Int64) {
        let budget = self.backoff.settings.budget
        let words =
            "\(budget.attempts) connections were begun within \(budget.span / 1_000_000_000) s, and the service bans "
            + "an address that begins more"
        let reason = self.reason.map { "\($0); \(words)" } ?? words
        self.report(.rateLimited(until: self.context.wallClock() + wait), reason, self.cause ?? .rateLimited)
        self.leaveAlone(for: wait, words)
        self.retry(in: wait)
    }

    /// Waits for the end of the time for which the service wants no attempt after a second connection's one; returns
    /// whether there is such a time.
    func waitsForBan() -> Bool {
        let now = self.context.wallClock()
        let wait = self.bannedFor
        guard wait > 0, let ban else {
            self.ban = nil
            return false
        }
        self.report(.rateLimited(until: now.addingCapped(wait)), ban.reason, .rateLimited)
        self.leaveAlone(for: wait, ban.reason)
        self.retry(in: wait)
        return true
    }

    /// Notes that the service asked for the wait that begins now, or that the wait leaves the key to another program.
    func leaveAlone(for wait: Int64, _ reason: String) {
        self.leftAlone = (self.context.wallClock() + wait, reason)
    }

    func phase(of kind: ReconnectBackoff.Pause.Kind, until: Int64) -> FeedStatus.Phase {
        switch kind {
        case .reconnecting: .reconnecting(attempt: max(self.backoff.backoff.failures, 1), retryAt: until)
        case .rateLimited: .rateLimited(until: until)
        case .keyInUse: .keyInUse(retryAt: until)
        }
    }

    private func words(_ kind: ReconnectBackoff.Pause.Kind, reason: String) -> String {
        switch kind {
        case .reconnecting, .rateLimited: reason
        case .keyInUse:
            "connections are accepted and die within seconds: is the key used by another program? (\(reason))"
        }
    }

    /// Logs the reason, then waits and tries again.
    func pause(for wait: Int64) {
        if let reason {
            // People read the reason in the reported status, so the log has it at debug level only.
            self.context.logger.debug(
                "The connection ended",
                metadata: ["reason": "\(reason)", "retryMilliseconds": "\(wait / 1_000_000)"]
            )
        }
        self.retry(in: wait)
    }

    /// Waits without logging, then begins the next attempt.
    func retry(in wait: Int64) {
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        self.pauseNumber += 1
        self.pausedAt = self.loop.now
        let number = self.pauseNumber
        self.state = .pausing(
            self.loop.scheduleTask(in: .nanoseconds(wait)) {
                // A loop does not cancel a timer that is due in the same turn.
                guard case .pausing = loopBound.value.state, number == loopBound.value.pauseNumber else { return }
                loopBound.value.next()
            }
        )
    }
}

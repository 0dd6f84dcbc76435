import Market
import NIOCore

/// The backoff of one connection, with the part of its state that outlives the program: the number of failed attempts,
/// the wait, and whether the present connection has proved good.
///
/// Belongs to one event loop.
final class PersistentBackoff {
    /// The rest of a wait that an earlier program began. It precedes the first attempt.
    struct Remainder {
        var kind: ReconnectBackoff.Pause.Kind
        /// Nanoseconds.
        var wait: Int64
        var reason: String
        var cause: FeedStatus.Cause
    }

    private(set) var backoff: ReconnectBackoff
    private let memory: AttemptMemory
    /// When the newest attempt began; wall clock, ns since 1970.
    private var attemptedAt: Int64 = 0

    init(_ settings: ReconnectBackoff.Settings, _ holding: KeyHolding, loop: any EventLoop) {
        self.backoff = ReconnectBackoff(settings: settings)
        self.memory = AttemptMemory(holding, loop: loop)
    }

    var settings: ReconnectBackoff.Settings { self.backoff.settings }

    /// Whether attempts are remembered across a restart.
    var isPersistent: Bool { self.memory.isKept }

    // MARK: Attempts

    /// Loads the state that an earlier program saved.
    ///
    /// - Parameters:
    ///   - isTakeover: whether this program waited for the earlier one to release the key.
    ///   - now: the wall clock, ns since 1970.
    ///   - redact: removes secrets from a reason.
    ///   - then: called with the rest of the wait, or `nil` if the wait is over.
    func load(
        isTakeover: Bool,
        now: @escaping () -> Int64,
        redact: @escaping (String) -> String,
        then: @escaping (Remainder?) -> Void
    ) {
        self.memory.load { memory in
            then(memory.flatMap { self.remainder($0, isTakeover: isTakeover, now: now(), redact: redact) })
        }
    }

    private func remainder(
        _ memory: SavedBackoff,
        isTakeover: Bool,
        now: Int64,
        redact: (String) -> String
    ) -> Remainder? {
        var memory = memory
        let settings = self.settings
        guard let wait = memory.wait(at: now, isTakeover: isTakeover, settings: settings) else { return nil }
        self.backoff = ReconnectBackoff(settings: settings, memory: memory, isTakeover: isTakeover)
        guard wait > 0 else { return nil }
        if now < memory.at {
            // The clock was set back: the wait counts from now.
            memory.at = now
            self.memory.save(memory)
        }
        let reason: String
        if isTakeover, memory.isHandedOver {
            reason =
                "programs with this key took over from each other too often: at most \(settings.budget.attempts) connections "
                + "are begun within \(settings.budget.span / 1_000_000_000) s"
        } else {
            let earlier = isTakeover ? "waiting as the tickertape before this one did" : "waiting as before the restart"
            reason = "\(earlier): \(memory.reason.map(redact) ?? "the last attempt was a moment ago")"
        }
        let cause: FeedStatus.Cause =
            switch memory.kind {
            case .reconnecting: .other
            case .rateLimited: .rateLimited
            case .keyInUse: .keyInUse
            }
        return Remainder(kind: memory.kind, wait: wait, reason: reason, cause: cause)
    }

    /// Notes that an attempt is about to begin, and calls `then` when that is saved. A program that is killed during
    /// the attempt can save nothing afterwards.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    func attempted(at now: Int64, _ then: @escaping () -> Void) {
        self.attemptedAt = now
        self.backoff.attempted(at: now)
        self.memory.save(self.backoff.memory(ofAttemptAt: now), then)
    }

    /// Returns the wait for which the budget delays the next attempt, ns.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    func budgetWait(at now: Int64) -> Int64 {
        self.backoff.clockRead(now)
        return self.backoff.budgetWait(at: now)
    }

    /// Takes the end of an attempt or a connection; returns the wait before the next attempt (``ReconnectBackoff``).
    func connectionEnded(
        tradedFor: Int64,
        livedFor: Int64?,
        retryAfter: Int64?,
        chance: Double
    ) -> ReconnectBackoff.Pause {
        self.backoff.connectionEnded(tradedFor: tradedFor, livedFor: livedFor, retryAfter: retryAfter, chance: chance)
    }

    /// Takes a refusal for too many attempts; returns the wait.
    func rateLimited(retryAfter: Int64?) -> ReconnectBackoff.Pause { self.backoff.rateLimited(retryAfter: retryAfter) }

    /// Takes a refusal of the key; returns the wait in ns, or `nil` if a person has to act.
    func keyRejected() -> Int64? { self.backoff.keyRejected() }

    /// Saves a wait that begins now.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    func paused(_ pause: ReconnectBackoff.Pause, at now: Int64, reason: String) {
        self.memory.save(self.backoff.memory(of: pause, at: now, reason: reason))
    }

    // MARK: Good connections

    /// Notes that a connection has opened. If the settings ask for no trades, the earlier failures are forgotten, by the
    /// next program, too.
    func connectionOpened() { if self.settings.settled == 0 { _ = self.forgetsAttempts(tradedFor: 0) } }

    /// Saves how good the connection has been so far; returns whether nothing is left to prove.
    ///
    /// - Parameters:
    ///   - tradedFor: from its first trade to its newest, ns.
    ///   - livedFor: since it opened, ns.
    func judge(tradedFor: Int64, livedFor: Int64?) -> Bool {
        guard self.isPersistent else { return true }
        if self.forgetsAttempts(tradedFor: tradedFor) { return true }
        if self.isSound(tradedFor: tradedFor, livedFor: livedFor) {
            self.memory.save(self.backoff.memory(ofSoundConnectionAt: self.attemptedAt))
        }
        return false
    }

    /// Saves, for the next program with the key, that the connection was open until this program's end.
    func handOver(tradedFor: Int64, livedFor: Int64?) {
        guard self.isPersistent, !self.forgetsAttempts(tradedFor: tradedFor) else { return }
        let isSound = self.isSound(tradedFor: tradedFor, livedFor: livedFor)
        self.memory.save(self.backoff.memory(ofHandingOverAt: self.attemptedAt, isSound: isSound))
    }

    private func forgetsAttempts(tradedFor: Int64) -> Bool {
        guard tradedFor >= self.settings.settled else { return false }
        self.backoff.connectionSettled()
        if self.settings.budget.isStrict {
            self.memory.save(self.backoff.memory(ofSettledConnectionAt: self.attemptedAt))
        } else {
            self.memory.clear()
        }
        return true
    }

    private func isSound(tradedFor: Int64, livedFor: Int64?) -> Bool {
        guard let livedFor else { return false }
        return livedFor >= 2 * self.settings.brief && tradedFor >= self.settings.brief
    }

    /// Waits for a write under way.
    func close(_ then: @escaping () -> Void) { self.memory.close(then) }
}

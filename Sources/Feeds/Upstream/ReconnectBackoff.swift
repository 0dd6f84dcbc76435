import Market

/// The wait before the next attempt. A state machine; time and chance are arguments.
///
/// The steps double from `first` to `limit`. Each wait is drawn evenly from zero to the step ("full jitter") but is
/// never shorter than `floor`, so that many programs that were cut off together do not return together, and none
/// returns at once. Only a connection that carried trades for `settled` resets the backoff to its first step. A
/// connection that opens and ends at once is a failure like any other, and so is one that the service closes politely.
///
/// A ``SavedBackoff`` holds the state that outlives the program. A backoff made from one waits whole steps until a
/// connection has settled: the time of a restart is random enough, and a program that restarts again and again must not
/// make more attempts than one that keeps running.
package struct ReconnectBackoff: Sendable {
    /// The settings of the backoff; times in nanoseconds.
    package struct Settings: Sendable, Equatable {
        package var first: Int64 = 500_000_000
        package var limit: Int64 = 60_000_000_000
        /// The shortest wait, unless a whole step is shorter.
        package var floor: Int64 = 100_000_000
        /// How long a connection must have carried trades to count as good; with 0 it only has to open.
        package var settled: Int64 = 60_000_000_000
        /// The wait after a 429 without `Retry-After`; it doubles up to `rateLimitedLimit`.
        package var rateLimited: Int64 = 60_000_000_000
        package var rateLimitedLimit: Int64 = 300_000_000_000
        /// A connection that ends within this time of its opening counts as brief.
        package var brief: Int64 = 5_000_000_000
        /// After this number of brief connections in a row, the key counts as used elsewhere.
        package var briefLimit = 3
        /// How long to leave the key to its other user.
        package var keyInUse: Int64 = 60_000_000_000
        /// How long to wait after the key was rejected; `nil` ends the attempts.
        package var rejectedKey: Int64?

        /// The longest wait that a service can impose, in nanoseconds.
        package var longestRetryAfter: Int64 = 3_600_000_000_000

        /// The most attempts within a time.
        package var budget = AttemptBudget.ofKey

        package init() {}

        /// The longest wait that this program chooses by itself.
        var longest: Int64 { max(self.limit, self.rateLimitedLimit, self.keyInUse, self.budget.span) }
    }

    /// The wait that follows the end of an attempt or a connection.
    package struct Pause: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case reconnecting
            case rateLimited = "rate-limited"
            case keyInUse = "key-in-use"
        }

        package var kind: Kind
        /// The wait before the next attempt, in nanoseconds.
        package var wait: Int64
        /// The same for a program that starts meanwhile: without jitter, and with the time that earlier jitter has
        /// saved.
        package var whole: Int64
    }

    package let settings: Settings
    /// The number of failures since the last good connection.
    package private(set) var failures = 0
    private var refusals = 0
    /// The number of brief connections in a row.
    private var briefLives = 0
    /// The time that jitter has saved so far, ns. A restarted program waits it as well, at most one step of it, so that
    /// a restart loop never makes more attempts than whole steps would.
    private var early: Int64 = 0
    /// Whether waits are whole steps, because the program was restarted amid failures.
    private var isWhole = false
    /// When the newest attempts began, those of earlier runs included; wall clock, ns since 1970.
    private var recent: [Int64] = []

    /// - Parameters:
    ///   - memory: the state that an earlier run saved, if it still counts.
    ///   - isTakeover: whether the program has waited for another one to release the key.
    package init(settings: Settings = Settings(), memory: SavedBackoff? = nil, isTakeover: Bool = false) {
        self.settings = settings
        guard let memory else { return }
        self.recent = memory.recent
        // An attempt is saved as failed before it is made. One whose connection was handed over did not fail.
        self.failures = isTakeover && memory.isHandedOver ? max(0, memory.failures - 1) : memory.failures
        self.refusals = memory.refusals
        self.briefLives = memory.briefLives
        self.isWhole = true
    }

    /// Takes the end of an attempt or a connection; returns the wait before the next attempt.
    ///
    /// - Parameters:
    ///   - tradedFor: nanoseconds from the connection's first trade to its last, 0 if it had none.
    ///   - livedFor: nanoseconds from the opening of the WebSocket to its end, `nil` if it never opened.
    ///   - retryAfter: the wait that the service asked for, in nanoseconds. The result is not shorter, but at most
    ///     ``Settings/longestRetryAfter`` counts.
    ///   - chance: uniformly distributed from 0 to 1.
    package mutating func connectionEnded(
        tradedFor: Int64,
        livedFor: Int64? = nil,
        retryAfter: Int64? = nil,
        chance: Double
    ) -> Pause {
        var pause = self.climbed(tradedFor: tradedFor, livedFor: livedFor, chance: chance)
        if let retryAfter {
            let asked = min(retryAfter, self.settings.longestRetryAfter)
            pause.wait = max(pause.wait, asked)
            pause.whole = max(pause.whole, asked)
        }
        return pause
    }

    private mutating func climbed(tradedFor: Int64, livedFor: Int64?, chance: Double) -> Pause {
        if tradedFor >= max(self.settings.settled, 1) { self.connectionSettled() }
        self.failures += 1
        // Any other failure ends the row of brief connections.
        self.briefLives = livedFor.map { $0 < self.settings.brief } == true ? self.briefLives + 1 : 0
        if self.briefLives >= self.settings.briefLimit {
            return Pause(kind: .keyInUse, wait: self.settings.keyInUse, whole: self.settings.keyInUse)
        }
        let step = self.step(after: self.failures)
        let drawn = max(min(self.settings.floor, step), Int64(Double(step) * min(max(chance, 0), 1)))
        let whole = step + min(self.early, step)
        guard !self.isWhole else { return Pause(kind: .reconnecting, wait: step, whole: whole) }
        self.early = min(self.early + step - drawn, self.settings.limit)
        return Pause(kind: .reconnecting, wait: drawn, whole: whole)
    }

    /// Takes a refusal for too many attempts (HTTP 429); returns the wait.
    ///
    /// - Parameter retryAfter: the wait that the service asked for, in nanoseconds; at most
    ///   ``Settings/longestRetryAfter`` counts.
    package mutating func rateLimited(retryAfter: Int64?) -> Pause {
        self.failures += 1
        self.refusals += 1
        let wait: Int64
        if let retryAfter, retryAfter > 0 {
            wait = min(retryAfter, self.settings.longestRetryAfter)
        } else {
            let limit = self.settings.rateLimitedLimit
            wait = self.settings.rateLimited.doubled(times: self.refusals - 1, limit: limit)
        }
        return Pause(kind: .rateLimited, wait: wait, whole: wait)
    }

    /// Takes a rejected key; returns the wait before it is tried again, or `nil` if only a person can help.
    package mutating func keyRejected() -> Int64? {
        self.failures += 1
        self.briefLives = 0
        return self.settings.rejectedKey
    }

    /// Notes that the connection has carried trades for `settled`: earlier failures no longer count.
    package mutating func connectionSettled() {
        self.failures = 0
        self.refusals = 0
        self.briefLives = 0
        self.early = 0
        self.isWhole = false
    }

    /// Notes that an attempt begins now.
    ///
    /// - Parameter at: wall clock, ns since 1970.
    package mutating func attempted(at: Int64) {
        self.recent.append(at)
        self.recent.removeFirst(max(0, self.recent.count - self.settings.budget.attempts))
    }

    /// Takes the wall clock, ns since 1970. After it was set back, attempts in the future count as made now, once: the
    /// wait for the budget must come to its end.
    package mutating func clockRead(_ now: Int64) {
        for index in self.recent.indices where self.recent[index] > now { self.recent[index] = now }
    }

    /// Returns the wait for which a strict budget delays the next attempt, in nanoseconds.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    package func budgetWait(at now: Int64) -> Int64 {
        self.settings.budget.isStrict ? self.settings.budget.wait(after: self.recent, at: now) : 0
    }

    /// Returns the number of attempts within the span of the budget.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    package func recentAttempts(at now: Int64) -> Int {
        self.recent.count { now - min($0, now) < self.settings.budget.span }
    }

    /// Returns the state to save when a connection has settled: nothing but the newest attempts.
    ///
    /// - Parameter at: when its attempt began, wall clock, ns since 1970.
    package func memory(ofSettledConnectionAt at: Int64) -> SavedBackoff {
        SavedBackoff(
            failures: 0,
            refusals: 0,
            briefLives: 0,
            kind: .reconnecting,
            at: at,
            wait: 0,
            reason: nil,
            recent: self.recent
        )
    }

    /// Returns the state to save when an attempt begins now. It counts the attempt as failed, since a killed program
    /// can save nothing afterwards.
    ///
    /// - Parameter at: wall clock, ns since 1970.
    package func memory(ofAttemptAt at: Int64) -> SavedBackoff {
        let step = self.step(after: self.failures + 1)
        return SavedBackoff(
            failures: self.failures + 1,
            refusals: self.refusals,
            briefLives: self.briefLives,
            kind: .reconnecting,
            at: at,
            wait: step + min(self.early, step),
            reason: nil,
            recent: self.recent
        )
    }

    /// Returns the state to save when a pause begins.
    ///
    /// - Parameter at: wall clock, ns since 1970.
    package func memory(of pause: Pause, at: Int64, reason: String?) -> SavedBackoff {
        SavedBackoff(
            failures: self.failures,
            refusals: self.refusals,
            briefLives: self.briefLives,
            kind: pause.kind,
            at: at,
            wait: pause.whole,
            reason: reason,
            recent: self.recent
        )
    }

    /// Returns the state to save when a connection has lived for twice `brief` and carried trades for `brief`. It was
    /// good, though not for long enough, so a program that quits and starts again waits the first step at most.
    ///
    /// - Parameter at: when its attempt began, wall clock, ns since 1970.
    package func memory(ofSoundConnectionAt at: Int64) -> SavedBackoff {
        var memory = self.memory(ofAttemptAt: at)
        memory.briefLives = 0
        memory.wait = min(memory.wait, self.settings.first)
        return memory
    }

    /// Returns the state to save when the program ends in good order while the connection is open.
    ///
    /// - Parameters:
    ///   - at: when its attempt began, wall clock, ns since 1970.
    ///   - isSound: whether it was good, as for ``memory(ofSoundConnectionAt:)``.
    package func memory(ofHandingOverAt at: Int64, isSound: Bool) -> SavedBackoff {
        var memory = isSound ? self.memory(ofSoundConnectionAt: at) : self.memory(ofAttemptAt: at)
        memory.isHandedOver = true
        return memory
    }

    private func step(after failures: Int) -> Int64 {
        self.settings.first.doubled(times: failures - 1, limit: self.settings.limit)
    }
}

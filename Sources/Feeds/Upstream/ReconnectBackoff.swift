/// How long to wait before the next attempt: a machine whose time and chance are arguments.
///
/// The steps double from `first` to `limit`, each drawn evenly from zero to the step ("full jitter") but never under
/// `floor`, so that many programs cut off together do not come back together, and none comes back without a wait at all.
/// Only a connection that carried trades for `settled` puts the ladder back to its first step: one that opens and dies at
/// once is a failure like any other, and so is one that the service closes politely.
///
/// What must outlive the program is a ``SavedBackoff``. A ladder made from one waits whole steps until a connection has
/// settled: the time of a restart is chance enough, and a program that is started again and again may not make more
/// attempts than one that runs.
package struct ReconnectBackoff: Sendable {
    /// The numbers; times in nanoseconds.
    package struct Settings: Sendable, Equatable {
        package var first: Int64 = 500_000_000
        package var limit: Int64 = 60_000_000_000
        /// No wait is shorter, unless a whole step is.
        package var floor: Int64 = 100_000_000
        /// How long a connection must have carried trades to count as good; with 0 it needs only to open.
        package var settled: Int64 = 60_000_000_000
        /// The wait after a 429 without `Retry-After`; doubles up to `rateLimitedLimit`.
        package var rateLimited: Int64 = 60_000_000_000
        package var rateLimitedLimit: Int64 = 300_000_000_000
        /// A connection that dies within this time of its opening died at once.
        package var brief: Int64 = 5_000_000_000
        /// After so many in a row that died at once the key is taken to be in use elsewhere.
        package var briefLimit = 3
        /// How long to leave the key to whoever uses it.
        package var keyInUse: Int64 = 60_000_000_000
        /// How long to wait after the key was rejected; `nil` ends it.
        package var rejectedKey: Int64?

        package init() {}

        /// The longest wait of all that this program chooses by itself.
        var longest: Int64 { max(self.limit, self.rateLimitedLimit, self.keyInUse) }
    }

    /// What the most that a service may ask for is, in nanoseconds.
    static let longestRetryAfter: Int64 = 3_600_000_000_000

    /// The wait that follows the end of an attempt or a connection.
    package struct Pause: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case reconnecting
            case rateLimited = "rate-limited"
            case keyInUse = "key-in-use"
        }

        package var kind: Kind
        /// Until the next attempt, in nanoseconds.
        package var wait: Int64
        /// The same for a program that is started meanwhile: without jitter, and without what jitter has won before.
        package var whole: Int64
    }

    package let settings: Settings
    /// Failures since the last good connection.
    package private(set) var failures = 0
    private var refusals = 0
    /// Connections in a row that died at once.
    private var briefLives = 0
    /// By how much jitter has brought the attempts forward; a program that is started again waits that as well, at most
    /// another step, so that no luck lets a restart loop make more attempts than whole steps would.
    private var early: Int64 = 0
    /// Whether the steps are whole, because the program was started again amid failures.
    private var isWhole = false
    /// When the newest attempts began, wall clock, ns since 1970; those of earlier runs too.
    private var recent: [Int64] = []

    /// - Parameters:
    ///   - memory: what an earlier run left, if that still counts.
    ///   - isTakeover: whether the program has waited for another one to give the key up.
    package init(settings: Settings = Settings(), memory: SavedBackoff? = nil, isTakeover: Bool = false) {
        self.settings = settings
        guard let memory else { return }
        self.recent = memory.recent
        // An attempt counts as failed before it is made; one whose connection was handed over did not fail.
        self.failures = isTakeover && memory.isHandedOver ? max(0, memory.failures - 1) : memory.failures
        self.refusals = memory.refusals
        self.briefLives = memory.briefLives
        self.isWhole = true
    }

    /// Takes the end of an attempt or a connection; returns the wait before the next.
    ///
    /// - Parameters:
    ///   - tradedFor: nanoseconds from the connection's first trade to its last, 0 if it had none.
    ///   - livedFor: nanoseconds from the opening of the WebSocket to its end, `nil` if it never opened.
    ///   - retryAfter: how long the service asked to be left alone, in nanoseconds; no wait is shorter, and at most an
    ///     hour is believed.
    ///   - chance: evenly drawn from 0 to 1.
    package mutating func connectionEnded(
        tradedFor: Int64,
        livedFor: Int64? = nil,
        retryAfter: Int64? = nil,
        chance: Double
    ) -> Pause {
        var pause = self.climbed(tradedFor: tradedFor, livedFor: livedFor, chance: chance)
        if let retryAfter {
            let asked = min(retryAfter, Self.longestRetryAfter)
            pause.wait = max(pause.wait, asked)
            pause.whole = max(pause.whole, asked)
        }
        return pause
    }

    private mutating func climbed(tradedFor: Int64, livedFor: Int64?, chance: Double) -> Pause {
        if tradedFor >= max(self.settings.settled, 1) { self.connectionSettled() }
        self.failures += 1
        // An attempt that fails in another way says that the trouble is another.
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
    /// - Parameter retryAfter: what the service asked for, in nanoseconds; at most an hour is believed.
    package mutating func rateLimited(retryAfter: Int64?) -> Pause {
        self.failures += 1
        self.refusals += 1
        let wait: Int64
        if let retryAfter, retryAfter > 0 {
            wait = min(retryAfter, Self.longestRetryAfter)
        } else {
            wait = Self.doubled(
                self.settings.rateLimited,
                times: self.refusals - 1,
                limit: self.settings.rateLimitedLimit
            )
        }
        return Pause(kind: .rateLimited, wait: wait, whole: wait)
    }

    /// Takes a rejected key; returns the wait until it is tried again, or `nil` where only a person can go on.
    package mutating func keyRejected() -> Int64? {
        self.failures += 1
        self.briefLives = 0
        return self.settings.rejectedKey
    }

    /// Notes that the connection has carried trades for `settled`: whatever was before is over.
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
        self.recent.removeFirst(max(0, self.recent.count - AttemptBudget.attempts))
    }

    /// What a program started later must know when an attempt begins now: that it has failed, since who is killed can
    /// write nothing afterwards.
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

    /// The same when a pause begins.
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

    /// The same when a connection has carried trades for twice `brief`: it was a good one, though not for long enough, so
    /// that who quits and starts again waits the first step at most.
    ///
    /// - Parameter at: when it opened, wall clock, ns since 1970.
    package func memory(ofSoundConnectionAt at: Int64) -> SavedBackoff {
        var memory = self.memory(ofAttemptAt: at)
        memory.briefLives = 0
        memory.wait = min(memory.wait, self.settings.first)
        return memory
    }

    /// The same when the program ends in good order while the connection stands.
    ///
    /// - Parameters:
    ///   - at: when it was asked for, wall clock, ns since 1970.
    ///   - isSound: whether it has been a good one, as for ``memory(ofSoundConnectionAt:)``.
    package func memory(ofHandingOverAt at: Int64, isSound: Bool) -> SavedBackoff {
        var memory = isSound ? self.memory(ofSoundConnectionAt: at) : self.memory(ofAttemptAt: at)
        memory.isHandedOver = true
        return memory
    }

    private func step(after failures: Int) -> Int64 {
        Self.doubled(self.settings.first, times: failures - 1, limit: self.settings.limit)
    }

    private static func doubled(_ start: Int64, times: Int, limit: Int64) -> Int64 {
        var step = start
        for _ in 0..<max(min(times, 62), 0) where step < limit {
            step = step > limit / 2 ? limit : step * 2
        }
        return min(step, limit)
    }
}

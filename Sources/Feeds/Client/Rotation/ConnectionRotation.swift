import Market

/// The decisions about a second connection beside the first one: when to open it, and when it takes the first one's
/// place. A state machine; time and chance are arguments.
///
/// A venue that ends each connection after a time loses nothing this way: the second connection is open and subscribed
/// before the first one ends. The ids of the trades prove that the two overlap (``OverlapProof``). A second connection
/// that fails costs nothing, for the first one goes on.
package struct ConnectionRotation: Sendable {
    /// The settings; times in nanoseconds.
    package struct Settings: Sendable, Equatable {
        /// The age of a connection from which a second one is opened; `nil` if the venue ends none by its age.
        package var age: Int64?
        /// The longest time by which chance delays that, so that programs that began together do not rotate together.
        package var jitter: Int64 = 600_000_000_000
        /// The same after an announcement, which says nothing about the time that is left.
        package var announcedJitter: Int64 = 2_000_000_000
        /// How long both connections are open at most while a symbol that does not trade proves nothing.
        package var overlapLimit: Int64 = 180_000_000_000
        /// How far the first connection may lag behind the second one.
        package var lagLimit: Int64 = 3_000_000_000
        /// The wait after a second connection that failed; it doubles up to the limit.
        package var retry: Int64 = 10_000_000_000
        package var retryLimit: Int64 = 300_000_000_000
        /// Whether a connection on which every symbol is silent for far longer than usual is renewed.
        package var renewsSilent = false
        /// The shortest and the longest time between a silence and a second connection. It doubles while the silence
        /// lasts.
        package var silence: Int64 = 60_000_000_000
        package var silenceLimit: Int64 = 3_600_000_000_000

        package init(age: Int64? = nil) { self.age = age }
    }

    /// Why a second connection is opened.
    package enum Reason: Sendable, Equatable {
        /// The venue ends a connection of this age.
        case age
        /// The venue has announced the end.
        case announced
        /// Every symbol is silent for far longer than usual.
        case silent
        /// A person has asked for a new connection.
        case asked
    }

    /// What is known of two open connections.
    package struct Overlap: Sendable, Equatable {
        /// Whether the ids of every symbol prove that the connections overlap.
        package var isProven = false
        /// Whether the second connection lacks a trade that the first one has brought since the subscription.
        package var hasMissed = false
        /// How long the second connection's oldest trade waits for the first connection to bring it, ns.
        package var lag: Int64 = 0
        /// Whether no further trade can wait.
        package var isFull = false

        package init() {}
    }

    package enum Action: Sendable, Equatable {
        case none
        /// Open the second connection.
        case open(Reason)
        /// Let the second connection take the first one's place, and close that one.
        case change
        /// Close the second connection.
        case giveUp
    }

    private enum State: Equatable {
        /// No connection is open.
        case closed
        /// One connection is open.
        case single
        /// The second connection is being opened.
        case opening
        /// Two connections are open, the second one since then.
        case double(since: Int64)
    }

    package let settings: Settings
    private var state = State.closed
    /// When the venue's own end of the first connection is near; monotonic ns.
    private var plannedAt: Int64?
    private var isAnnounced = false
    /// When the silence is far longer than usual, `nil` without a silence; monotonic ns.
    private var silentAt: Int64?
    private var silentRounds = 0
    /// When a person has asked for a new connection; monotonic ns. It is opened once.
    private var askedAt: Int64?
    /// The failures of the second connection in a row, and the earliest time of the next one; monotonic ns.
    private var failures = 0
    private var notBefore: Int64 = .min

    package init(_ settings: Settings) { self.settings = settings }

    /// Whether the second connection is open.
    package var isDouble: Bool { if case .double = self.state { true } else { false } }

    /// Whether the second connection is being opened.
    package var isOpening: Bool { self.state == .opening }

    /// Whether one connection is open, and no other is being opened.
    package var isSingle: Bool { self.state == .single }

    // MARK: The first connection

    /// Notes that the first connection opened, at a monotonic time in ns.
    package mutating func connectionOpened(now: Int64, chance: Double) {
        self.state = .single
        self.isAnnounced = false
        self.askedAt = nil
        self.failures = 0
        self.notBefore = .min
        self.plannedAt = self.settings.age.map {
            now.addingCapped($0).addingCapped(Self.share(of: self.settings.jitter, chance))
        }
    }

    /// Notes that the first connection ended and that no other took its place, or that none is wanted.
    package mutating func connectionEnded() {
        self.state = .closed
        self.plannedAt = nil
        self.silentAt = nil
        self.askedAt = nil
    }

    /// Notes that the venue has announced the end of the first connection.
    package mutating func closingAnnounced(now: Int64, chance: Double) {
        guard !self.isAnnounced else { return }
        self.isAnnounced = true
        self.plannedAt = now.addingCapped(Self.share(of: self.settings.announcedJitter, chance))
    }

    /// Notes that every symbol is silent for longer than usual, for this time already; ns.
    package mutating func silenceBegan(after silence: Int64, now: Int64) {
        guard self.settings.renewsSilent, self.silentAt == nil else { return }
        self.waitForSilence(silence, now: now)
    }

    /// Notes that trades flow.
    package mutating func silenceEnded() {
        self.silentAt = nil
        self.silentRounds = 0
    }

    private mutating func waitForSilence(_ silence: Int64, now: Int64) {
        let first = min(max(silence, self.settings.silence), self.settings.silenceLimit)
        let wait = first.doubled(times: self.silentRounds, limit: self.settings.silenceLimit)
        self.silentAt = now.addingCapped(wait)
        self.silentRounds += 1
    }

    /// Notes that a person has asked for a new connection: it does not wait for earlier failures.
    package mutating func renewalAsked(now: Int64) {
        self.askedAt = now
        self.notBefore = .min
    }

    // MARK: The second connection

    /// Notes that the second connection is open.
    package mutating func secondOpened(now: Int64) { self.state = .double(since: now) }

    /// Notes that the second connection could not be opened, or has ended before it took the first one's place.
    ///
    /// - Parameter wait: the shortest wait that the venue or the budget of attempts asks for, ns.
    package mutating func secondFailed(wait: Int64 = 0, now: Int64) {
        guard self.state != .closed else { return }
        self.state = .single
        let own = self.settings.retry.doubled(times: self.failures, limit: self.settings.retryLimit)
        self.failures += 1
        self.notBefore = now.addingCapped(max(own, wait))
    }

    /// Notes that the second connection has taken the first one's place.
    package mutating func changed(now: Int64, chance: Double) {
        guard case .double(let since) = self.state else { return }
        self.connectionOpened(now: since, chance: chance)
        if self.silentAt != nil { self.waitForSilence(self.settings.silence, now: now) }
    }

    // MARK: Time

    /// Why and when a second connection is due, monotonic ns.
    private var due: (at: Int64, reason: Reason)? {
        let planned = self.plannedAt.map { ($0, self.isAnnounced ? Reason.announced : .age) }
        let silent = self.silentAt.map { ($0, Reason.silent) }
        let asked = self.askedAt.map { ($0, Reason.asked) }
        return [planned, silent, asked].compactMap(\.self).min { $0.0 < $1.0 }
    }

    /// When ``timePassed(now:)`` or ``overlapChanged(_:now:)`` is next due, monotonic ns.
    package var deadline: Int64? {
        switch self.state {
        case .closed, .opening: nil
        case .single: self.due.map { max($0.at, self.notBefore) }
        case .double(let since): since.addingCapped(self.settings.overlapLimit)
        }
    }

    /// Takes the passing of time while one connection is open.
    package mutating func timePassed(now: Int64) -> Action {
        guard self.state == .single, let due, now >= max(due.at, self.notBefore) else { return .none }
        self.state = .opening
        self.askedAt = nil
        return .open(due.reason)
    }

    /// Takes what is known of the two connections.
    package func overlapChanged(_ overlap: Overlap, now: Int64) -> Action {
        guard case .double(let since) = self.state else { return .none }
        // The second connection is better than the first one.
        if overlap.isFull || overlap.lag >= self.settings.lagLimit { return .change }
        if overlap.isProven { return .change }
        guard now - since >= self.settings.overlapLimit else { return .none }
        return overlap.hasMissed ? .giveUp : .change
    }

    private static func share(of time: Int64, _ chance: Double) -> Int64 {
        Int64(Double(time) * min(max(chance, 0), 1))
    }
}

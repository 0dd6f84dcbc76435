/// The choice of which values one reader of one symbol is shown: unchanged ones are left out, and of quick changes only
/// the newest comes.
///
/// - The first value is shown at once: nothing older can be on the screen.
/// - A change is shown once the value has been the same for `quiet`, but never later than `atMost` after the first
///   change that has not been shown. (Without `atMost` this is the classic debounce, which shows nothing at all while
///   values keep changing faster than `quiet`.)
/// - Never two equal values in a row. A value that changes and comes back within a window shows nothing; until it has
///   been quiet again the window stays open, so that a value that flaps is shown at `atMost` as well.
/// - ``flush()`` shows the last value if it has not been shown.
/// - Every emission says how many values were left out since the one before.
///
/// Time is an argument: ns of a monotonic clock, never decreasing. The same inputs give the same outputs, whenever the
/// owner's timer fires: a value whose time had come is shown before a later one is taken in.
@frozen
public struct Conflator<Value: Equatable & Sendable>: Sendable {
    /// A value to show.
    @frozen
    public struct Emission: Sendable {
        public var value: Value
        /// How many values were left out since the emission before.
        public var skipped: UInt64

        @inlinable
        init(value: Value, skipped: UInt64) {
            self.value = value
            self.skipped = skipped
        }
    }

    /// For how long a value must not change before it is shown, in ns; 0 shows every change.
    public let quiet: Int64
    /// How long after the first change that was not shown the newest value is shown at the latest, in ns.
    public let atMost: Int64?

    @usableFromInline var shown: Value?
    @usableFromInline var latest: Value?
    @usableFromInline var lastChange: Int64 = 0
    /// When the open window began: the first change that has not been shown. `Int64.max` while no window is open.
    @usableFromInline var windowStart = Int64.max
    /// When the latest value must be shown; `Int64.max` while it is the one shown.
    @usableFromInline var due = Int64.max
    /// Values taken in since the last emission.
    @usableFromInline var taken: UInt64 = 0

    /// - Precondition: neither time is negative.
    @inlinable
    public init(quiet: Int64, atMost: Int64?) {
        precondition(quiet >= 0 && (atMost ?? 0) >= 0, "a negative time: quiet \(quiet), at most \(atMost ?? 0)")
        self.quiet = quiet
        self.atMost = atMost
    }

    /// When ``fire(now:)`` is to be called; `nil` while everything is shown.
    @inlinable
    public var deadline: Int64? { self.due == .max ? nil : self.due }

    /// Takes in the newest value; returns what is to be shown at once.
    ///
    /// The one shown may be the value before this one, if its time had come.
    @inlinable
    public mutating func take(_ value: Value, now: Int64) -> Emission? {
        if now < self.due, value == self.latest {
            self.taken &+= 1
            return nil
        }
        return self.takeChange(value, now: now)
    }

    /// Counts a value that is not to be shown, as if it had never been the newest.
    @inlinable
    public mutating func skip() { self.taken &+= 1 }

    @inlinable
    mutating func takeChange(_ value: Value, now: Int64) -> Emission? {
        // What was due before this value came is shown first, as if the timer had been on time.
        let overdue = self.fire(now: now)
        self.taken &+= 1
        guard let latest = self.latest else {
            self.latest = value
            self.lastChange = now
            return self.emit(value)
        }
        guard value != latest else { return overdue }

        if self.windowStart == .max || (self.due == .max && now &- self.lastChange >= self.quiet) {
            // None is open, or the value had come back to what is shown and stayed there: that window is over.
            self.windowStart = now
        }
        self.latest = value
        self.lastChange = now
        if value == self.shown {
            self.due = .max
            return overdue
        }
        self.due = Self.later(now, by: self.quiet)
        if let atMost = self.atMost { self.due = min(self.due, Self.later(self.windowStart, by: atMost)) }
        if overdue == nil, now >= self.due { return self.emit(value) }
        return overdue
    }

    /// Shows the latest value if its time has come.
    @inlinable
    public mutating func fire(now: Int64) -> Emission? {
        guard now >= self.due, self.due != .max, let latest = self.latest else { return nil }
        return self.emit(latest)
    }

    /// Shows the latest value if it has not been shown, whatever the time.
    @inlinable
    public mutating func flush() -> Emission? {
        guard self.due != .max, let latest = self.latest else { return nil }
        return self.emit(latest)
    }

    @inlinable
    mutating func emit(_ value: Value) -> Emission {
        let skipped = self.taken == 0 ? 0 : self.taken &- 1
        self.shown = value
        self.windowStart = .max
        self.due = .max
        self.taken = 0
        return Emission(value: value, skipped: skipped)
    }

    @inlinable
    static func later(_ time: Int64, by span: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(span)
        return overflow ? .max : sum
    }
}

extension Conflator.Emission: Equatable where Value: Equatable {}

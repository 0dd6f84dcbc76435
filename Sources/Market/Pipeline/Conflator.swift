/// The conflation of one symbol's values for one reader: unchanged values are left out, and of quick changes only the
/// newest is shown.
///
/// - The first value is shown at once, since the screen has no older one.
/// - A change is shown once the value has been the same for `quiet`, but never later than `atMost` after the first
///   change that has not been shown. (Without `atMost` this is the classic debounce, which shows nothing at all while
///   values keep changing faster than `quiet`.)
/// - Two equal values are never shown in a row. A value that changes and comes back within a window shows nothing. The
///   window stays open until the value has been quiet again, so that a flapping value is also shown at `atMost`.
/// - ``flush()`` shows the last value if it has not been shown.
/// - Every emission states how many values were left out since the previous one.
///
/// Time is an argument: ns of a monotonic clock, never decreasing. The same inputs give the same outputs, whenever the
/// owner's timer fires: a value that was due is shown before a later one is taken.
@frozen
public struct Conflator<Value: Equatable & Sendable>: Sendable {
    /// A value to show.
    @frozen
    public struct Emission: Sendable {
        public var value: Value
        /// How many values were left out since the previous emission.
        public var skipped: UInt64

        @inlinable
        init(value: Value, skipped: UInt64) {
            self.value = value
            self.skipped = skipped
        }
    }

    /// How long a value must stay the same before it is shown, in ns; 0 shows every change.
    public let quiet: Int64
    /// The longest time from the first change not shown to the next emission, in ns.
    public let atMost: Int64?

    @usableFromInline var shown: Value?
    @usableFromInline var latest: Value?
    @usableFromInline var lastChange: Int64 = 0
    /// The start of the open window: the first change that has not been shown. `Int64.max` while no window is open.
    @usableFromInline var windowStart = Int64.max
    /// The time at which the latest value must be shown; `Int64.max` while it is the one shown.
    @usableFromInline var due = Int64.max
    /// The number of values taken since the last emission.
    @usableFromInline var taken: UInt64 = 0

    /// - Precondition: neither time is negative.
    @inlinable
    public init(quiet: Int64, atMost: Int64?) {
        precondition(quiet >= 0 && (atMost ?? 0) >= 0, "a negative time: quiet \(quiet), at most \(atMost ?? 0)")
        self.quiet = quiet
        self.atMost = atMost
    }

    /// The time at which to call ``fire(now:)``; `nil` while the latest value is shown.
    @inlinable
    public var deadline: Int64? { self.due == .max ? nil : self.due }

    /// Takes the newest value; returns the emission that is due now.
    ///
    /// The emission may hold the value before this one, if that was due.
    @inlinable
    public mutating func take(_ value: Value, now: Int64) -> Emission? {
        if now < self.due, value == self.latest {
            self.taken &+= 1
            return nil
        }
        return self.takeChange(value, now: now)
    }

    /// Counts a value that must not be shown, as if it had never been the newest.
    @inlinable
    public mutating func skip() { self.taken &+= 1 }

    @inlinable
    mutating func takeChange(_ value: Value, now: Int64) -> Emission? {
        // A value due before this one is shown first, as if the timer had been on time.
        let overdue = self.fire(now: now)
        self.taken &+= 1
        guard let latest = self.latest else {
            self.latest = value
            self.lastChange = now
            return self.emit(value)
        }
        guard value != latest else { return overdue }

        if self.windowStart == .max || (self.due == .max && now &- self.lastChange >= self.quiet) {
            // No window is open; or the value had returned to the one shown and stayed there, which ended the window.
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

    /// Shows the latest value if it is due.
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

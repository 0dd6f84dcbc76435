package import Market

/// The state machine of a replay: when a message is due, and what a request changes. It knows no file and no client.
///
/// The times of messages are nanoseconds since the recording's start; `now` is monotonic ns. A request for another
/// place is answered with an action. The owner searches the place and then calls ``jumped(to:pauses:now:)``.
package struct ReplayMachine: Sendable {
    package struct Settings: Sendable, Equatable {
        /// The factor on the recording's pace; `nil` plays as fast as the readers take it.
        package var speed: Double?
        package var isPaused = false
        /// Whether the first message also waits, counted from the start of the material. The times of a simulated
        /// market's trades begin there.
        package var waitsForFirst = false
        /// The longest silence that is played, ns of the recording; a longer one is cut to it. `nil` plays silences in
        /// full.
        package var longestSilence: Int64?
        /// Whether the replay stays at its end, paused, from which a user goes back or begins it again.
        package var staysAtEnd = false

        package init(speed: Double? = 1) { self.speed = speed }
    }

    /// The action for the next message.
    package enum Next: Sendable, Equatable {
        case play
        /// The message waits until this time, monotonic ns.
        case wait(until: Int64)
        /// The message waits for a request.
        case hold
    }

    /// The owner's action for a request.
    package enum Action: Sendable, Equatable {
        case refuse(ReplayRefusal)
        /// The request changes nothing.
        case none
        /// Speed, pause or a step has changed; the owner asks for the next message's action again.
        case changed
        /// Go to a time, ns since the recording's start, and play the newest message before it. A step pauses there.
        case seek(Int64, pauses: Bool = false)
        /// Search the next gap.
        case findGap
        /// Go back by a number of messages.
        case goBack(messages: Int)
    }

    private enum Step: Sendable, Equatable {
        case messages(Int)
        /// All messages recorded up to a time.
        case until(Int64)
        /// The one message that holds the prices of a time.
        case landing(at: Int64)
    }

    /// The times of the first and the last message that are played.
    package private(set) var bounds: ClosedRange<Int64>
    private let settings: Settings
    private var clock: ReplayClock
    private var hasBegun = false
    private var isOver = false
    /// Whether it stays at its end, which has paused it.
    private var isAtEnd = false
    private var step: Step?

    package init(_ settings: Settings, bounds: ClosedRange<Int64>) {
        self.settings = settings
        self.bounds = bounds
        self.clock = ReplayClock(speed: settings.speed, recorded: bounds.lowerBound, isPaused: settings.isPaused)
    }

    package var isPaused: Bool { self.clock.isPaused && self.step == nil }
    package var speed: Double? { self.clock.speed }
    /// Returns the recorded time.
    package func recorded(now: Int64) -> Int64 {
        guard self.hasBegun else { return self.bounds.lowerBound }
        return min(max(self.clock.recorded(now: now), self.bounds.lowerBound), self.bounds.upperBound)
    }

    // MARK: Messages

    /// Returns the action for the next message, recorded at `recorded`. The very first one is due at once, unless it
    /// waits as well.
    package mutating func next(recorded: Int64, now: Int64) -> Next {
        if !self.hasBegun {
            self.hasBegun = true
            self.clock.set(recorded: self.settings.waitsForFirst ? self.bounds.lowerBound : recorded, now: now)
        }
        switch self.step {
        case .messages, .landing:
            return .play
        case .until(let end):
            if recorded <= end { return .play }
            self.step = nil
            self.clock.set(recorded: end, now: now)
            return .hold
        case nil:
            break
        }
        if let longest = self.settings.longestSilence, !self.clock.isPaused,
            recorded > self.clock.recorded(now: now).addingCapped(longest)
        {
            self.clock.set(recorded: recorded - longest, now: now)
        }
        guard let due = self.clock.due(recorded: recorded, now: now) else { return .hold }
        return due > now ? .wait(until: due) : .play
    }

    /// Notes that the message was played.
    ///
    /// - Parameter counts: whether the message counts for a step, as those with trades do.
    package mutating func played(recorded: Int64, counts: Bool = true, now: Int64) {
        switch self.step {
        case .messages(let count):
            self.clock.set(recorded: recorded, now: now)
            if counts { self.step = count > 1 ? .messages(count - 1) : nil }
        case .until:
            self.clock.set(recorded: recorded, now: now)
        case .landing(let place):
            self.clock.set(recorded: max(place, recorded), now: now)
            self.step = nil
        case nil:
            // At the speed `max` the clock shows the last message played.
            if self.clock.speed == nil { self.clock.set(recorded: recorded, now: now) }
        }
    }

    /// Notes that the owner has gone to another place. The next message is played at once, since it holds the prices of
    /// that place.
    ///
    /// - Parameter pauses: whether the replay is paused there.
    package mutating func jumped(to recorded: Int64, pauses: Bool = false, now: Int64) {
        self.hasBegun = true
        if self.isAtEnd { self.clock.resume(now: now) }
        self.isAtEnd = false
        if pauses { self.clock.pause(now: now) }
        self.step = .landing(at: recorded)
        self.clock.set(recorded: recorded, now: now)
    }

    /// Notes that the owner has gone back to a message. That message is played now, and the replay is paused after it.
    package mutating func wentBack(to recorded: Int64, now: Int64) {
        self.hasBegun = true
        self.isAtEnd = false
        self.clock.pause(now: now)
        self.clock.set(recorded: recorded, now: now)
        self.step = .messages(1)
    }

    /// Notes that the recording restarts.
    package mutating func restarted() {
        self.hasBegun = false
        if case .until = self.step { self.step = nil }
    }

    /// Notes that there is no further message.
    ///
    /// - Returns: whether the replay is over. A paused one stays at its end, from which a user may go back, and so does one
    ///   that pauses there.
    package mutating func reachedEnd(now: Int64) -> Bool {
        if self.settings.staysAtEnd, !self.clock.isPaused {
            self.isAtEnd = true
            self.clock.pause(now: now)
            self.clock.set(recorded: self.bounds.upperBound, now: now)
        }
        guard self.clock.isPaused else { return true }
        if self.step != nil { self.clock.set(recorded: self.bounds.upperBound, now: now) }
        self.step = nil
        return false
    }

    /// Ends the replay, which takes no more requests.
    package mutating func ended(now: Int64) {
        self.isOver = true
        self.step = nil
        self.clock.pause(now: now)
        self.clock.set(recorded: self.bounds.upperBound, now: now)
    }

    // MARK: Requests

    /// Takes a request.
    ///
    /// - Parameter start: the recording's wall clock at its start, ns since 1970.
    package mutating func requested(_ request: ReplayRequest, start: Int64, now: Int64) -> Action {
        if self.isOver { return .refuse(ReplayRefusal("the replay is over; start it again, or with --loop")) }
        switch request {
        case .pause:
            return self.setPaused(true, now: now)
        case .resume:
            return self.setPaused(false, now: now)
        case .togglePause where self.isAtEnd:
            return .seek(self.bounds.lowerBound)
        case .togglePause:
            return self.setPaused(!self.isPaused, now: now)
        case .speed(let speed):
            if let speed, !ReplayRequest.speeds.contains(speed) {
                return .refuse(ReplayRefusal("a speed is 0.01 to 10000, or max"))
            }
            return self.change(speed: speed, now: now)
        case .faster:
            let current = self.clock.speed ?? .infinity
            return self.change(speed: ReplayRequest.rungs.first { $0 > current }, now: now)
        case .slower:
            let current = self.clock.speed ?? .infinity
            return self.change(
                speed: ReplayRequest.rungs.last { $0 < current } ?? min(current, ReplayRequest.rungs[0]),
                now: now
            )
        case .stepMessages(let count):
            guard count != 0, (-ReplayRequest.maximumMessages...ReplayRequest.maximumMessages).contains(count) else {
                return .refuse(ReplayRefusal("a step is 1 to \(ReplayRequest.maximumMessages) messages, or back"))
            }
            if count < 0 { return .goBack(messages: -count) }
            self.clock.pause(now: now)
            self.step = .messages(count)
            return .changed
        case .stepTime(let time):
            guard time != 0 else { return .refuse(ReplayRefusal("a step must be longer than 0")) }
            let end = self.bounded(self.recorded(now: now).addingCapped(time))
            // Material without places refuses to go back, and then nothing may have changed here.
            if time < 0 { return .seek(end, pauses: true) }
            self.clock.pause(now: now)
            self.step = .until(end)
            return .changed
        case .seek(let place):
            return self.seek(place, start: start)
        }
    }

    /// Returns the position of the replay.
    ///
    /// - Parameter start: the recording's wall clock at its start, ns since 1970.
    package func position(start: Int64, now: Int64) -> ReplayPosition {
        ReplayPosition(
            start: start.addingCapped(self.bounds.lowerBound),
            end: start.addingCapped(self.bounds.upperBound),
            at: start.addingCapped(self.recorded(now: now)),
            speed: self.clock.speed,
            isPaused: self.clock.isPaused
        )
    }

    private mutating func setPaused(_ isPaused: Bool, now: Int64) -> Action {
        guard isPaused != self.clock.isPaused || self.step != nil else { return .none }
        // A landing is the second half of a seek, which a pause does not undo.
        if case .landing = self.step {} else { self.step = nil }
        isPaused ? self.clock.pause(now: now) : self.clock.resume(now: now)
        return .changed
    }

    private mutating func change(speed: Double?, now: Int64) -> Action {
        guard speed != self.clock.speed else { return .none }
        self.clock.change(speed: speed, now: now)
        return .changed
    }

    private func seek(_ place: ReplayPlace, start: Int64) -> Action {
        switch place {
        case .time(let time):
            let (offset, isOut) = time.subtractingReportingOverflow(start)
            return .seek(self.bounded(isOut ? (time > start ? .max : .min) : offset))
        case .offset(let offset):
            return .seek(self.bounded(self.bounds.lowerBound.addingCapped(offset)))
        case .percent(let percent):
            guard (0...100).contains(percent) else { return .refuse(ReplayRefusal("a percentage is 0 to 100")) }
            let length = self.bounds.upperBound.subtractingCapped(self.bounds.lowerBound)
            return .seek(self.bounded(self.bounds.lowerBound.addingCapped(ReplayPlace.part(percent, of: length))))
        case .nextGap:
            return .findGap
        }
    }

    private func bounded(_ time: Int64) -> Int64 { min(max(time, self.bounds.lowerBound), self.bounds.upperBound) }
}

import NIOConcurrencyHelpers
import Platform

/// The limit of equal messages on their way to standard error, with the timer of their counts. May be used on any thread;
/// never blocks.
final class RepeatLimiter: Sendable {
    private struct State {
        /// `nil` for no limit.
        var messages: RepeatedMessages?
        /// Set while a count is waited for.
        var hasTimer = false
    }

    private let state = NIOLockedValueBox(State(messages: RepeatedMessages(most: 20)))
    /// Writes the message of a count.
    private let write: @Sendable (LogRecord) -> Void

    init(write: @escaping @Sendable (LogRecord) -> Void) { self.write = write }

    /// Sets the most equal messages of a part a minute; `nil` for any number.
    func setMost(_ most: Int?) {
        self.sayAll()
        self.state.withLockedValue { $0.messages = most.map(RepeatedMessages.init) }
    }

    /// Returns whether a message is written; otherwise it is counted.
    func wants(_ key: RepeatedMessages.Key) -> Bool {
        let now = SystemClock.monotonic()
        let (isWanted, deadline) = self.state.withLockedValue { state -> (Bool, Int64?) in
            guard state.messages?.isWanted(key, now: now) == false else { return (true, nil) }
            guard !state.hasTimer, let deadline = state.messages?.deadline else { return (false, nil) }
            state.hasTimer = true
            return (false, deadline)
        }
        if let deadline { self.wait(until: deadline) }
        return isWanted
    }

    /// Says all counts at once.
    func sayAll() { self.say(self.state.withLockedValue { $0.messages?.takeAll() ?? [] }) }

    private func wait(until deadline: Int64) {
        Task {
            try? await Task.sleep(for: .nanoseconds(max(0, deadline - SystemClock.monotonic())))
            let (counts, next) = self.state.withLockedValue { state in
                let counts = state.messages?.takeEnded(now: SystemClock.monotonic()) ?? []
                let next = state.messages?.deadline
                state.hasTimer = next != nil
                return (counts, next)
            }
            self.say(counts)
            if let next { self.wait(until: next) }
        }
    }

    private func say(_ counts: [RepeatedMessages.Count]) {
        let time = WallClock.now()
        for count in counts { self.write(LogRecord(count, time: time)) }
    }
}

import Glibc
import NIOConcurrencyHelpers
import Platform

/// The mailbox of an output's thread. Other threads wake it only while it sleeps.
final class OutputMailbox<Content: Sendable>: Sendable {
    private struct State {
        var content: Content
        var isStopping = false
        /// Whether the thread sleeps without a time limit that would make it look soon enough.
        var sleeps = false
    }

    let wake: WakeSignal
    private let state: NIOLockedValueBox<State>

    /// - Throws: ``SystemCallFailure`` when the process has no descriptor left.
    init(_ content: Content) throws(SystemCallFailure) {
        self.wake = try WakeSignal()
        self.state = NIOLockedValueBox(State(content: content))
    }

    /// Reads or changes the content.
    func withContent<Result>(_ body: (inout Content) -> Result) -> Result {
        self.state.withLockedValue { body(&$0.content) }
    }

    /// Changes the content for the thread. Callable from any thread; never waits.
    ///
    /// - Parameter isUrgent: whether to wake the thread even if it does not sleep.
    func leave(isUrgent: Bool = false, _ body: (inout Content) -> Void) {
        let mustWake = self.state.withLockedValue { state in
            body(&state.content)
            defer { state.sleeps = false }
            return isUrgent || state.sleeps
        }
        if mustWake { self.wake.ring() }
    }

    var isStopping: Bool { self.state.withLockedValue { $0.isStopping } }
    var sleeps: Bool { self.state.withLockedValue { $0.sleeps } }

    func stop() {
        self.state.withLockedValue { $0.isStopping = true }
        self.wake.ring()
    }

    /// Waits for new content, for descriptors, and for the clock.
    ///
    /// - Parameters:
    ///   - look: returns whether new content must wake the thread, and whether there is something to do at once.
    func wait(
        with descriptors: inout [pollfd],
        atMost nanoseconds: Int64?,
        _ look: (_ content: Content, _ isStopping: Bool) -> (sleeps: Bool, isAwake: Bool)
    ) {
        let isAwake = self.state.withLockedValue { state in
            let (sleeps, isAwake) = look(state.content, state.isStopping)
            state.sleeps = sleeps
            return isAwake
        }
        self.wake.wait(with: &descriptors, atMost: isAwake ? 0 : nanoseconds)
        self.state.withLockedValue { $0.sleeps = false }
    }
}

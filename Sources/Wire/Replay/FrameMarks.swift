import NIOConcurrencyHelpers
import Synchronization

/// The marks of a replay on their way from its player to the feed, each with the number of frames after which it takes effect.
///
/// They do not travel with the frames. Both ends count the text frames of the connection, so a mark takes effect between
/// the same two frames at both ends: it is posted before the next frame is written, and looked for before that is taken.
///
/// If the connection ends before that number is reached, the marks that still wait take effect at its end, in their
/// order. Those about single frames are dropped with the frames.
package final class FrameMarks: Sendable {
    private struct State {
        /// The feed's newest connection, by its local port.
        var connection: Int?
        var isOpen = false
        var waiting: [(frames: Int, mark: FrameMark)] = []
        var wake: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())
    /// The number of frames after which the first mark takes effect. The feed reads only this for each frame.
    private let next = Atomic<Int>(.max)

    package init() {}

    // MARK: The player's side

    /// Posts a mark; it is dropped unless the connection is the feed's newest.
    ///
    /// - Parameters:
    ///   - frames: how many text frames were written on the connection so far.
    ///   - connection: the client's port.
    package func post(_ mark: FrameMark, after frames: Int, on connection: Int?) {
        self.state.withLockedValue { state in
            guard connection == state.connection, state.isOpen || !mark.isOfFrame else { return }
            state.waiting.append((state.isOpen ? frames : 0, mark))
            self.noteNext(state)
            // The feed looks for marks before it takes the next frame.
            if !mark.isOfFrame { state.wake?() }
        }
    }

    // MARK: The feed's side

    /// Sets the function that makes the feed look for marks when there may be no further frame; `nil` sets none.
    ///
    /// It is called on the player's thread, and must neither wait nor call this object. Once this method has returned,
    /// the former function is no longer called.
    package func follow(_ wake: (@Sendable () -> Void)?) { self.state.withLockedValue { $0.wake = wake } }

    /// Notes that the feed has a new connection, on which no frame has come.
    ///
    /// - Parameter connection: the local port.
    package func opened(_ connection: Int?) {
        self.state.withLockedValue { state in
            state.connection = connection
            state.isOpen = true
        }
    }

    /// Notes that the connection has ended, so that no mark waits for its frames.
    package func ended() {
        self.state.withLockedValue { state in
            state.isOpen = false
            state.waiting = state.waiting.filter { !$0.mark.isOfFrame }.map { (0, $0.mark) }
            self.noteNext(state)
        }
    }

    /// Whether a mark takes effect before any further frame, after so many.
    package func isDue(after frames: Int) -> Bool { frames >= self.next.load(ordering: .acquiring) }

    /// Takes the marks that take effect after so many frames, in their order.
    package func take(after frames: Int) -> [FrameMark] {
        self.state.withLockedValue { state in
            let due = state.waiting.prefix { $0.frames <= frames }
            state.waiting.removeFirst(due.count)
            self.noteNext(state)
            return due.map(\.mark)
        }
    }

    private func noteNext(_ state: State) {
        self.next.store(state.waiting.first?.frames ?? .max, ordering: .releasing)
    }
}

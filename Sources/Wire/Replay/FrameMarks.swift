import NIOConcurrencyHelpers
import NIOCore
import Synchronization

/// The marks of a replay on their way from its player to the feed, each with the number of frames after which it takes effect.
///
/// They do not travel with the frames. Both ends count the text frames of the connection, so a mark takes effect between
/// the same two frames at both ends: it is posted before the next frame is written, and looked for before that is taken.
///
/// If the connection ends before that number is reached, the marks that still wait take effect at its end, in their
/// order. Those about single frames are dropped with the frames.
///
/// Each feed of a replay has its own. If there are several, ``FrameTurns`` has the order between them.
package final class FrameMarks: Sendable {
    private struct State {
        /// The feed's newest connection, by its local port.
        var connection: Int?
        var isOpen = false
        var waiting = CircularBuffer<(frames: Int, mark: FrameMark)>()
        var wake: (@Sendable () -> Void)?
        /// How many frames the player has written on a connection, if turns are kept.
        var written: (connection: Int?, frames: Int) = (nil, 0)
    }

    private let state = NIOLockedValueBox(State())
    /// The number of frames after which the first mark takes effect. The feed reads only this for each frame.
    private let next = Atomic<Int>(.max)
    /// The order between this connection and those of other feeds; `nil` for the only one.
    package let turns: FrameTurns?

    package init(turns: FrameTurns? = nil) {
        self.turns = turns
        turns?.add(self)
    }

    // MARK: The player's side

    /// Posts a mark; it is dropped unless the connection is the feed's newest.
    ///
    /// - Parameters:
    ///   - frames: how many text frames were written on the connection so far.
    ///   - connection: the client's port.
    package func post(_ mark: FrameMark, after frames: Int, on connection: Int?) {
        self.beginTurn(after: frames, on: connection, isOfFrame: mark.isOfFrame)
        self.state.withLockedValue { state in
            guard connection == state.connection, state.isOpen || !mark.isOfFrame else { return }
            self.append(mark, after: frames, to: &state)
        }
    }

    /// Notes that the player is about to write a frame.
    ///
    /// - Parameters:
    ///   - frames: how many text frames were written on the connection before.
    ///   - connection: the client's port.
    package func willWrite(after frames: Int, on connection: Int?) {
        guard self.turns != nil else { return }
        self.beginTurn(after: frames, on: connection, isOfFrame: true)
        self.state.withLockedValue { $0.written = (connection, frames + 1) }
    }

    /// Makes it this connection's turn, if it has others beside it and its feed takes what follows.
    private func beginTurn(after frames: Int, on connection: Int?, isOfFrame: Bool) {
        guard let turns = self.turns else { return }
        let isTaken = self.state.withLockedValue { state in
            guard connection == state.connection, state.isOpen || !isOfFrame, state.wake != nil else { return false }
            state.written = (connection, frames)
            return true
        }
        guard isTaken, let begun = turns.begin(self) else { return }
        begun.before?.endTurn(begun.turn - 1)
        self.state.withLockedValue { self.append(.turnBegan(begun.turn), after: frames, to: &$0) }
    }

    /// Ends a turn behind everything that was written and posted.
    private func endTurn(_ turn: Int) {
        self.state.withLockedValue { state in
            let frames = state.written.connection == state.connection ? state.written.frames : 0
            self.append(.turnEnded(turn), after: frames, to: &state)
        }
    }

    private func append(_ mark: FrameMark, after frames: Int, to state: inout State) {
        state.waiting.append((state.isOpen ? frames : 0, mark))
        self.noteNext(state)
        // The feed looks for marks before it takes the next frame.
        if mark.wakes { state.wake?() }
    }

    // MARK: The feed's side

    /// Sets the function that makes the feed look for marks when there may be no further frame; `nil` sets none.
    ///
    /// It is called on the player's thread, and must neither wait nor call this object. Once this method has returned,
    /// the former function is no longer called.
    package func follow(_ wake: (@Sendable () -> Void)?) {
        let turnsLeft = self.state.withLockedValue { state -> Bool? in
            let hasLeft = wake == nil && state.wake != nil
            state.wake = wake
            return hasLeft ? state.waiting.contains { $0.mark.isTurn } : nil
        }
        if let turnsLeft { self.turns?.left(self, hasTurns: turnsLeft) }
    }

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
            state.waiting = CircularBuffer(state.waiting.lazy.filter { !$0.mark.isOfFrame }.map { (0, $0.mark) })
            self.noteNext(state)
        }
    }

    /// Whether a mark takes effect before any further frame, after so many.
    package func isDue(after frames: Int) -> Bool { frames >= self.next.load(ordering: .acquiring) }

    /// Takes the marks that take effect after so many frames, in their order. It ends before a turn that has not come.
    package func take(after frames: Int) -> [FrameMark] {
        self.state.withLockedValue { state in
            var due: [FrameMark] = []
            while let first = state.waiting.first, first.frames <= frames {
                if case .turnBegan(let turn) = first.mark {
                    guard self.hasCome(turn) else { break }
                } else {
                    due.append(first.mark)
                }
                state.waiting.removeFirst()
            }
            self.noteNext(state)
            return due
        }
    }

    /// Whether what follows so many frames waits for other connections.
    package func waitsForTurn(after frames: Int) -> Bool {
        self.state.withLockedValue { state in
            guard let first = state.waiting.first, first.frames <= frames, case .turnBegan(let turn) = first.mark else {
                return false
            }
            return !self.hasCome(turn)
        }
    }

    /// Notes that everything of a turn is on the tape.
    package func turnEnded(_ turn: Int) { self.turns?.ended(turn) }

    private func hasCome(_ turn: Int) -> Bool { self.turns.map { $0.turn >= turn } ?? true }

    /// Makes the feed look for what has waited for its turn, if that has come.
    func turnCame() {
        self.state.withLockedValue { state in
            if case .turnBegan(let turn)? = state.waiting.first?.mark, self.hasCome(turn) { state.wake?() }
        }
    }

    private func noteNext(_ state: State) {
        self.next.store(state.waiting.first?.frames ?? .max, ordering: .releasing)
    }
}

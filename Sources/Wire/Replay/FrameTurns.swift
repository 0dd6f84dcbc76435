import NIOConcurrencyHelpers
import Synchronization

/// The order in which a replay's player wrote to the connections of several feeds, so that the tape has it, too.
///
/// The bytes of two connections arrive in any order. What the player writes and posts to one connection, without
/// anything to another in between, is a turn. Turns count from 1 over all connections, and each begins and ends with a
/// mark on its connection (``FrameMark/turnBegan(_:)``, ``FrameMark/turnEnded(_:)``). A feed takes a turn when the one
/// before has ended, that is when everything that the player wrote earlier is on the tape. What arrives too early waits
/// at the feed. The player waits for no turn, so a turn costs no round trip.
///
/// Each of the ``FrameMarks`` of one replay refers to it.
package final class FrameTurns: Sendable {
    private struct Player {
        var turn = 0
        /// The marks of the connection whose turn it is.
        weak var marks: FrameMarks?
    }

    private struct Member {
        weak var marks: FrameMarks?
    }

    private let player = NIOLockedValueBox(Player())
    private let members = NIOLockedValueBox<[Member]>([])
    /// The turn that the feeds take.
    private let current = Atomic<Int>(1)

    package init() {}

    func add(_ marks: FrameMarks) { self.members.withLockedValue { $0.append(Member(marks: marks)) } }

    // MARK: The player's side

    /// Begins a turn of a connection, unless it is its turn already.
    ///
    /// - Returns: the number of the turn, and the marks of the connection whose turn it was before.
    func begin(_ marks: FrameMarks) -> (turn: Int, before: FrameMarks?)? {
        self.player.withLockedValue { player in
            guard player.marks !== marks else { return nil }
            let before = player.marks
            player.turn += 1
            player.marks = marks
            return (player.turn, before)
        }
    }

    // MARK: The feeds' side

    /// The turn that the feeds take; `Int.max` once there are no more turns.
    package var turn: Int { self.current.load(ordering: .acquiring) }

    /// Notes that everything of a turn is on the tape.
    func ended(_ turn: Int) {
        let change = self.current.compareExchange(
            expected: turn,
            desired: turn + 1,
            ordering: .acquiringAndReleasing
        )
        if change.exchanged { self.wake() }
    }

    /// Notes that a feed has left the replay.
    ///
    /// - Parameter hasTurns: whether it leaves with turns that it has not taken, which nobody takes then.
    func left(_ marks: FrameMarks, hasTurns: Bool) {
        if hasTurns || self.player.withLockedValue({ $0.marks === marks }) { self.giveUp() }
    }

    /// Lets every feed take what arrives, in any order from here on.
    package func giveUp() {
        self.current.store(.max, ordering: .releasing)
        self.wake()
    }

    private func wake() {
        for member in self.members.withLockedValue({ $0 }) { member.marks?.turnCame() }
    }
}

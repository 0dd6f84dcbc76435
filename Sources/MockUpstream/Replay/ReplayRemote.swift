package import Market
import NIOConcurrencyHelpers
import NIOCore

/// The control of a replay from other threads: from a display's keys and a relay's clients.
///
/// The replay's state is copied under a lock whenever its clock was set, which is at most once per turn of its loop.
/// The caller adds the time since then.
package final class ReplayRemote: ReplayControlling {
    private let loop: any EventLoop
    private let start: Int64
    private let machine: NIOLockedValueBox<ReplayMachine>
    private let player: NIOLoopBound<ReplayPlayer>
    private let watchers = NIOLockedValueBox<[@Sendable (ReplayPosition) -> Void]>([])

    /// Called on the player's loop.
    init(_ player: ReplayPlayer) {
        self.loop = player.loop
        self.start = player.span.start
        let machine = NIOLockedValueBox(player.machine)
        self.machine = machine
        self.player = NIOLoopBound(player, eventLoop: player.loop)
        let watchers = self.watchers
        player.moved = { new in machine.withLockedValue { $0 = new } }
        player.changed = { position in
            // Under the lock, so that none is called after ``stopWatching()``.
            watchers.withLockedValue { for watcher in $0 { watcher(position) } }
        }
    }

    package func position() -> ReplayPosition {
        let now = Int64(self.loop.now.uptimeNanoseconds)
        return self.machine.withLockedValue { $0 }.position(start: self.start, now: now)
    }

    package func request(
        _ request: ReplayRequest,
        answer: @escaping @Sendable (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) {
        let player = self.player
        self.loop.execute { player.value.request(request, answer: answer) }
    }

    package func watch(_ changed: @escaping @Sendable (ReplayPosition) -> Void) {
        self.watchers.withLockedValue { $0.append(changed) }
    }

    /// Removes the watchers. None is called after this method has returned.
    func stopWatching() { self.watchers.withLockedValue { $0 = [] } }
}

package import Market
import NIOConcurrencyHelpers
import NIOCore

/// The way to a replay from other threads: a display's keys, a relay's clients.
///
/// Where the replay stands is copied under a lock whenever its clock is set, which is once a turn of its loop at most; the
/// time since is added by the reader.
package final class ReplayRemote: ReplayControlling {
    private let loop: any EventLoop
    private let start: Int64
    private let machine: NIOLockedValueBox<ReplayMachine>
    private let player: NIOLoopBound<ReplayPlayer>
    private let watchers = NIOLockedValueBox<[@Sendable (ReplayPosition) -> Void]>([])

    /// On the player's loop.
    init(_ player: ReplayPlayer) {
        self.loop = player.loop
        self.start = player.span.start
        let machine = NIOLockedValueBox(player.machine)
        self.machine = machine
        self.player = NIOLoopBound(player, eventLoop: player.loop)
        let watchers = self.watchers
        player.moved = { new in machine.withLockedValue { $0 = new } }
        player.changed = { position in
            for watcher in watchers.withLockedValue({ $0 }) { watcher(position) }
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
}

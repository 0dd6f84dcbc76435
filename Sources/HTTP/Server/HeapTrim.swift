import CLinux
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// The giving back of free memory to the system, when many connections have gone or large answers have left.
///
/// glibc gives back what is free at the end of its heap only. A thousand TLS handshakes at once leave 65 MB free between blocks
/// that are in use (3 MB), and without this the process keeps them for ever.
package final class HeapTrim: Sendable {
    /// What a connection takes at its height, in bytes: that of a TLS handshake.
    package static let connectionBytes = 64 << 10
    /// So many bytes are worth the 10 ms that it takes.
    private static let worthBytes = 8 << 20
    /// What has begun to go is mostly gone then.
    private static let pause: TimeAmount = .seconds(3)

    private let loop: any EventLoop
    private let trim: @Sendable () -> Void
    private let state = NIOLockedValueBox((bytes: 0, isScheduled: false))

    /// - Parameters:
    ///   - loop: keeps the time.
    ///   - trim: gives the memory back; called on `loop`.
    package init(loop: any EventLoop, trim: @escaping @Sendable () -> Void = HeapTrim.giveBack) {
        self.loop = loop
        self.trim = trim
    }

    /// Notes that so many bytes, or about so many, are free again.
    package func freed(_ bytes: Int) {
        let isDue = self.state.withLockedValue { state in
            state.bytes += bytes
            guard state.bytes >= Self.worthBytes, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        guard isDue else { return }
        self.loop.scheduleTask(in: Self.pause) {
            self.state.withLockedValue { $0 = (0, false) }
            self.trim()
        }
    }

    /// On a thread that no price waits for.
    @Sendable private static func giveBack() { NIOThreadPool.singleton.submit { _ in tickertape_trim_heap() } }
}

import NIOConcurrencyHelpers
package import NIOCore

/// The release of free heap memory to the system after many connections have closed or large responses have left.
///
/// glibc releases only the memory at the end of its heap. A thousand simultaneous TLS handshakes leave 65 MB free
/// between blocks in use (3 MB), and without this the process keeps them for ever.
package final class HeapTrim: Sendable {
    /// The largest memory of a connection in bytes: during its TLS handshake.
    package static let connectionBytes = 64 << 10
    /// The amount that is worth the 10 ms of a trim, in bytes.
    private static let worthBytes = 8 << 20
    /// A delay after which most of a wave of connections has closed.
    private static let pause: TimeAmount = .seconds(3)

    private let loop: any EventLoop
    private let trim: @Sendable () -> Void
    private let state = NIOLockedValueBox((bytes: 0, isScheduled: false))

    /// - Parameters:
    ///   - loop: schedules the trim.
    ///   - trim: has the memory released by a thread that no market data waits for; called on `loop`.
    package init(loop: any EventLoop, trim: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.trim = trim
    }

    /// Adds released memory in bytes, exact or approximate.
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
}

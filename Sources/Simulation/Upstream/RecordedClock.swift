import Market
import NIOCore
package import NIOEmbedded

/// The clock of a replay on virtual time: a loop with the recording's time, and the wall clock of the recording.
///
/// Its time stands still during work and advances from message to message. Timers fire in between, each at its time. It
/// must be used on the thread that created it.
package struct RecordedClock: Sendable {
    /// The monotonic time at the recording's start, ns: one day, so that times before it stay positive.
    private static let origin: Int64 = 86_400_000_000_000

    package let loop: EmbeddedEventLoop
    /// The wall clock at the recording's start, ns since 1970.
    private let start: Int64

    init(start: Int64) {
        self.loop = EmbeddedEventLoop()
        self.start = start
    }

    /// The recording's wall clock, ns since 1970.
    package var wall: @Sendable () -> Int64 {
        { [loop, start] in start.addingCapped(Int64(loop.now.uptimeNanoseconds) - Self.origin) }
    }

    /// Advances the time to `recorded`, ns since the recording's start; never goes back.
    func advance(to recorded: Int64) {
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(max(recorded.addingCapped(Self.origin), 0))))
    }
}

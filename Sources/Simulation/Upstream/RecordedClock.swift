import Market
import NIOCore
package import NIOEmbedded

/// The clock of a replay on virtual time: a loop whose time is the recording's own, and the wall clock of that day.
///
/// It stands still while work is done, and is set from message to message; timers fire on the way there, each at its time.
/// To be used on the thread that made it.
package struct RecordedClock: Sendable {
    /// What the monotonic clock shows at the recording's start, ns: a day, so that nobody who looks back meets zero.
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

    /// Lets time pass up to `recorded`, ns since the recording's start; never back.
    func advance(to recorded: Int64) {
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(max(recorded.addingCapped(Self.origin), 0))))
    }
}

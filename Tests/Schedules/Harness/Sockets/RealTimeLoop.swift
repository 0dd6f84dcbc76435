import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded

/// The loop of a schedule whose time is the machine's. It runs on the thread that lets time pass, between waits.
///
/// Unchecked: everything but ``submit(_:)`` belongs to that thread.
final class RealTimeLoop: @unchecked Sendable {
    /// The longest wait for a task of the loop that is due, s.
    private static let tick = 0.002

    let loop = EmbeddedEventLoop()
    /// The monotonic clock at the market's start, ns.
    private let began: Int64
    private let submitted = NIOLockedValueBox<[@Sendable () -> Void]>([])
    /// Holds 1 while something was submitted.
    private let signal = ConditionLock(value: 0)

    init() {
        self.began = Self.monotonic
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(ProgramLife.origin)))
    }

    private static var monotonic: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    /// Returns the time of the loop at a time of the machine's monotonic clock, ns.
    func time(at monotonic: Int64) -> Int64 { monotonic - self.began + ProgramLife.origin }

    /// The time of the loop, ns.
    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Does work on the loop soon. From any thread.
    func submit(_ work: @escaping @Sendable () -> Void) {
        self.submitted.withLockedValue { $0.append(work) }
        self.signal.lock()
        self.signal.unlock(withValue: 1)
    }

    /// Does what was submitted and what is due.
    func run() {
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(max(self.time(at: Self.monotonic), self.now))))
        if self.signal.lock(whenValue: 1, timeoutSeconds: 0) { self.signal.unlock(withValue: 0) }
        let works = self.submitted.withLockedValue { submitted in
            let works = submitted
            submitted = []
            return works
        }
        for work in works { work() }
        self.loop.run()
    }

    /// Waits until a time of the loop, ns, and does meanwhile what is submitted and what becomes due.
    func wait(until time: Int64) {
        while true {
            self.run()
            let left = time - self.time(at: Self.monotonic)
            guard left > 0 else { return }
            if self.signal.lock(whenValue: 1, timeoutSeconds: min(Double(left) / 1e9, Self.tick)) {
                self.signal.unlock(withValue: 0)
            }
        }
    }

    /// Waits until a condition holds, at most for a time, ns; returns whether it does.
    func wait(atMost limit: Int64, until condition: () -> Bool) -> Bool {
        let end = self.now + limit
        while !condition() {
            guard self.now < end else { return false }
            self.wait(until: self.now + 20_000_000)
        }
        return true
    }
}

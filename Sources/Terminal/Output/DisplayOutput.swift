import Platform

/// The output of a ``PriceDisplay``: a screen that shows whole states, or lines of single items.
///
/// Called on the feed's loop; never waits.
package protocol DisplayOutput: Sendable {
    /// Whether it shows whole states.
    var isScreen: Bool { get }

    /// Takes the newest state, which replaces any that has not been shown.
    func publish(_ state: DisplayState)

    /// Returns when prices that arrive at `now` should be published; monotonic ns, `nil` for at once.
    func publishingTime(now: Int64) -> Int64?

    /// Takes an item.
    func show(_ item: LineItem)
}

extension DisplayOutput {
    package func publish(_ state: DisplayState) {}
    package func publishingTime(now: Int64) -> Int64? { nil }
    package func show(_ item: LineItem) {}
}

/// An output with a thread that draws or writes.
package protocol ThreadedOutput: DisplayOutput {
    /// Draws or writes until it is asked to end. Blocks its thread.
    func work() -> OutputEnd

    /// Ends ``run()`` within a second. Callable from any thread, any number of times, also before `run`.
    func stop()
}

extension ThreadedOutput {
    /// Draws or writes on a new thread until it is asked to end, or its task is cancelled. Call it once.
    package func run() async -> OutputEnd {
        await withTaskCancellationHandler {
            let thread = WorkQueue("display")
            do throws(SystemCallFailure) {
                try thread.start()
            } catch {
                return .failed("no thread can be started: \(error)")
            }
            return await withCheckedContinuation { continuation in
                thread.submit { continuation.resume(returning: self.work()) }
            }
        } onCancel: {
            self.stop()
        }
    }
}

/// The reason why an output ended.
package enum OutputEnd: Sendable, Equatable {
    case stopped
    /// The person pressed the key for it.
    case quitKey
    /// The terminal is gone, or the output has no reader any more.
    case closed
    /// A write failed, with the system's reason.
    case failed(String)
    /// Not every symbol had a fresh price in time; names them and the reasons.
    case missed(String)
}

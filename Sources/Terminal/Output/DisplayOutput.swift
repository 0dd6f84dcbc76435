import Platform

/// Where a ``PriceDisplay`` shows what there is: in pictures of the whole state, or in lines of single items.
///
/// Called on the feed's loop; never waits.
package protocol DisplayOutput: Sendable {
    /// Whether it shows whole states.
    var isScreen: Bool { get }

    /// Takes the newest state, in place of any that has not been shown.
    func publish(_ state: DisplayState)

    /// When prices that come at `now` are to be published; monotonic ns, `nil` for at once.
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
    /// Draws or writes until it is asked to end; on a thread that may wait.
    func work() -> OutputEnd

    /// Ends ``run()`` within a second. From any thread, any number of times, also before `run`.
    func stop()
}

extension ThreadedOutput {
    /// Draws or writes on a new thread until it is asked to end; a cancelled task asks so. Call it once.
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

/// Why an output ended.
package enum OutputEnd: Sendable, Equatable {
    case stopped
    /// A person asked for it with a key.
    case quitKey
    /// The terminal is gone, or nobody reads the output any more.
    case closed
    /// The output does not take the lines, with the system's reason.
    case failed(String)
    /// Not every symbol had a fresh price in time; which, and why.
    case missed(String)
}

import Glibc
package import Market
package import Measurements
import NIOConcurrencyHelpers
package import Platform

/// The output without a screen: one line a price, or one for all of them, written by a thread of its own.
///
/// A reader that stops reading never holds up the feed: lines wait in a bounded queue, and what overflows is counted
/// and said. Lines are whole in every write as long as they are shorter than `PIPE_BUF`. A closed pipe ends it quietly.
package final class LinePrinter: Sendable {
    package enum ExitCause: Sendable, Equatable {
        case stopped
        /// Nobody reads the output any more.
        case closed
        /// The output does not take the lines, with the system's reason.
        case failed(String)
        /// Not every symbol had a fresh price in time; which, and why.
        case missed(String)
    }

    /// What is printed.
    package struct Settings: Sendable, Equatable {
        package var format: OutputFormat
        /// What a line says, where the format has fields; none means the usual.
        package var fields: [LineField] = []
        /// The symbols in the order of the formats that have all in one line.
        package var symbols: [String] = []
        package var limits = FreshnessLimits()
        /// Whether and how it ends by itself, when each symbol has been printed once.
        package var once: OnceGate.Settings?

        /// - Parameter format: a screen is none of the printer's, and counts as plain.
        package init(format: OutputFormat) {
            self.format = format
        }
    }

    struct Mailbox {
        var queue: LineQueue
        var isStopping = false
        var sleeps = false
    }

    let mailbox: NIOLockedValueBox<Mailbox>
    let wake: WakeSignal
    let output: PatientOutput
    let errors: PatientOutput
    let settings: Settings
    let status: FeedStatus
    /// Where it is measured how old a price is when it has been written.
    let latency: LatencyBook?

    /// Prepares an output; it also makes the process ignore SIGPIPE, so that a closed pipe is an answer and no death.
    ///
    /// - Parameters:
    ///   - status: The state until the first ``statusChanged(_:)``; not printed by itself.
    ///   - capacity: The most lines that wait for a slow reader.
    /// - Throws: ``SystemCallFailure`` when the process has no descriptor left.
    package init(
        _ settings: Settings,
        status: FeedStatus,
        output: Int32 = STDOUT_FILENO,
        errors: Int32 = STDERR_FILENO,
        capacity: Int = 4_096,
        latency: LatencyBook? = nil
    ) throws(SystemCallFailure) {
        self.latency = latency
        self.wake = try WakeSignal()
        self.output = PatientOutput(output)
        self.errors = PatientOutput(errors)
        self.settings = settings
        self.status = status
        self.mailbox = NIOLockedValueBox(Mailbox(queue: LineQueue(capacity: capacity)))
        signal(SIGPIPE, SIG_IGN)
    }

    /// Prints an item. From any thread; never waits.
    package func print(_ item: LineItem) {
        let mustWake = self.mailbox.withLockedValue { mailbox in
            mailbox.queue.append(item)
            defer { mailbox.sleeps = false }
            return mailbox.sleeps
        }
        if mustWake { self.wake.ring() }
    }

    /// Prints an alert. From any thread; never waits.
    ///
    /// - Parameter call: what a terminal is sent beside it; nothing where the errors go elsewhere.
    package func alert(_ alert: Alert, call: [UInt8]) {
        self.print(.alert(alert, call: isatty(self.errors.descriptor) == 1 ? call : []))
    }

    /// Ends ``run()`` within a second, with all that was printed before written if the reader takes it.
    package func stop() {
        self.mailbox.withLockedValue { $0.isStopping = true }
        self.wake.ring()
    }

    /// Writes until asked to end; a cancelled task is asked so. Call it once.
    package func run() async -> ExitCause {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                OwnThread.start {
                    var loop = LineLoop(printer: self)
                    continuation.resume(returning: loop.run())
                }
            }
        } onCancel: {
            self.stop()
        }
    }
}

import Glibc
package import Market
package import Measurements
package import Platform

/// The output without a screen: one line a price, or one for all of them, written by a thread of its own.
///
/// A reader that stops reading never holds up the feed: lines wait in a bounded queue, and what overflows is counted
/// and said. Lines are whole in every write as long as they are shorter than `PIPE_BUF`. A closed pipe ends it quietly.
package final class LinePrinter: ThreadedOutput {
    /// What is printed.
    package struct Settings: Sendable, Equatable {
        package var format: OutputFormat
        /// What a line says, where the format has fields; none means the usual.
        package var fields: [LineField] = []
        /// The symbols in the order of the formats that have all in one line.
        package var symbols: [String] = []
        package var limits = FreshnessLimits()
        /// Whether and how it ends by itself, when each symbol has been printed once.
        package var once: FreshPriceWait.Settings?

        /// - Parameter format: a screen is none of the printer's, and counts as plain.
        package init(format: OutputFormat) {
            self.format = format
        }
    }

    let mailbox: OutputMailbox<LineQueue>
    let output: PollingOutput
    let errors: PollingOutput
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
        self.mailbox = try OutputMailbox(LineQueue(capacity: capacity))
        self.output = PollingOutput(output)
        self.errors = PollingOutput(errors)
        self.settings = settings
        self.status = status
        signal(SIGPIPE, SIG_IGN)
    }

    package var isScreen: Bool { false }

    /// Prints an item. From any thread; never waits.
    package func show(_ item: LineItem) {
        guard case .alert(let alert, _) = item, isatty(self.errors.descriptor) != 1 else { return self.print(item) }
        // What a terminal is sent beside an alert goes nowhere else.
        self.print(.alert(alert, call: []))
    }

    func print(_ item: LineItem) { self.mailbox.leave { $0.append(item) } }

    /// Ends ``run()`` within a second, with all that was printed before written if the reader takes it.
    package func stop() { self.mailbox.stop() }

    package func work() -> OutputEnd {
        var loop = LineLoop(printer: self)
        return loop.run()
    }
}

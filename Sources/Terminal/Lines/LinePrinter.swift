import Glibc
package import Market
package import Measurements
package import Platform

/// The output without a screen: one line for each price, or one for all of them, written by a separate thread.
///
/// A reader that stops reading never delays the feed: lines wait in a bounded queue, and dropped ones are counted and
/// reported. Each write consists of whole lines, except for lines longer than `PIPE_BUF`. A closed pipe ends the output
/// without an error.
package final class LinePrinter: ThreadedOutput {
    /// The settings of a printer.
    package struct Settings: Sendable, Equatable {
        package var format: OutputFormat
        /// The fields of a line, where the format has fields; empty for the default ones.
        package var fields: [LineField] = []
        /// The order of the symbols, in the formats with one line for all.
        package var symbols: [String] = []
        package var limits = FreshnessLimits()
        /// How long one symbol is shown before the next, ns, in the formats with one line; `nil` to show all together.
        package var rotation: Int64?
        /// The colours, in a format that has them.
        package var look = DisplaySettings()
        /// The descriptor from which a status bar's clicks come, line by line; `nil` for none.
        package var clicks: Int32?
        /// The person's holdings, for their fields.
        package var holdings = Holdings()
        /// Whether and how the output ends by itself, after one price of each symbol.
        package var once: FreshPriceWait.Settings?

        /// - Parameter format: `tui` counts as plain.
        package init(format: OutputFormat) {
            self.format = format
        }
    }

    let mailbox: OutputMailbox<LineQueue>
    let output: PollingOutput
    let errors: NoticeOutput
    package let settings: Settings
    let status: FeedStatus
    /// Measures the age of a price when it has been written.
    let latency: LatencyBook?

    /// Prepares an output. Also makes the process ignore SIGPIPE, so that a closed pipe is an error and not the end.
    ///
    /// - Parameters:
    ///   - status: the status until the first status item; not printed by itself.
    ///   - errors: takes the notices beside the lines.
    ///   - capacity: the most items that wait for a slow reader.
    /// - Throws: ``SystemCallFailure`` when the process has no descriptor left.
    package init(
        _ settings: Settings,
        status: FeedStatus,
        output: Int32 = STDOUT_FILENO,
        errors: NoticeOutput,
        capacity: Int = 4_096,
        latency: LatencyBook? = nil
    ) throws(SystemCallFailure) {
        self.latency = latency
        self.mailbox = try OutputMailbox(LineQueue(capacity: capacity))
        self.output = PollingOutput(output)
        self.errors = errors
        self.settings = settings
        self.status = status
        signal(SIGPIPE, SIG_IGN)
    }

    package var isScreen: Bool { false }

    /// Prints an item. Callable from any thread; never waits.
    package func show(_ item: LineItem) {
        guard case .alert(let alert, _) = item, !self.errors.isTerminal else { return self.print(item) }
        // The bytes for a terminal must not reach a file or a pipe.
        self.print(.alert(alert, call: []))
    }

    /// Shows the neighbour of the symbol that is shown, in the formats with one line. Callable from any thread.
    package func go(_ step: SymbolStep) { self.print(.step(step)) }

    func print(_ item: LineItem) { self.mailbox.leave { $0.append(item) } }

    /// Ends ``run()`` within a second. Items printed before are written if the reader accepts them.
    package func stop() { self.mailbox.stop() }

    package func work() -> OutputEnd {
        var loop = LineLoop(printer: self)
        return loop.run()
    }
}

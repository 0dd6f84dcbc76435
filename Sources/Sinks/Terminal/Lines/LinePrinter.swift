import Glibc
package import Market
import NIOConcurrencyHelpers

/// The output without a screen: one line a price, written by a thread of its own.
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
    let format: LineFormat
    /// Where it is measured how old a price is when it has been written.
    let latency: LatencyBook?

    /// Prepares an output; it also makes the process ignore SIGPIPE, so that a closed pipe is an answer and no death.
    ///
    /// - Parameters:
    ///   - status: The state until the first ``statusChanged(_:)``; not printed by itself.
    ///   - capacity: The most lines that wait for a slow reader.
    /// - Throws: ``TerminalError`` when the process has no descriptor left.
    package init(
        isJSON: Bool,
        status: FeedStatus,
        output: Int32 = STDOUT_FILENO,
        errors: Int32 = STDERR_FILENO,
        capacity: Int = 4_096,
        latency: LatencyBook? = nil
    ) throws(TerminalError) {
        self.latency = latency
        self.wake = try WakeSignal()
        self.output = PatientOutput(output)
        self.errors = PatientOutput(errors)
        self.format = LineFormat(isJSON: isJSON, status: status)
        self.mailbox = NIOLockedValueBox(Mailbox(queue: LineQueue(capacity: capacity)))
        signal(SIGPIPE, SIG_IGN)
    }

    /// Prints a price. From any thread; never waits.
    ///
    /// - Parameter arrived: when its trade arrived; monotonic ns.
    package func print(_ update: PriceUpdate, arrived: Int64? = nil) { self.append(.price(update, arrived: arrived)) }

    /// Prints a change of the feed's state. From any thread; never waits.
    package func statusChanged(_ status: FeedStatus) { self.append(.status(status)) }

    /// Prints a change of a symbol's state. From any thread; never waits.
    package func symbolChanged(_ status: SymbolStatus) { self.append(.symbol(status)) }

    /// Forgets a symbol's state. From any thread; never waits.
    package func symbolUnwished(_ symbol: String) { self.append(.unwished(symbol)) }

    /// Prints a gap. From any thread; never waits.
    package func gapFound(_ gap: Gap) { self.append(.gap(gap)) }

    /// Prints an alert. From any thread; never waits.
    ///
    /// - Parameter call: what a terminal is sent beside it; nothing where the errors go elsewhere.
    package func alert(_ alert: Alert, call: [UInt8]) {
        self.append(.alert(alert, call: isatty(self.errors.descriptor) == 1 ? call : []))
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

    private func append(_ item: LineItem) {
        let mustWake = self.mailbox.withLockedValue { mailbox in
            mailbox.queue.append(item)
            defer { mailbox.sleeps = false }
            return mailbox.sleeps
        }
        if mustWake { self.wake.ring() }
    }
}

/// The writing thread of a ``LinePrinter``.
private struct LineLoop {
    private static let stopLimit: Int64 = 500_000_000
    /// Notices that wait for a slow reader of the errors; more are dropped.
    private static let errorLimit = 64 * 1_024

    private let printer: LinePrinter
    private var format: LineFormat
    /// Taken from the queue and not yet turned into bytes.
    private var items: ArraySlice<LineItem> = []
    private var pending: ArraySlice<UInt8> = []
    private var pendingErrors: ArraySlice<UInt8> = []
    /// When the trades arrived whose lines are in `pending`.
    private var arrivals: [Int64] = []
    private var stopAt: Int64?
    private var isClosed = false
    /// Why the output does not take lines, in the system's words.
    private var failure: String?

    init(printer: LinePrinter) {
        self.printer = printer
        self.format = printer.format
    }

    mutating func run() -> LinePrinter.ExitCause {
        while true {
            let isLast = self.fill()
            guard self.flush() else { return self.failure.map { .failed($0) } ?? .closed }
            // The next piece follows at once when this one is gone.
            if self.pending.isEmpty, self.hasMore { continue }
            if isLast {
                let now = DisplayClock.monotonic()
                let limit = self.stopAt ?? now + Self.stopLimit
                self.stopAt = limit
                if self.pending.isEmpty && self.pendingErrors.isEmpty || now >= limit { return .stopped }
                self.listen(atMost: limit - now)
            } else {
                self.listen(atMost: nil)
            }
            if self.isClosed { return .closed }
        }
    }

    private var hasMore: Bool {
        !self.items.isEmpty || self.printer.mailbox.withLockedValue { !$0.queue.isEmpty }
    }

    /// Turns waiting items into one piece of whole lines; tells whether the end has been asked for.
    private mutating func fill() -> Bool {
        let isStopping = self.printer.mailbox.withLockedValue { mailbox -> Bool in
            if self.items.isEmpty, self.pending.isEmpty {
                let (items, dropped) = mailbox.queue.take()
                self.items = items[...]
                if dropped > 0 { self.add(self.format.dropped(dropped)) }
            }
            return mailbox.isStopping
        }
        guard self.pending.count < Int(PIPE_BUF) else { return isStopping }
        while let item = self.items.first {
            let lines = self.format.lines(item)
            if !self.pending.isEmpty, self.pending.count + lines.output.count > Int(PIPE_BUF) { break }
            self.add(lines)
            if case .price(_, let arrived?) = item { self.arrivals.append(arrived) }
            self.items.removeFirst()
        }
        return isStopping
    }

    private mutating func add(_ lines: LineFormat.Lines) {
        self.pending += lines.output
        if self.pendingErrors.count + lines.errors.count <= Self.errorLimit { self.pendingErrors += lines.errors }
    }

    /// Writes what the readers take; `false` when nobody reads the output.
    private mutating func flush() -> Bool {
        var errorsAreOpen = true
        while errorsAreOpen, !self.pendingErrors.isEmpty {
            switch self.printer.errors.write(self.pendingErrors) {
            case .wrote(let count): self.pendingErrors = self.pendingErrors.dropFirst(count)
            case .full: errorsAreOpen = false
            // Notices that nobody reads are no reason to end.
            case .closed, .failed: self.pendingErrors = []
            }
        }
        while !self.pending.isEmpty {
            switch self.printer.output.write(self.pending) {
            case .wrote(let count): self.pending = self.pending.dropFirst(count)
            case .full: return true
            case .closed: return false
            case .failed(let number):
                self.failure = String(cString: strerror(number))
                return false
            }
        }
        if !self.arrivals.isEmpty { self.measureArrivals() }
        return true
    }

    /// The output has taken all lines of the piece.
    private mutating func measureArrivals() {
        let now = DisplayClock.monotonic()
        if let histogram = self.printer.latency?[.arrivalToScreen] {
            for arrival in self.arrivals { histogram.record(nanoseconds: now - arrival) }
        }
        self.arrivals.removeAll(keepingCapacity: true)
    }

    private mutating func listen(atMost wait: Int64?) {
        let isCalled = self.printer.mailbox.withLockedValue { mailbox in
            let canTake = self.pending.isEmpty && self.items.isEmpty
            mailbox.sleeps = canTake && mailbox.queue.isEmpty
            return canTake && !mailbox.queue.isEmpty || mailbox.isStopping && self.stopAt == nil
        }
        var descriptors = [
            pollfd(fd: self.printer.wake.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: self.printer.output.descriptor,
                events: self.pending.isEmpty ? 0 : Int16(POLLOUT),
                revents: 0
            ),
        ]
        if !self.pendingErrors.isEmpty {
            descriptors.append(
                pollfd(fd: self.printer.errors.descriptor, events: Int16(POLLOUT), revents: 0)
            )
        }
        DisplayClock.wait(&descriptors, nanoseconds: isCalled ? 0 : wait)
        self.printer.mailbox.withLockedValue { $0.sleeps = false }
        if descriptors[0].revents != 0 { self.printer.wake.hush() }
        // Also heard while there is nothing to write: `tickertape | head -1` ends with its reader.
        self.isClosed = Int32(descriptors[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
    }
}

import Glibc
import Platform

/// The loop of a ``LinePrinter``'s writing thread.
struct LineLoop {
    private static let stopLimit: Int64 = 500_000_000

    private let printer: LinePrinter
    private var output: LineOutput
    /// Items taken from the queue and not yet formatted.
    private var items: ArraySlice<LineItem> = []
    /// The lines of an item that did not fit into the previous chunk.
    private var next: (lines: LineFormat.Lines, arrived: Int64?)?
    private var pending: ArraySlice<UInt8> = []
    /// The clicks on a status bar; `nil` where none come.
    private var clicks: BarClicks?
    /// The arrivals of the trades whose lines are in `pending`.
    private var arrivals: [Int64] = []
    private var stopAt: Int64?
    /// Whether the last line was written, in a format with one line for all items.
    private var hasEnded = false
    private var isClosed = false
    /// Why writing failed, in the system's words.
    private var failure: String?

    init(printer: LinePrinter) {
        self.printer = printer
        self.output = LineOutput(printer.settings, status: printer.status, now: SystemClock.monotonic())
        self.pending = self.output.header[...]
        self.clicks = printer.settings.clicks.map { BarClicks($0) }
    }

    mutating func run() -> OutputEnd {
        while true {
            let isLast = self.fill()
            guard self.flush() else { return self.failure.map { .failed($0) } ?? .closed }
            // The next chunk follows as soon as this one is written.
            if self.pending.isEmpty, self.hasMore { continue }
            let now = SystemClock.monotonic()
            if isLast, self.pending.isEmpty, !self.hasEnded {
                self.hasEnded = true
                if let line = self.output.last(now: SystemClock.now()) {
                    self.pending = line[...]
                    continue
                }
            }
            if isLast {
                let limit = self.stopAt ?? now + Self.stopLimit
                self.stopAt = limit
                if self.pending.isEmpty || now >= limit {
                    return self.output.report(now: now).map { .missed($0) } ?? .stopped
                }
                self.listen(atMost: limit - now)
            } else {
                self.listen(atMost: self.pending.isEmpty ? self.output.due.map { max($0 - now, 0) } : nil)
            }
            if self.isClosed { return .closed }
        }
    }

    private var hasMore: Bool {
        !self.items.isEmpty || self.next != nil || self.printer.mailbox.withContent { !$0.isEmpty }
    }

    /// Formats waiting items into one chunk of whole lines; returns whether the output must end.
    private mutating func fill() -> Bool {
        let canTake = self.items.isEmpty && self.next == nil && self.pending.isEmpty
        // The lock is held only to take the items out, since the feed's loop waits for it.
        let isStopping = self.printer.mailbox.isStopping
        let queue = canTake ? self.printer.mailbox.withContent { $0.takeOut() } : nil
        if var queue {
            let (items, dropped) = queue.take()
            self.items = items[...]
            if dropped > 0 { self.add(self.output.dropped(dropped)) }
        }
        let now = SystemClock.now()
        while self.pending.count < Int(PIPE_BUF) {
            if self.next == nil, let item = self.items.popFirst() {
                var arrived: Int64?
                if case .price(_, let arrival) = item { arrived = arrival }
                self.next = (self.output.lines(item, now: now.monotonic), arrived)
            }
            guard let next = self.next else { break }
            if !self.pending.isEmpty, self.pending.count + next.lines.output.count > Int(PIPE_BUF) { break }
            self.add(next.lines)
            if let arrived = next.arrived, !next.lines.output.isEmpty { self.arrivals.append(arrived) }
            self.next = nil
        }
        // No new line while a slow reader has not taken the last one; it gets the newest afterwards.
        if self.pending.isEmpty, self.items.isEmpty, let line = self.output.live(now: now) { self.pending = line[...] }
        return isStopping || self.output.isOver(now: now.monotonic)
    }

    private mutating func add(_ lines: LineFormat.Lines) {
        self.pending += lines.output
        if !lines.errors.isEmpty { self.printer.errors.write(String(decoding: lines.errors, as: UTF8.self)) }
    }

    /// Writes what the readers accept; `false` when the output has no reader any more, or fails.
    private mutating func flush() -> Bool {
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

    /// Records the time from arrival to output for each line of the chunk.
    private mutating func measureArrivals() {
        let now = SystemClock.monotonic()
        if let histogram = self.printer.latency?[.arrivalToScreen] {
            for arrival in self.arrivals { histogram.record(nanoseconds: now - arrival) }
        }
        self.arrivals.removeAll(keepingCapacity: true)
    }

    private mutating func listen(atMost wait: Int64?) {
        let events = self.pending.isEmpty ? 0 : Int16(POLLOUT)
        var descriptors = [
            pollfd(fd: self.printer.output.descriptor, events: events, revents: 0),
            // poll(2) passes over a negative descriptor.
            pollfd(fd: self.clicks?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let canTake = self.pending.isEmpty && self.items.isEmpty
        self.printer.mailbox.wait(with: &descriptors, atMost: wait) { queue, isStopping in
            (canTake && queue.isEmpty, canTake && !queue.isEmpty || isStopping && self.stopAt == nil)
        }
        // Checked even without anything to write: `tickertape | head -1` ends with its reader.
        self.isClosed = Int32(descriptors[0].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
        if descriptors[1].revents != 0, let steps = self.clicks?.read() {
            for step in steps { self.printer.go(step) }
            if self.clicks?.isAtEnd == true { self.clicks = nil }
        }
    }
}

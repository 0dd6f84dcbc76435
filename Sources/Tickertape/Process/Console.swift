import Glibc
import Logging
import Market
import NIOConcurrencyHelpers
import Platform
import Synchronization
import Wire

/// The unbuffered writer of standard output and standard error.
///
/// Every line for a person goes through ``PrintableText`` here, since it may quote untrusted text: a recording's
/// header, a certificate's name, an argument. ``print(_:)`` and ``printError(_:)`` write exactly one line;
/// ``printError(lines:)`` splits a text into lines.
enum Console {
    /// The `errno` of the first failed write to standard output; 0 after none.
    private static let failureNumber = Atomic<Int32>(0)

    /// The reason why standard output did not take all lines, such as a full disk; `nil` if it took all.
    static var failure: String? {
        let number = self.failureNumber.load(ordering: .relaxed)
        return number == 0 ? nil : String(cString: strerror(number))
    }

    /// The queue of lines for standard error; `nil` in a command whose threads may wait for the reader.
    private static let errorQueue = NIOLockedValueBox<ErrorLineQueue?>(nil)
    /// The output of a command without a queue, and the form of both.
    private static let errorOutput = NIOLockedValueBox(ErrorOutput(descriptor: STDERR_FILENO))
    /// The limit of equal messages.
    private static let repeats = RepeatLimiter { Console.put(.record($0)) }
    /// The longest time that the end of the program waits for a reader of standard error, which may have stopped reading.
    private static let errorLimit = Duration.seconds(1)

    /// Sends all lines for standard error through a queue from now on, so that no event loop waits for their reader.
    static func queueErrors() {
        self.errorQueue.withLockedValue { queue in
            // Without a thread left in the system they are written at once, as in the commands that need no queue.
            if queue == nil { queue = try? ErrorLineQueue(self.errorOutput.withLockedValue { $0 }) }
        }
    }

    /// Writes everything for standard error in another form from now on.
    ///
    /// - Parameter repeats: the most equal messages of a part a minute; `nil` for any number.
    static func setLog(_ form: LogForm, repeats: Int?) {
        self.errorOutput.withLockedValue { $0.form = form }
        self.errorQueue.withLockedValue { $0?.setForm(form) }
        self.repeats.setMost(repeats)
    }

    /// Waits until the queued lines for standard error are written; returns `false` if the reader does not take them in time.
    @discardableResult
    static func flushErrors() async -> Bool {
        self.repeats.sayAll()
        return await self.errorQueue.withLockedValue { $0 }?.flush(within: self.errorLimit) ?? true
    }

    /// Prints a line to standard output.
    static func print(_ line: String) { self.put(PrintableText.line(line) + "\n") }

    /// Prints a line to standard output, in several lines if a terminal is narrower.
    ///
    /// - Parameter indent: the blanks before each further line.
    static func print(wrapped line: String, indent: Int) {
        let text = PrintableText.line(line)
        for line in WrappedLine.lines(text, columns: WrappedLine.window?.columns, indent: indent) {
            self.put(line + "\n")
        }
    }

    /// Prints a record of CSV, which counts as one line and ends in CR LF (RFC 4180).
    static func print(csv record: String) { self.put(PrintableText.line(record) + "\r\n") }

    /// Prints a JSON text as a line to standard output, with unprintable characters escaped.
    static func print(json: String) {
        self.put(String(decoding: JSONText.printable(json.utf8), as: UTF8.self) + "\n")
    }

    /// Writes to standard output. A closed pipe ends the program, as it ends any filter; ``failure`` reports other
    /// errors at the end.
    private static func put(_ text: String) {
        let number = self.write(text, to: STDOUT_FILENO)
        guard number != 0, number != EPIPE else { return }
        _ = self.failureNumber.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }

    /// Prints a line to standard error, with the program's name.
    ///
    /// - Parameter level: the level where the log has levels; by default that of a warning if the line says that it is
    ///   one.
    static func printError(_ line: String, level: Logger.Level? = nil, part: LogPart = .program) {
        self.put(.record(LogRecord(line: line, level: level, part: part, time: WallClock.now())))
    }

    /// Returns whether a message of a logger is written; one that repeats too often is counted.
    static func wants(_ key: RepeatedMessages.Key) -> Bool { self.repeats.wants(key) }

    /// Writes a message of a logger to standard error.
    static func log(_ record: LogRecord) { self.put(.record(record)) }

    /// Prints whole lines to standard error that are already escaped.
    static func printNotice(_ text: String) { self.put(.text(text)) }

    /// Prints several lines to standard error, without the program's name.
    static func printError(lines: String) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
            self.put(.text("\(PrintableText.line(line))\n"))
        }
    }

    private static func put(_ entry: ErrorEntry) {
        if let queue = self.errorQueue.withLockedValue({ $0 }) {
            queue.append(entry)
        } else {
            self.errorOutput.withLockedValue { $0 }.put(entry)
        }
    }

    /// Returns `errno`, or 0.
    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        Array(text.utf8).withUnsafeBytes { WholeWrite.write($0, to: descriptor) }
    }
}

import Platform

/// What is written to standard error: a message that still has no form, or text that has one.
enum ErrorEntry: Sendable {
    case record(LogRecord)
    /// Whole lines for people, with their line ends.
    case text(String)

    /// About the memory that it takes, bytes.
    var size: Int {
        switch self {
        case .record(let record): record.size
        case .text(let text): text.utf8.count
        }
    }
}

/// The writer of entries to standard error in one form, a write an entry. It waits for the reader.
struct ErrorOutput: Sendable {
    let descriptor: Int32
    var form = LogForm.text
    /// The address of the journal's socket.
    var journal = "/run/systemd/journal/socket"
    /// The wall clock, ns since 1970.
    var clock: @Sendable () -> Int64 = WallClock.now

    /// Writes an entry; returns `errno`, or 0.
    @discardableResult
    func put(_ entry: ErrorEntry) -> Int32 {
        switch (self.form, entry) {
        case (.text, .record(let record)): return self.write(Array(record.textLine.utf8))
        case (.text, .text(let text)): return self.write(Array(text.utf8))
        case (.json, .record(let record)): return self.write(record.withoutMark.jsonLine)
        case (.journal, .record(let record)):
            let record = record.withoutMark
            if self.send(record.journalFields) { return 0 }
            return self.write(Array(record.priorityLine.utf8))
        case (.json, .text(let text)), (.journal, .text(let text)):
            var failure: Int32 = 0
            for line in text.split(separator: "\n") {
                let result = self.put(.record(LogRecord(line: String(line), time: self.clock())))
                if result != 0 { failure = result }
            }
            return failure
        }
    }

    private func send(_ fields: [UInt8]) -> Bool {
        LocalDatagram.send(fields, to: Array(self.journal.utf8), waits: true)
    }

    /// Writes one line, because a pipe keeps only short writes together (`PIPE_BUF`).
    private func write(_ bytes: [UInt8]) -> Int32 {
        bytes.withUnsafeBytes { WholeWrite.write($0, to: self.descriptor) }
    }
}

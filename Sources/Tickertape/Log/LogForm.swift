import Glibc

/// The form in which lines are written to standard error.
enum LogForm: Sendable, Equatable {
    /// Lines for people.
    case text
    /// One JSON object a line.
    case json
    /// Fields for the journal, or lines with the priority before them while it does not take fields.
    case journal

    /// Creates the form that a format selects.
    ///
    /// - Parameter isJournal: whether standard error is the journal.
    init(_ format: LogFormat, isJournal: Bool) {
        self =
            switch format {
            case .auto: isJournal ? .journal : .text
            case .text: .text
            case .json: .json
            case .journal: .journal
            }
    }

    /// Returns whether a descriptor is the journal.
    ///
    /// - Parameter stream: the device and inode of the stream that the service manager has opened, as in the variable
    ///   `JOURNAL_STREAM` (systemd.exec(5)). A program that was started by the service has inherited the variable, too,
    ///   but may have another standard error.
    static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
        guard let stream else { return false }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return false }
        return stream == "\(facts.st_dev):\(facts.st_ino)"
    }
}

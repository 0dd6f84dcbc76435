import Logging
import Market

/// A log line: time, level, message, facts: `2026-11-21T05:31:02.123Z warning the feed's state cause=lost reason="…"`.
///
/// The message is always one of ours; facts may be foreign, and go through ``PrintableText`` here, whichever module logs them.
/// One with blanks or quotation marks stands between quotation marks, so that no fact looks like another.
struct LogLineHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    /// The wall clock, ns since 1970.
    let clock: @Sendable () -> Int64
    /// Takes a line with its end.
    let write: @Sendable (String) -> Void

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var facts = self.metadata
        if let more = event.metadata { facts.merge(more) { $1 } }
        if let error = event.error { facts["error"] = "\(error)" }
        self.write(Self.line(self.clock(), event.level, "\(event.message)", facts) + "\n")
    }

    static func line(_ time: Int64, _ level: Logger.Level, _ message: String, _ facts: Logger.Metadata) -> String {
        var line = "\(UTCText.timestamp(time)) \(level) \(PrintableText.line(message))"
        for (name, value) in facts.sorted(by: { $0.key < $1.key }) {
            line += " \(PrintableText.line(name))=\(Self.fact("\(value)"))"
        }
        return line
    }

    private static func fact(_ value: String) -> String {
        let text = PrintableText.line(value, limit: 1_024)
        guard text.isEmpty || text.contains(where: { " \"=\\".contains($0) }) else { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

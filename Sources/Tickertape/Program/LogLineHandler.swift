import Logging
import Market

/// The formatter of log lines: time, level, message and metadata, as in `2026-11-21T05:31:02.123Z warning the feed's
/// state cause=lost reason="…"`.
///
/// The message is a constant of the program. Metadata may be untrusted and goes through ``PrintableText`` here for
/// every module. A value with blanks or quotation marks is quoted, so that it cannot imitate another one.
struct LogLineHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    /// The wall clock, ns since 1970.
    let clock: @Sendable () -> Int64
    /// Writes a line, which includes its line end.
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

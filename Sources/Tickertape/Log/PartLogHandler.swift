import Logging

/// The log handler of one part: it makes each event a ``LogRecord``. Its level is the part's, unless the logger sets
/// another one.
struct PartLogHandler: LogHandler {
    let part: LogPart
    let levels: LogLevels
    /// The wall clock, ns since 1970.
    let clock: @Sendable () -> Int64
    /// Whether a message is written, or only counted.
    let wants: @Sendable (RepeatedMessages.Key) -> Bool
    let write: @Sendable (LogRecord) -> Void
    var metadata: Logger.Metadata = [:]
    private var ownLevel: Logger.Level?

    init(
        _ part: LogPart,
        levels: LogLevels,
        clock: @escaping @Sendable () -> Int64,
        wants: @escaping @Sendable (RepeatedMessages.Key) -> Bool = { _ in true },
        write: @escaping @Sendable (LogRecord) -> Void
    ) {
        self.part = part
        self.levels = levels
        self.clock = clock
        self.wants = wants
        self.write = write
    }

    var logLevel: Logger.Level {
        get { self.ownLevel ?? self.levels[self.part] ?? .critical }
        set { self.ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard self.ownLevel != nil || self.levels[self.part] != nil else { return }
        let message = "\(event.message)"
        guard self.wants(RepeatedMessages.Key(part: self.part, level: event.level, message: message)) else { return }
        var facts = self.metadata
        if let more = event.metadata { facts.merge(more) { $1 } }
        if let error = event.error { facts["error"] = "\(error)" }
        self.write(
            LogRecord(
                time: self.clock(),
                level: event.level,
                part: self.part,
                message: message,
                facts: facts.sorted { $0.key < $1.key }.map { LogRecord.Fact(name: $0.key, value: "\($0.value)") }
            )
        )
    }
}

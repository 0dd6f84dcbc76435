import Logging
import Market
import Wire

/// One message of the program, before it has a form.
struct LogRecord: Sendable, Equatable {
    /// Wall clock, ns since 1970.
    var time: Int64
    var level: Logger.Level
    var part: LogPart
    /// A constant for a message of a logger.
    var message: String
    /// The metadata, sorted by name.
    var facts: [Fact] = []
    /// Whether it is a line for people, which has no time and no level as text.
    var isPlain = false

    struct Fact: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// The largest number of Unicode scalars of a message, and of a value of the metadata.
    private static let maximumMessage = 4_096
    private static let maximumFact = 1_024

    /// About the memory that it takes, bytes.
    var size: Int {
        self.facts.reduce(64 + self.message.utf8.count) { $0 + 32 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// The priority of syslog (RFC 5424, 6.2.1).
    var priority: Int {
        switch self.level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    /// The message with its metadata, without characters that a terminal obeys.
    ///
    /// The message is a constant of the program. Metadata may be untrusted. A value with blanks or quotation marks is
    /// quoted, so that it cannot imitate another one.
    var words: String {
        var line = PrintableText.line(self.message, limit: Self.maximumMessage)
        for fact in self.facts { line += " \(PrintableText.line(fact.name))=\(Self.quoted(Self.value(fact)))" }
        return line
    }

    /// The line of text, with its line end: `2026-11-21T05:31:02.123Z warning feed: The feed has a gap reason=…`, or
    /// `tickertape: …` for people.
    var textLine: String {
        self.isPlain
            ? "tickertape: \(self.words)\n"
            : "\(UTCText.timestamp(self.time)) \(self.level) \(self.part.rawValue): \(self.words)\n"
    }

    /// The line for a journal that takes lines: its priority comes first (sd-daemon(3)).
    var priorityLine: String { "<\(self.priority)>\(self.words)\n" }

    /// The JSON object, with its line end.
    var jsonLine: [UInt8] {
        let line = JSONWriter.line { out in
            out.field("time", UTCText.timestamp(self.time))
            out.field("level", "\(self.level)")
            out.field("part", self.part.rawValue)
            out.field("message", PrintableText.line(self.message, limit: Self.maximumMessage))
            guard !self.facts.isEmpty else { return }
            out.object("metadata") { out in
                for fact in self.facts { out.field(named: PrintableText.line(fact.name), Self.value(fact)) }
            }
        }
        return Array(line.readableBytesView)
    }

    /// The datagram for the journal: a field a line (systemd's "Native Journal Protocol"). No value has a line end in
    /// it, so that none needs the binary form.
    ///
    /// `MESSAGE` is for people and has the metadata in it, as `journalctl` shows nothing else. `TICKERTAPE_EVENT` is
    /// the constant message alone, to select by.
    var journalFields: [UInt8] {
        var text = "MESSAGE=\(self.words)\nPRIORITY=\(self.priority)\nSYSLOG_IDENTIFIER=tickertape\n"
        text += "TICKERTAPE_PART=\(self.part.rawValue)\nTICKERTAPE_LEVEL=\(self.level)\n"
        if !self.isPlain {
            text += "TICKERTAPE_EVENT=\(PrintableText.line(self.message, limit: Self.maximumMessage))\n"
        }
        for fact in self.facts { text += "\(Self.fieldName(fact.name))=\(Self.value(fact))\n" }
        return Array(text.utf8)
    }

    /// Returns the journal's name of a fact: `retryAt` is `TICKERTAPE_RETRY_AT`. The journal takes capital letters,
    /// digits and underscores, 64 in all.
    static func fieldName(_ name: String) -> String {
        var field = "TICKERTAPE_"
        var wasSmall = false
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): field.unicodeScalars.append(Unicode.Scalar(byte - 32))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if wasSmall { field += "_" }
                field.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9"): field.unicodeScalars.append(Unicode.Scalar(byte))
            default: field += "_"
            }
            wasSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return String(field.prefix(64))
    }

    private static func value(_ fact: Fact) -> String { PrintableText.line(fact.value, limit: self.maximumFact) }

    private static func quoted(_ text: String) -> String {
        guard text.isEmpty || text.contains(where: { " \"=\\".contains($0) }) else { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

extension LogRecord {
    private static let warningMark = "warning: "

    /// Creates a record of a line for people. One that begins with `warning:` is a warning, which only a text must say.
    ///
    /// - Parameter level: the level; `nil` for what the line's beginning says.
    init(line: String, level: Logger.Level? = nil, part: LogPart = .program, time: Int64) {
        let isWarning = line.hasPrefix(Self.warningMark)
        self.init(
            time: time,
            level: level ?? (isWarning ? .warning : .notice),
            part: part,
            message: line,
            isPlain: true
        )
    }

    /// The record without the mark of a warning, for forms that have a level.
    var withoutMark: LogRecord {
        guard self.isPlain, self.message.hasPrefix(Self.warningMark) else { return self }
        var record = self
        record.message = String(self.message.dropFirst(Self.warningMark.count))
        return record
    }
}

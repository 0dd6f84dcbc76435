import Glibc
import Logging
import NIOConcurrencyHelpers
import TLS
import Terminal
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("The forms of the log", .timeLimit(.minutes(1 * Patience.factor)))
struct LogFormTests {
    private static let gap = LogRecord(
        time: 1_795_239_062_123_000_000,
        level: .warning,
        part: .feed,
        message: "The feed has a gap",
        facts: [.init(name: "possibleRepeats", value: "3"), .init(name: "reason", value: #"no "trades" arrive"#)]
    )

    /// A pipe, and the datagrams of a socket in place of the journal's.
    private final class Ends {
        let folder: TemporaryFolder
        let output: Int32
        let input: Int32
        let journal: Int32

        init() throws {
            self.folder = try TemporaryFolder()
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
            (self.output, self.input) = (ends[0], ends[1])
            self.journal = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = "\(self.folder.path)/journal"
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let bound = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(self.journal, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0)
        }

        deinit {
            for descriptor in [self.output, self.input, self.journal] { close(descriptor) }
            self.folder.remove()
        }

        func writer(_ form: LogForm, journal name: String = "journal") -> ErrorOutput {
            ErrorOutput(
                descriptor: self.input,
                form: form,
                journal: "\(self.folder.path)/\(name)",
                clock: { 0 }
            )
        }

        /// What was written to the pipe; empty if nothing was.
        var written: String { Self.text(from: self.output) }

        /// The next datagram; empty if there is none.
        var datagram: String { Self.text(from: self.journal) }

        private static func text(from descriptor: Int32) -> String {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(descriptor, &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        }
    }

    @Test("text has time, level, part and message first, then the metadata; a line for people has the program's name")
    func text() throws {
        let ends = try Ends()
        let output = ends.writer(.text)
        output.put(.record(Self.gap))
        output.put(.record(LogRecord(line: "warning: the disk is full", part: .recorder, time: 0)))
        output.put(.text("alert: A:B\n"))
        #expect(
            ends.written == #"""
                2026-11-21T05:31:02.123Z warning feed: The feed has a gap possibleRepeats=3 reason="no \"trades\" arrive"
                tickertape: warning: the disk is full
                alert: A:B

                """#
        )
    }

    @Test("JSON is one object a line, with the metadata beside the constant message")
    func json() throws {
        let ends = try Ends()
        let output = ends.writer(.json)
        output.put(.record(Self.gap))
        output.put(.record(LogRecord(line: "warning: the disk is full", part: .recorder, time: 0)))
        output.put(.record(LogRecord(line: "no key", level: .error, time: 0)))
        output.put(.text("one\ntwo\n"))
        #expect(
            ends.written == #"""
                {"time":"2026-11-21T05:31:02.123Z","level":"warning","part":"feed","message":"The feed has a gap","metadata":{"possibleRepeats":"3","reason":"no \"trades\" arrive"}}
                {"time":"1970-01-01T00:00:00.000Z","level":"warning","part":"recorder","message":"the disk is full"}
                {"time":"1970-01-01T00:00:00.000Z","level":"error","part":"program","message":"no key"}
                {"time":"1970-01-01T00:00:00.000Z","level":"notice","part":"program","message":"one"}
                {"time":"1970-01-01T00:00:00.000Z","level":"notice","part":"program","message":"two"}

                """#
        )
    }

    @Test("the journal gets fields, in a datagram a message")
    func journal() throws {
        let ends = try Ends()
        let output = ends.writer(.journal)
        output.put(.record(Self.gap))
        #expect(
            ends.datagram == #"""
                MESSAGE=The feed has a gap possibleRepeats=3 reason="no \"trades\" arrive"
                PRIORITY=4
                SYSLOG_IDENTIFIER=tickertape
                TICKERTAPE_PART=feed
                TICKERTAPE_LEVEL=warning
                TICKERTAPE_EVENT=The feed has a gap
                TICKERTAPE_POSSIBLE_REPEATS=3
                TICKERTAPE_REASON=no "trades" arrive

                """#
        )
        output.put(.record(LogRecord(line: "the relay is on ws://127.0.0.1:8080/", time: 0)))
        let line = ends.datagram
        #expect(line.hasPrefix("MESSAGE=the relay is on ws://127.0.0.1:8080/\nPRIORITY=5\n") && !line.contains("EVENT"))
        #expect(ends.written.isEmpty && ends.datagram.isEmpty)
    }

    @Test("without the journal's socket, its lines begin with their priority")
    func fallback() throws {
        let ends = try Ends()
        let output = ends.writer(.journal, journal: "nothing")
        for (level, priority) in [
            (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
        ] {
            output.put(.record(LogRecord(time: 0, level: level, part: .relay, message: "said")))
            #expect(ends.written == "<\(priority)>said\n")
        }
        output.put(.record(LogRecord(line: "warning: w", time: 0)))
        #expect(ends.written == "<4>w\n")
    }

    @Test("no text from outside makes another line, field or member, nor an order for a terminal")
    func foreign() throws {
        let ends = try Ends()
        var record = Self.gap
        let hostile = "x\u{1B}]0;t\u{7}\r\nPRIORITY=0\n\u{9B}2J\u{202E}\u{2028}\"},{"
        record.facts = [
            .init(name: "a\nPRIORITY=0\n__b", value: hostile),
            .init(name: String(repeating: "long", count: 50), value: "1"),
        ]
        ends.writer(.journal).put(.record(record))
        let fields = ends.datagram.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(fields.count == 9 && fields.filter { $0.hasPrefix("PRIORITY=") }.count == 1, "\(fields)")
        #expect(fields[6].hasPrefix("TICKERTAPE_A_PRIORITY_0___B=x"))
        #expect(fields[7].split(separator: "=")[0].utf8.count == 64)
        ends.writer(.json).put(.record(record))
        let json = ends.written
        ends.writer(.text).put(.record(record))
        for line in [json, ends.written] {
            #expect(line.filter { $0 == "\n" }.count == 1 && line.hasSuffix("\n"))
            #expect(line.dropLast().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect(!line.contains("\u{202E}") && !line.contains("\u{2028}"))
        }
        #expect(json.contains(#"\"},{","#))
    }

    @Test("long values are cut, so that a message fits into a datagram")
    func long() throws {
        let ends = try Ends()
        var record = Self.gap
        record.message = String(repeating: "m", count: 100_000)
        record.facts = [.init(name: "text", value: String(repeating: "v", count: 100_000))]
        ends.writer(.journal).put(.record(record))
        let fields = ends.datagram.split(separator: "\n")
        #expect(fields.last == "TICKERTAPE_TEXT=\(String(repeating: "v", count: 1_024))")
        #expect(fields[0].utf8.count == "MESSAGE= text=".utf8.count + 4_096 + 1_024)
    }

    @Test("standard error is the journal only if it is the stream that the variable names")
    func detection() throws {
        let ends = try Ends()
        var facts = stat()
        try #require(fstat(ends.input, &facts) == 0)
        #expect(LogForm.isJournal(ends.input, stream: "\(facts.st_dev):\(facts.st_ino)"))
        #expect(!LogForm.isJournal(ends.input, stream: "\(facts.st_dev):\(facts.st_ino + 1)"))
        #expect(!LogForm.isJournal(ends.input, stream: nil) && !LogForm.isJournal(ends.input, stream: "x"))
        #expect(!LogForm.isJournal(-1, stream: "0:0"))
        #expect(LogForm(.auto, isJournal: true) == .journal && LogForm(.auto, isJournal: false) == .text)
        #expect(LogForm(.json, isJournal: true) == .json && LogForm(.text, isJournal: true) == .text)
    }

    // MARK: Levels

    /// The messages that loggers write.
    private final class Written: Sendable {
        let records = NIOLockedValueBox<[LogRecord]>([])

        func logger(_ part: LogPart, _ levels: LogLevels) -> Logger {
            Logger(label: "test") { _ in
                PartLogHandler(part, levels: levels, clock: { 7 }) { record in
                    self.records.withLockedValue { $0.append(record) }
                }
            }
        }

        var messages: [String] { self.records.withLockedValue { $0 }.map { "\($0.part) \($0.level) \($0.message)" } }
    }

    @Test("each part has its level, which may change while the loggers are in use")
    func levels() {
        var settings = LogSettings(level: .notice)
        settings.levels = [.feed: .debug, .relay: .error]
        let levels = LogLevels([.feed: .debug, .relay: .error, .tls: settings.level(of: .tls)])
        let written = Written()
        let (feed, relay, audit) = (
            written.logger(.feed, levels), written.logger(.relay, levels), written.logger(.audit, levels)
        )
        feed.debug("one", metadata: ["b": "2", "a": "1"])
        feed.trace("left out")
        relay.warning("left out")
        relay.error("two")
        // A part without a level is silent.
        audit.critical("left out")
        levels.set([.relay: .trace])
        relay.trace("three")
        feed.critical("left out")
        #expect(written.messages == ["feed debug one", "relay error two", "relay trace three"])
        #expect(written.records.withLockedValue { $0[0].facts.map(\.name) } == ["a", "b"])
        #expect(settings.level(of: .history) == .notice && settings.level(of: .feed) == .debug)
    }

    @Test("a display without a chosen level logs the relay's errors only; a level for a part is a chosen one")
    func optIn() {
        var settings = Settings()
        #expect(ProgramLog.levels(settings, format: .json) == [.relay: .error, .tls: .error])
        settings.log[part: .feed] = .debug
        let levels = ProgramLog.levels(settings, format: .json)
        #expect(levels[.feed] == .debug && levels[.relay] == .info && levels.count == LogPart.allCases.count)
    }

    @Test("a warning of a part is left out if the part logs errors only")
    func quietPart() {
        let asked = NIOLockedValueBox<[LogPart]>([])
        let warnings = Warnings { part in
            asked.withLockedValue { $0.append(part) }
            return .error
        }
        warnings.warn(of: .history)("this must not be printed")
        #expect(asked.withLockedValue { $0 } == [.history])
    }

    // MARK: Secrets

    @Test("a secret in the metadata is not in any form")
    func secrets() {
        let written = Written()
        let logger = written.logger(.feed, LogLevels([.feed: .trace]))
        logger.warning("A message", metadata: ["key": "\(Secret(Canary.key))", "settings": "\(FeedKeySample())"])
        for record in written.records.withLockedValue({ $0 }) {
            for text in [
                record.textLine, record.priorityLine, String(decoding: record.jsonLine, as: UTF8.self),
                String(decoding: record.journalFields, as: UTF8.self),
            ] {
                let isFound = Canary.occurs(in: text)
                #expect(!isFound && !text.isEmpty)
            }
        }
        #expect(written.messages.count == 1)
    }

    /// A value that has a key in it.
    private struct FeedKeySample {
        var key = Secret(Canary.key)
    }
}

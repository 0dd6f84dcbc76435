import Logging
import Testing
@testable import Tickertape

@Suite("A line of the log")
struct LogLineTests {
    @Test("has its time, level and message first, then its metadata, which cannot be confused")
    func order() {
        let line = LogLineHandler.line(
            1_795_239_062_123_000_000,
            .warning,
            "the feed's state",
            ["state": "late", "reason": #"no "trades" arrive"#, "cause": ""]
        )
        #expect(
            line
                == #"2026-11-21T05:31:02.123Z warning the feed's state cause="" reason="no \"trades\" arrive" state=late"#
        )
    }

    @Test("has no order for a terminal, no second line and no mark of the direction of writing in it")
    func foreign() {
        let text = "x\u{1B}]0;t\u{7}\r\n2026-11-21T05:31:02.123Z error forged\u{9B}2J\u{202E}\u{2028}"
        let line = LogLineHandler.line(0, .info, "said", ["text": .string(text), "k\ney": "v"])
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(!line.contains("\u{202E}") && !line.contains("\u{2028}"))
        #expect(line.hasPrefix(#"1970-01-01T00:00:00.000Z info said k␊ey=v text="x␛]0;t␇␍␊2026"#))
    }
}

import TLS
import Ingest
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite struct KeyDetectorTests {
    private let key = Secret("c0ffee1234567890abcd")

    @Test(
        "a key is removed from a text, whole or truncated, plain or escaped, in upper or lower case",
        arguments: [
            ("no key here", "no key here"), ("", ""), ("c0ffee1", "c0ffee1"),
            ("the key c0ffee1234567890abcd is bad", "the key (the key) is bad"),
            ("C0FFEE1234567890ABCD", "(the key)"), ("c0ffee1234567890abcdc0ffee1234567890abcd", "(the key)"),
            ("GET /?token=c0ffee12345", "GET /?token=(the key)"), ("…567890abcd!", "…(the key)!"),
            ("a%63%30ffee1234567890abcd%", "a(the key)%"), (#"a\u0063\u0030ffee1234567890abcd\"#, #"a(the key)\"#),
            (#"c0ffee12345678\u0039\u0030abcd\u00"#, #"(the key)\u00"#), ("100 %, c0ffee %zz", "100 %, c0ffee %zz"),
            ("äc0ffee1234567890abcdö", "ä(the key)ö"),
        ]
    )
    func leavesOut(text: String, safe: String) {
        #expect(self.key.redacted(text) == safe)
        #expect(KeyDetector(self.key).occurs(in: text.utf8) == (text != safe))
    }

    @Test("a text of a few letters is not a key, and is not searched for")
    func shortKeys() {
        for short in ["", "x", "replay", "1234567"] {
            #expect(Secret(short).redacted("x replay 1234567") == "x replay 1234567")
        }
    }

    @Test("no description, mirror or dump of what holds the key shows it")
    func noDescription() throws {
        let settings = FinnhubSettings(key: Secret(Canary.key))
        var text = "\(settings) \(settings.key) \(settings.connector)"
        debugPrint(settings, settings.connector, to: &text)
        dump(settings, to: &text)
        dump(settings.connector, to: &text)
        text += String(reflecting: settings.connector) + "\(Mirror(reflecting: settings.connector).children.map { $0 })"
        #expect(!Canary.occurs(in: text))
    }

    /// Returns what a reader of the tape gets of one frame.
    private func passed(_ frame: String) -> (message: FinnhubMessage, frames: [String], trades: [String]) {
        let log = TapeLog()
        let writer = FinnhubTape(epoch: 1, readers: [log], key: Secret(Canary.key))
        _ = writer.take(
            ByteBuffer(
                string: #"{"data":[{"c":null,"p":1,"s":"BINANCE:OLDUSDT","t":1721555886208,"v":1}],"type":"trade"}"#
            ),
            now: 1
        )
        let message = writer.take(ByteBuffer(string: frame), now: 2)
        writer.endRead(Moment(monotonic: 0, wall: 5))
        return (message, Array(log.contents.frames.dropFirst()), Array(log.contents.lines.dropFirst()))
    }

    @Test("no reader gets a frame that repeats the key, in whatever frame it is, and its trades are kept")
    func frames() {
        let escaped = Canary.key.map { "\\u00" + String($0.asciiValue ?? 0, radix: 16) }.joined()
        let element = #"{"c":null,"p":2,"s":"BINANCE:NEWUSDT","t":1721555886208,"v":3}"#
        for key in [Canary.key, Canary.percentEncoded, escaped, Canary.key.uppercased()] {
            for frame in [
                #"{"msg":"no such key: \#(key)","type":"error"}"#, #"{"type":"hello \#(key)"}"#,
                #"{"type":"ping","x":"\#(key)"}"#,
                #"{"type":"news","data":[{"url":"/?token=\#(key)"}]}"#, "not even JSON \(key)",
                #"{"data":[\#(element)],"type":"trade","token":"\#(key)"}"#,
                #"{"data":[\#(element),{"c":null,"p":2,"s":"\#(key)","t":1721555886208,"v":3}],"type":"trade"}"#,
                #"{"data":[{"c":null,"p":2,"s":"\#(key)","t":1721555886208,"v":3}],"type":"trade"}"#,
            ] {
                let (message, frames, trades) = self.passed(frame)
                #expect(!Canary.occurs(in: "\(message) \(frames) \(trades)"), "\(message)")
                #expect(frames.count == 1)
                if frame.contains(#""token""#) {
                    #expect(message == .trade(count: 1, skipped: 0))
                    #expect(frames == [#"{"data":[\#(element)],"type":"trade"}"#])
                    #expect(trades == ["BINANCE:NEWUSDT 2 3"])
                }
            }
        }
    }

    @Test("a frame without the key passes as it came")
    func harmless() {
        for frame in [
            #"{"data":[{"c":null,"p":2,"s":"BINANCE:NEWUSDT","t":1721555886208,"v":3}],"type":"trade"}"#,
            #"{"data":[{"c":["1"],"p":2,"s":"AAPL","t":1721555886208,"v":3}],"type":"trade"}"#, #"{"type":"ping"}"#,
            #"{"msg":"Invalid symbol","type":"error"}"#, "garbage",
        ] { #expect(self.passed(frame).frames == [frame]) }
    }
}

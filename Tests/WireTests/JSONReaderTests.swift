import Market
import NIOCore
import Testing
import Wire

@Suite struct JSONReaderTests {
    /// Returns whether `text` is exactly one JSON value.
    private func isValue(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            return reader.skipValue() && reader.isAtEnd()
        }
    }

    @Test(
        "every kind of JSON value is stepped over",
        arguments: [
            "null", "true", "false", "0", "-1.5e+10", #""""#, #""aé\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#, "[]", "{}",
            " [ 1 , [ ] , { } ] ", #"{"a":{"b":[1,{"c":null}]},"":[[[]]]}"#, "\t\r\n 7 \n",
        ]
    )
    func valid(text: String) { #expect(self.isValue(text)) }

    @Test(
        "what is not JSON is refused",
        arguments: [
            "", " ", "nul", "True", "01", "1.", "-", "+1", ".5", "[", "]", "[1,]", "[,1]", "[1 2]", "{", "}", #"{"a"}"#,
            #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, #"{"a":1 "b":2}"#, #"[1}"#, #"{"a":1]"#, #"""#, #""\x""#, #""\u12""#,
            #""\u12g4""#, "\"a\nb\"", "1 2", "[]]", #"{"a":"b}"#, "'a'", "//", "[\u{0}]",
        ]
    )
    func invalid(text: String) { #expect(!self.isValue(text)) }

    @Test("nesting is bounded, without a deeper stack")
    func depth() {
        let limit = JSONReader.maximumDepth
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        }
        #expect(self.isValue(nested(limit)))
        #expect(!self.isValue(nested(limit + 1)))
        #expect(!self.isValue(String(repeating: "[", count: 500_000)))
        #expect(!self.isValue(String(repeating: #"{"a":"#, count: 100_000)))
    }

    @Test(
        "escapes become the text they stand for",
        arguments: [
            (#"a\"b\\c\/d"#, "a\"b\\c/d"), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"), (#"\u0041\u00e9\u20AC"#, "Aé€"),
            (#"\ud83d\ude00"#, "😀"), (#"\ud83dx"#, "\u{FFFD}x"), (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}"),
            (#"\ud83d\u0041"#, "\u{FFFD}A"), (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"),
        ] as [(String, String)]
    )
    func escapes(raw: String, text: String) {
        let quoted = Array("\"\(raw)\"".utf8)
        quoted.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            let read = reader.string()?.text
            #expect(read == text)
        }
    }

    @Test("what is written as a JSON string is read back")
    func writtenStrings() {
        let text = "plain \"quoted\" \\ / \u{0}\u{1F}\u{7F}\n\t é 😀 \u{2028}"
        var buffer = ByteBuffer()
        JSONText.escape(text, into: &buffer)
        buffer.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            let read = reader.string()?.text
            let isAtEnd = reader.isAtEnd()
            #expect(read == text)
            #expect(isAtEnd)
        }
    }

    @Test(
        "integers of every size are written in full",
        arguments: [0, -1, 9, 10, Int64.max, Int64.min, 1_723_161_255_342]
    )
    func integers(value: Int64) {
        var buffer = ByteBuffer()
        JSONText.write(value, into: &buffer)
        #expect(String(buffer: buffer) == "\(value)")
    }
}

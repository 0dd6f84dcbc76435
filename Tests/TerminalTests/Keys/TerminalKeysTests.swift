import Market
import Testing
@testable import Terminal

@Suite("A terminal's input as keys")
struct TerminalKeysTests {
    private static let millisecond: Int64 = 1_000_000

    /// The parser with the test's clock; the bytes of one input arrive at once.
    private struct Typist {
        var keys = TerminalKeys()
        var now: Int64 = 5_000_000_000

        mutating func types(_ bytes: some Sequence<UInt8>) -> [TerminalInput] {
            bytes.compactMap { self.keys.took($0, now: self.now) }
        }

        mutating func types(_ text: String) -> [TerminalInput] { self.types(Array(text.utf8)) }

        /// Advances the time without input; returns what that completes.
        mutating func waits(milliseconds: Int64) -> [TerminalInput] {
            let end = self.now + milliseconds * TerminalKeysTests.millisecond
            var completed: [TerminalInput] = []
            while let deadline = self.keys.deadline, deadline <= end {
                self.now = deadline
                if let input = self.keys.timePassed(now: self.now) { completed.append(input) }
            }
            self.now = end
            return completed
        }
    }

    private static func typed(_ text: String) -> [TerminalInput] {
        var typist = Typist()
        return typist.types(text)
    }

    private static func keys(_ keys: TerminalKey...) -> [TerminalInput] { keys.map { .key($0) } }

    @Test("Characters of every length are keys, and invalid UTF-8 is ignored")
    func characters() {
        #expect(Self.typed("q?€𝄞 ") == Self.keys("q", "?", "€", "𝄞", " "))
        var typist = Typist()
        #expect(
            typist.types([0xFF, 0xC3, UInt8(ascii: "a"), 0x80, 0xE2, 0x82, UInt8(ascii: "b")]) == Self.keys("a", "b")
        )
        // An overlong slash, half of a surrogate pair, and a value beyond Unicode.
        #expect(typist.types([0xC0, 0xAF, 0xED, 0xA0, 0x80, 0xF4, 0x90, 0x80, 0x80]) == [])
        #expect(typist.types("c") == Self.keys("c"))
    }

    @Test(
        "Keys that are no characters are known by all the names that terminals have for them",
        arguments: [
            ("\u{1B}[A\u{1B}OA", TerminalKey.named(.up)), ("\u{1B}[B\u{1B}OB", .named(.down)),
            ("\u{1B}[C\u{1B}OC", .named(.right)), ("\u{1B}[D\u{1B}OD", .named(.left)),
            ("\u{1B}[H\u{1B}OH\u{1B}[1~\u{1B}[7~", .named(.home)), ("\u{1B}[F\u{1B}OF\u{1B}[4~\u{1B}[8~", .named(.end)),
            ("\u{1B}[2~", .named(.insert)), ("\u{1B}[3~", .named(.delete)), ("\u{1B}[5~", .named(.pageUp)),
            ("\u{1B}[6~", .named(.pageDown)), ("\t", .named(.tab)), ("\u{1B}[Z", .shifted(.tab)),
            ("\r\n\u{1B}OM", .named(.enter)), ("\u{7F}\u{8}", .named(.backspace)),
            ("\u{1B}[1;2D\u{1B}[d", .shifted(.left)), ("\u{1B}[3;2~", .shifted(.delete)),
            ("\u{1B}OP\u{1B}[11~\u{1B}[1;1P", .function(1)), ("\u{1B}[15~", .function(5)), ("\u{1B}[17~", .function(6)),
            ("\u{1B}[24~", .function(12)), ("\u{1}", .control("a")), ("\u{C}", .control("l")),
            ("\u{1A}", .control("z")),
            ("\u{1C}", .control("\\")),
        ]
    )
    func names(text: String, key: TerminalKey) {
        let pressed = Self.typed(text)
        #expect(!pressed.isEmpty && pressed.allSatisfy { $0 == .key(key) }, "\(pressed)")
    }

    private static let swallowed = [
        // Sequences with Ctrl or Alt, unknown ones, a focus event, and answers of a terminal.
        "\u{1B}[1;5q", "\u{1B}[1;5A", "\u{1B}Oq", "\u{1B}q", "\u{1B}[I", "\u{1B}[?2026;2$y", "\u{1B}[?62;4;6c",
        "\u{1B}]11;rgb:1e1e/1e1e/qqqq\u{7}", "\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\", "\u{1B}Pqqq\u{1B}\\",
        "\u{1B}_Gq\u{1B}\\", "\u{1B}[Mqqq", "\u{1B}[[A", "\u{9B}q", "\u{9D}0;q\u{7}", "\u{1B}[<0;1;1M",
        "\u{1B}[" + String(repeating: "1;", count: 5_000) + "q",
        "\u{1B}]" + String(repeating: "q", count: 100_000) + "\u{7}",
    ]

    @Test("No byte within a sequence of any length is a key, and the first one after it is", arguments: swallowed)
    func swallows(sequence: String) {
        let keys = Self.typed(sequence + "n").filter {
            switch $0 {
            case .answer, .mouse: false
            case .key, .pasted: true
            }
        }
        #expect(keys == Self.keys("n"))
    }

    @Test("Wherever the input is cut in two, the keys are the same")
    func splits() {
        let text =
            "aé€𝄞\u{1B}[A\u{1B}[1;2D\u{1B}OH\u{1B}[3~\u{1B}[?2026;2$yb\u{1B}]11;rgb:0/0/0\u{1B}\\c"
            + "\u{1B}[200~x\u{1B}[20y\u{1B}[201~d\u{1B}[Mxyz\u{1B}[Z\te\u{3}\u{1B}[[Af\r\u{1B}[<0;12;3M\u{1B}[<0;12;3mg"
        let bytes = Array(text.utf8)
        var whole = Typist()
        let expected = whole.types(bytes)
        #expect(expected.count == 22)
        for cut in bytes.indices {
            var typist = Typist()
            var pieces = typist.types(bytes[..<cut])
            // The longest time that a connection may take for a sequence.
            typist.now += 40 * Self.millisecond
            #expect(typist.waits(milliseconds: 0) == [])
            pieces += typist.types(bytes[cut...])
            #expect(pieces == expected, "cut at \(cut)")
        }
    }

    @Test(
        "For any input and pauses, no byte within a sequence is a key, and the buffers are bounded"
    )
    func noise() {
        var numbers = SeededGenerator(seed: 5)
        let alphabet =
            Array("\u{1B}\u{1B}\u{1B}[[O]PMm<~;01289ABqy$?\\\u{7}\u{18}\u{3}".utf8) + [0x9B, 0xC2, 0xE2, 0xF0, 0xFF]
        for _ in 0..<3_000 {
            var typist = Typist()
            for _ in 0..<Int.random(in: 1...40, using: &numbers) {
                _ = typist.types([alphabet.randomElement(using: &numbers) ?? 0])
                if Int.random(in: 0..<8, using: &numbers) == 0 {
                    _ = typist.waits(milliseconds: .random(in: 1...700, using: &numbers))
                }
            }
            // A silence ends every sequence, and the next byte is a key.
            _ = typist.waits(milliseconds: 11_000)
            #expect(typist.keys.deadline == nil)
            #expect(typist.types("n") == Self.keys("n"))
        }
    }

    @Test(
        "The mouse's left button and wheel are known; other reports, and hostile ones, have no meaning",
        arguments: [
            ("<0;1;1M", TerminalMouse(.press, row: 0, column: 0)), ("<0;200;60M", .init(.press, row: 59, column: 199)),
            ("<64;3;2M", .init(.wheelUp, row: 1, column: 2)), ("<65;3;2M", .init(.wheelDown, row: 1, column: 2)),
            ("<0;3;2m", nil), ("<2;3;2M", nil), ("<32;3;2M", nil), ("<4;3;2M", nil), ("<0;0;2M", nil), ("<0;3;0M", nil),
            ("<0;3M", nil), ("<0;3;2;4M", nil), ("<M", nil), ("<;;M", nil), ("<0;-3;2M", nil), ("<0;<3;2M", nil),
            ("0;3;2M", nil), ("<0;99999999999999999999;2M", nil),
            ("<0;1;" + String(repeating: "0", count: 40) + "5M", nil),
        ] as [(String, TerminalMouse?)]
    )
    func mouse(report: String, expected: TerminalMouse?) {
        #expect(Self.typed("\u{1B}[\(report)n") == (expected.map { [.mouse($0)] } ?? []) + Self.keys("n"))
    }

    @Test("Esc is a key after a silence; the late rest of a sequence is ignored")
    func escape() {
        var typist = Typist()
        #expect(typist.types("\u{1B}") == [])
        #expect(typist.waits(milliseconds: 49) == [])
        #expect(typist.waits(milliseconds: 1) == Self.keys(.named(.escape)))
        // A byte after it is a key, ...
        #expect(typist.types("l") == Self.keys("l"))
        // ... and the late rest of a sequence is not.
        #expect(typist.types("\u{1B}") == [])
        #expect(typist.waits(milliseconds: 60) == Self.keys(.named(.escape)))
        #expect(typist.types("[1;5q[A") == Self.keys("[", "A"))
        // A bracket long after an Esc is a key.
        #expect(typist.types("\u{1B}") == [])
        #expect(typist.waits(milliseconds: 400) == Self.keys(.named(.escape)))
        #expect(typist.types("]") == Self.keys("]"))
        // The second of two Esc may begin a sequence.
        #expect(typist.types("\u{1B}\u{1B}[A") == Self.keys(.named(.up)))
    }

    @Test("A sequence that is never finished ends with a silence, or with another one")
    func unfinished() {
        for beginning in ["\u{1B}[1;", "\u{1B}O", "\u{1B}]11;", "\u{1B}P", "\u{1B}[M", "\u{1B}[["] {
            var typist = Typist()
            #expect(typist.types(beginning) == [])
            #expect(typist.waits(milliseconds: 600) == [])
            #expect(typist.types("q") == Self.keys("q"), "\(beginning.debugDescription)")
        }
        #expect(Self.typed("\u{1B}[1;\u{1B}[A") == Self.keys(.named(.up)))
        #expect(Self.typed("\u{1B}]0;x\u{1B}[A") == Self.keys(.named(.up)))
        #expect(Self.typed("\u{1B}[1;\u{18}q") == Self.keys("q"))
    }

    @Test(
        "Ctrl-C acts wherever it is typed",
        arguments: [
            "", "\u{1B}", "\u{1B}[", "\u{1B}[1;", "\u{1B}O", "\u{1B}]0;", "\u{1B}P", "\u{1B}[M", "\u{1B}]0;\u{1B}",
        ]
    )
    func interrupts(beginning: String) {
        #expect(Self.typed(beginning + "\u{3}q") == Self.keys(.control("c"), "q"))
    }

    @Test("Pasted text is reported as text without control characters, and not as keys")
    func pastes() {
        #expect(
            Self.typed("\u{1B}[200~q\r\nBTC\t\u{1B}[A\u{7}é\u{9B}\u{1B}[201~x") == [.pasted("q  BTC [Aé"), .key("x")]
        )
        #expect(Self.typed("\u{1B}[200~\u{1B}[201~") == [.pasted("")])
        // Half an end mark, an end mark after an Esc, and an end mark without a start.
        #expect(Self.typed("\u{1B}[200~a\u{1B}[201b\u{1B}\u{1B}[201~") == [.pasted("a[201b")])
        #expect(Self.typed("\u{1B}[201~x") == Self.keys("x"))
        // A long paste is truncated, and its end is still found.
        let flood = "\u{1B}[200~" + String(repeating: "q", count: 1_000_000) + "\u{1B}[201~x"
        #expect(Self.typed(flood) == [.pasted(String(repeating: "q", count: TerminalKeys.maximumPasted)), .key("x")])
    }

    @Test(
        "A Ctrl-C within pasted text is text; typed at a paste that does not end, it acts; and a paste ends by itself"
    )
    func endlessPaste() {
        #expect(Self.typed("\u{1B}[200~a\u{3}b\u{1B}[201~") == [.pasted("ab")])
        var typist = Typist()
        #expect(typist.types("\u{1B}[200~abc") == [])
        #expect(typist.waits(milliseconds: 1_500) == [])
        #expect(typist.types("\u{3}q") == Self.keys(.control("c"), "q"))
        #expect(typist.types("\u{1B}[200~abc") == [])
        #expect(typist.waits(milliseconds: 10_000) == [.pasted("abc")])
        #expect(typist.types("q") == Self.keys("q"))
    }
}

extension TerminalKey: ExpressibleByExtendedGraphemeClusterLiteral {
    package init(extendedGraphemeClusterLiteral value: Character) { self = .character(value) }
}

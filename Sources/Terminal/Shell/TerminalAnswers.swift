/// What a terminal has said of itself.
struct TerminalAnswers: Sendable, Equatable {
    /// What is behind the text; `nil`: it did not say.
    var background: ScreenPalette.Background?
    /// Whether it knows synchronised output; `nil`: it did not say.
    var synchronises: Bool?

    /// The questions: synchronised output (DECRQM for mode 2026), the background's colour (`OSC 11`), and last the one that
    /// every terminal answers (DA1), so that nobody waits for an answer that never comes.
    static let questions: [UInt8] = Array("\u{1B}[?2026$p\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)
}

/// The answers of a terminal, picked out of what is typed meanwhile.
struct TerminalAnswerReader: Sendable {
    private(set) var answers = TerminalAnswers()
    /// Whether the last answer has come.
    private(set) var isComplete = false
    /// What is no answer, as it came.
    private(set) var typed: [UInt8] = []
    private var sequence: [UInt8] = []
    /// No answer is longer; what is, is not one.
    private static let longest = 256

    mutating func took(_ byte: UInt8) {
        guard !self.sequence.isEmpty else {
            if byte == 0x1B { self.sequence = [byte] } else { self.typed.append(byte) }
            return
        }
        self.sequence.append(byte)
        switch self.sequence[1] {
        case UInt8(ascii: "["):
            // Parameters and intermediates, until the final byte (ECMA-48, 5.4).
            if self.sequence.count > 2, byte >= 0x40 { self.completed(self.obeyControl()) }
        case UInt8(ascii: "]"):
            let isEnd = byte == 0x07 || (byte == UInt8(ascii: "\\") && self.sequence.dropLast().last == 0x1B)
            if self.sequence.count > 2, isEnd { self.completed(self.obeyCommand()) }
        default: self.completed(false)
        }
        if self.sequence.count > Self.longest { self.completed(false) }
    }

    /// Gives up waiting: the beginning of a sequence was typed.
    mutating func ended() {
        self.completed(false)
    }

    private mutating func completed(_ isAnswer: Bool) {
        if !isAnswer { self.typed += self.sequence }
        self.sequence = []
    }

    /// `ESC [ ? 2026 ; n $ y` (0 is "not known", 4 "always off") and `ESC [ ? … c`.
    private mutating func obeyControl() -> Bool {
        let text = String(decoding: self.sequence.dropFirst(2), as: UTF8.self)
        guard text.hasPrefix("?") else { return false }
        if text.hasSuffix("c") {
            self.isComplete = true
            return true
        }
        guard text.hasPrefix("?2026;"), text.hasSuffix("$y") else { return false }
        self.answers.synchronises = !["0", "4"].contains(text.dropFirst(6).dropLast(2))
        return true
    }

    /// `ESC ] 11 ; rgb:RRRR/GGGG/BBBB` and its end.
    private mutating func obeyCommand() -> Bool {
        let end = self.sequence.last == 0x07 ? 1 : 2
        let text = String(decoding: self.sequence.dropFirst(2).dropLast(end), as: UTF8.self)
        guard text.hasPrefix("11;") else { return false }
        let parts = text.dropFirst(3).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, let colon = parts[0].lastIndex(of: ":") else { return true }
        let hex = [parts[0][parts[0].index(after: colon)...], parts[1], parts[2]]
        let levels = hex.compactMap { digits -> Double? in
            guard (1...4).contains(digits.count), let value = Int(digits, radix: 16) else { return nil }
            return Double(value) / Double((1 << (4 * digits.count)) - 1)
        }
        guard levels.count == 3 else { return true }
        // The luma of ITU-R BT.601 tells a dark background from a light one well enough.
        let luma = 0.299 * levels[0] + 0.587 * levels[1] + 0.114 * levels[2]
        self.answers.background = luma > 0.5 ? .light : .dark
        return true
    }
}

extension TerminalDisplay {
    /// Asks the terminal what it is.
    func ask() -> TerminalAnswers { self.device.ask(patience: self.settings.patience) }
}

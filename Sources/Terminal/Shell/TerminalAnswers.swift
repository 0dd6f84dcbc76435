/// One thing that a terminal says of itself when it is asked.
enum TerminalAnswer: Sendable, Equatable {
    /// The colour behind the text.
    case background(ScreenPalette.Background)
    /// Whether it knows synchronised output.
    case synchronises(Bool)
    /// What kind of terminal it is; the answer to the last question.
    case attributes

    /// Reads a control sequence: `ESC [ ? 2026 ; n $ y` (0 is "not known", 4 "always off") and `ESC [ ? … c`.
    init?(final: UInt8, parameters: [UInt8]) {
        let text = String(decoding: parameters, as: UTF8.self)
        switch final {
        case UInt8(ascii: "c") where text.hasPrefix("?"): self = .attributes
        case UInt8(ascii: "y") where text.hasPrefix("?2026;") && text.hasSuffix("$"):
            self = .synchronises(!["0", "4"].contains(text.dropFirst(6).dropLast()))
        default: return nil
        }
    }

    /// Reads a string from behind its `ESC` to before its end: `] 11 ; rgb:RRRR/GGGG/BBBB`.
    init?(string: [UInt8]) {
        let text = String(decoding: string, as: UTF8.self)
        guard text.hasPrefix("]11;") else { return nil }
        let parts = text.dropFirst(4).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, let colon = parts[0].lastIndex(of: ":") else { return nil }
        let hex = [parts[0][parts[0].index(after: colon)...], parts[1], parts[2]]
        let levels = hex.compactMap { digits -> Double? in
            guard (1...4).contains(digits.count), let value = Int(digits, radix: 16) else { return nil }
            return Double(value) / Double((1 << (4 * digits.count)) - 1)
        }
        guard levels.count == 3 else { return nil }
        // The luma of ITU-R BT.601 tells a dark background from a light one well enough.
        let luma = 0.299 * levels[0] + 0.587 * levels[1] + 0.114 * levels[2]
        self = .background(luma > 0.5 ? .light : .dark)
    }
}

/// What a terminal has said of itself.
struct TerminalAnswers: Sendable, Equatable {
    /// What is behind the text; `nil`: it did not say.
    var background: ScreenPalette.Background?
    /// Whether it knows synchronised output; `nil`: it did not say.
    var synchronises: Bool?
    /// Whether the last answer has come.
    var isComplete = false

    /// The questions: synchronised output (DECRQM for mode 2026), the background's colour (`OSC 11`), and last the one that
    /// every terminal answers (DA1), so that no answer is waited for that never comes.
    static let questions: [UInt8] = Array("\u{1B}[?2026$p\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)

    mutating func take(_ answer: TerminalAnswer) {
        switch answer {
        case .background(let background): self.background = background
        case .synchronises(let synchronises): self.synchronises = synchronises
        case .attributes: self.isComplete = true
        }
    }
}

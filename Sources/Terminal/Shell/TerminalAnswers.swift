/// The answers of a terminal.
struct TerminalAnswers: Sendable, Equatable {
    /// The background; `nil` without an answer.
    var background: ScreenPalette.Background?
    /// Whether it supports synchronised output; `nil` without an answer.
    var synchronises: Bool?
    /// Whether it draws all octants itself, whatever its font has; `false` without an answer.
    var hasOctants = false
    /// Whether the last answer has arrived.
    var isComplete = false

    /// The queries: synchronised output (DECRQM for mode 2026), the background's colour (`OSC 11`), the name and version
    /// (xterm's XTVERSION), and the device attributes (DA1).
    ///
    /// Every terminal answers DA1. It comes last, so that its answer ends the wait for terminals that ignore the
    /// others.
    static let questions: [UInt8] = Array("\u{1B}[?2026$p\u{1B}]11;?\u{1B}\\\u{1B}[>q\u{1B}[c".utf8)

    mutating func take(_ answer: TerminalAnswer) {
        switch answer {
        case .background(let background): self.background = background
        case .synchronises(let synchronises): self.synchronises = synchronises
        case .version(let name): self.hasOctants = Self.drawsOctants(name)
        case .attributes: self.isComplete = true
        }
    }

    /// The terminals that draw all 256 patterns of octants without a font, from this version on: no query tells whether
    /// a character has a glyph. Others, such as foot 1.27, leave some of the patterns to a font.
    private static let octantTerminals: [(name: String, since: [Int])] = [
        ("ghostty", [1, 2, 0]), ("kitty", [0, 47, 0]),
    ]

    /// - Parameter term: the value of `TERM`.
    static func mayDrawOctants(_ term: String) -> Bool { Self.octantTerminals.contains { term.contains($0.name) } }

    /// - Parameter name: the answer to XTVERSION: `kitty(0.47.0)`, `ghostty 1.2.0-main`.
    static func drawsOctants(_ name: String) -> Bool {
        let parts = name.split(maxSplits: 1) { $0 == "(" || $0 == " " }
        guard parts.count == 2, let known = Self.octantTerminals.first(where: { $0.name == parts[0] }) else {
            return false
        }
        let numbers = parts[1].prefix { $0.isASCII && $0.isNumber || $0 == "." }.split(separator: ".").map {
            Int($0) ?? 0
        }
        return !numbers.lexicographicallyPrecedes(known.since)
    }
}

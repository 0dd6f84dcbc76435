/// One answer of a terminal to a query.
enum TerminalAnswer: Sendable, Equatable {
    /// The background's colour.
    case background(ScreenPalette.Background)
    /// Whether it supports synchronised output.
    case synchronises(Bool)
    /// The terminal's name and version.
    case version(String)
    /// The terminal's type; the answer to the last query.
    case attributes

    /// Parses a control sequence: `ESC [ ? 2026 ; n $ y` (0 is "not recognised", 4 "permanently reset") and `ESC [ ? …
    /// c`.
    init?(final: UInt8, parameters: [UInt8]) {
        let text = String(decoding: parameters, as: UTF8.self)
        switch final {
        case UInt8(ascii: "c") where text.hasPrefix("?"): self = .attributes
        case UInt8(ascii: "y") where text.hasPrefix("?2026;") && text.hasSuffix("$"):
            self = .synchronises(!["0", "4"].contains(text.dropFirst(6).dropLast()))
        default: return nil
        }
    }

    /// Parses a string without its `ESC` and its terminator: `] 11 ; rgb:RRRR/GGGG/BBBB`, or `P > | name` (XTVERSION).
    init?(string: [UInt8]) {
        let text = String(decoding: string, as: UTF8.self)
        if text.hasPrefix("P>|") {
            self = .version(String(text.dropFirst(3)))
            return
        }
        guard text.hasPrefix("]11;") else { return nil }
        let parts = text.dropFirst(4).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, let colon = parts[0].lastIndex(of: ":") else { return nil }
        let hex = [parts[0][parts[0].index(after: colon)...], parts[1], parts[2]]
        let levels = hex.compactMap { digits -> Double? in
            guard (1...4).contains(digits.count), let value = Int(digits, radix: 16) else { return nil }
            return Double(value) / Double((1 << (4 * digits.count)) - 1)
        }
        guard levels.count == 3 else { return nil }
        // The luma of ITU-R BT.601 distinguishes dark and light backgrounds well enough.
        let luma = 0.299 * levels[0] + 0.587 * levels[1] + 0.114 * levels[2]
        self = .background(luma > 0.5 ? .light : .dark)
    }
}

package import Market

/// One pressed key.
package enum TerminalKey: Sendable, Hashable {
    /// A key without a character.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case up, down, left, right, home, end
        case pageUp = "page-up"
        case pageDown = "page-down"
        case insert, delete, tab, enter
        case escape = "esc"
        case backspace
    }

    /// A character, including the blank; combining marks arrive separately.
    case character(Character)
    /// Ctrl with a lower-case letter, or with one of `\ ] ^ _`.
    case control(Character)
    case named(Name)
    /// A named key with Shift, if the terminal reports it.
    case shifted(Name)
    /// F1 to F12.
    case function(Int)
}

// The spelling of keys in the settings.
extension TerminalKey {
    /// The keys with a fixed meaning, which let the user leave the screen despite any mistake in a config file.
    package static let fixed: [TerminalKey: String] = [
        .control("c"): "always quits",
        .control("z"): "always stops the program until fg",
        .control("\\"): "always ends the program with a core dump",
    ]

    /// The reason why a text names no key, as the end of a sentence that begins with the text.
    package struct Misspelling: Error, Equatable {
        package var reason: String
    }

    private static let usage =
        "is not a key; write one character, or space, comma, enter, esc, tab, backspace, up, down, left, right, home, "
        + "end, page-up, page-down, insert, delete, shift-left (and so on), ctrl-a to ctrl-z, f1 to f12"

    /// The characters that are spelled by name, since commas separate lists and blanks around a value are trimmed.
    private static let spelt: [(word: String, character: Character)] = [("space", " "), ("comma", ",")]

    /// Parses a key from the settings: one character, or a name in any case.
    package init(_ text: String) throws(Misspelling) {
        if text.count == 1, let character = text.first {
            guard !character.isWhitespace, !character.unicodeScalars.contains(where: { $0.properties.isControl }) else {
                throw Misspelling(reason: Self.usage)
            }
            self = .character(character)
            return
        }
        let word = text.lowercased()
        if let spelt = Self.spelt.first(where: { $0.word == word }) {
            self = .character(spelt.character)
        } else if let name = Name(rawValue: word) {
            self = .named(name)
        } else if word.hasPrefix("shift-"), let name = Name(rawValue: String(word.dropFirst(6))) {
            self = .shifted(name)
        } else if word.hasPrefix("f"), let number = Int(word.dropFirst()), (1...12).contains(number) {
            self = .function(number)
        } else if word.hasPrefix("ctrl-"), word.count == 6, let letter = word.last {
            self = try Self.controlled(letter)
        } else {
            throw Misspelling(reason: Self.usage)
        }
    }

    private static func controlled(_ letter: Character) throws(Misspelling) -> TerminalKey {
        // A terminal sends the same byte for both keys.
        let same: [Character: String] = ["h": "backspace", "i": "tab", "j": "enter", "m": "enter", "[": "esc"]
        if let other = same[letter] {
            throw Misspelling(reason: "is the same as \(other) to a terminal; write \(other)")
        }
        let key = TerminalKey.control(letter)
        if let fixed = Self.fixed[key] { throw Misspelling(reason: "\(fixed); choose another key") }
        guard letter.isASCII, ("a"..."z").contains(letter) || "\\]^_".contains(letter) else {
            throw Misspelling(reason: Self.usage)
        }
        return key
    }

    /// The key's spelling in the settings.
    package var word: String {
        switch self {
        case .character(let character): Self.spelt.first { $0.character == character }?.word ?? String(character)
        case .control(let letter): "ctrl-\(letter)"
        case .named(let name): name.rawValue
        case .shifted(let name): "shift-\(name.rawValue)"
        case .function(let number): "f\(number)"
        }
    }

    /// Returns the key's label on the screen: `q`, `Ctrl-L`, `↑`.
    package func label(glyphs: ScreenGlyphs = .unicode) -> String {
        switch self {
        case .character(" "): "Space"
        case .character(let character): String(character)
        case .control(let letter): "Ctrl-\(letter.uppercased())"
        case .named(let name): name.label(glyphs: glyphs)
        case .shifted(let name): "Shift-\(name.label(glyphs: glyphs))"
        case .function(let number): "F\(number)"
        }
    }
}

extension TerminalKey.Name {
    fileprivate func label(glyphs: ScreenGlyphs) -> String {
        let isUnicode = glyphs == .unicode
        return switch self {
        case .up: isUnicode ? "↑" : "Up"
        case .down: isUnicode ? "↓" : "Down"
        case .left: isUnicode ? "←" : "Left"
        case .right: isUnicode ? "→" : "Right"
        case .home: "Home"
        case .end: "End"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .insert: "Ins"
        case .delete: "Del"
        case .tab: "Tab"
        case .enter: "Enter"
        case .escape: "Esc"
        case .backspace: "Backspace"
        }
    }
}

extension Unicode.Scalar.Properties {
    /// Whether this is a control character (C0, DEL or C1).
    var isControl: Bool { self.generalCategory == .control }
}

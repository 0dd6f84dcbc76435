package import Market

/// One key as it was pressed.
package enum TerminalKey: Sendable, Hashable {
    /// A key that is no character.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case up, down, left, right, home, end
        case pageUp = "page-up"
        case pageDown = "page-down"
        case insert, delete, tab, enter
        case escape = "esc"
        case backspace
    }

    /// A character, the blank among them; combining marks come by themselves.
    case character(Character)
    /// A letter in lower case, or one of `\ ] ^ _`, with Ctrl held.
    case control(Character)
    case named(Name)
    /// The same with Shift held, as far as terminals tell that.
    case shifted(Name)
    /// F1 to F12.
    case function(Int)
}

// How a key is written in the settings.
extension TerminalKey {
    /// Keys that always do the same, so that there is a way out of every mistake in a config file.
    package static let fixed: [TerminalKey: String] = [
        .control("c"): "always quits",
        .control("z"): "always stops the program until fg",
        .control("\\"): "always ends the program with a core dump",
    ]

    /// Why a text names no key, as the end of a sentence that begins with the text.
    package struct Misspelling: Error, Equatable {
        package var reason: String
    }

    private static let usage =
        "is not a key; write one character, or space, comma, enter, esc, tab, backspace, up, down, left, right, home, "
        + "end, page-up, page-down, insert, delete, shift-left (and so on), ctrl-a to ctrl-z, f1 to f12"

    /// Characters that are read by a name: a list is separated by commas, and blanks around a value are nothing.
    private static let spelt: [(word: String, character: Character)] = [("space", " "), ("comma", ",")]

    /// Reads a key as the settings write it: one character, or a word in any case.
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
        // A terminal sends the same byte for both.
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

    /// The key as the settings write it.
    package var word: String {
        switch self {
        case .character(let character): Self.spelt.first { $0.character == character }?.word ?? String(character)
        case .control(let letter): "ctrl-\(letter)"
        case .named(let name): name.rawValue
        case .shifted(let name): "shift-\(name.rawValue)"
        case .function(let number): "f\(number)"
        }
    }

    /// The key as a person reads it on the screen: `q`, `Ctrl-L`, `↑`.
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
    /// Whether it is a control character (C0, DEL or C1).
    var isControl: Bool { self.generalCategory == .control }
}

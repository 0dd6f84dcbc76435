/// What a terminal sends.
enum TerminalInput: Sendable, Equatable {
    case key(TerminalKey)
    /// Text from the clipboard, without control characters; the lines of it separated by blanks.
    case pasted(String)
    /// What it says of itself, because it was asked.
    case answer(TerminalAnswer)
}

/// A terminal's input, byte by byte, as keys, pasted text and answers: a machine whose time is an argument.
///
/// Whatever is part of a sequence is swallowed whole, so that no key inside one acts, and pasted text is told as what it is.
/// What it holds is bounded, however long a sequence or a text may be. A sequence that is never finished ends with a
/// silence, for the person must not be shut out. Ctrl-C acts at all times.
///
/// After ECMA-48, 5.4 (control sequences) and the xterm control sequences; keys as in terminfo(5).
struct TerminalKeys: Sendable {
    /// For how long an Esc may be the beginning of a sequence, ns; terminals send those at once, a slow line in pieces.
    static let escapePatience: Int64 = 50_000_000
    /// For how long the rest of a sequence may take whose Esc has been given out as a key, ns.
    static let restPatience: Int64 = 250_000_000
    /// After so long a silence a sequence is over, ns, ...
    static let sequencePatience: Int64 = 500_000_000
    /// ... and so is a text from the clipboard whose end does not come.
    static let pastePatience: Int64 = 10_000_000_000
    /// A Ctrl-C that comes so long after the byte before it is typed, though a paste may be under way, ns.
    static let typedAfter: Int64 = 1_000_000_000
    /// The most bytes kept of a control sequence or a string, and of a pasted text.
    static let maximumParameters = 32
    static let maximumPasted = 4_096

    private enum State {
        case ground
        case escape
        /// Behind an Esc that came alone and has been given out as a key.
        case escaped
        /// Within `ESC [`, until the final byte. Whose Esc has acted, the sequence does not.
        case control(isLate: Bool)
        /// Within `ESC O`.
        case single(isLate: Bool)
        /// Bytes that belong to a sequence though they look like keys: a click (`ESC [ M` and three bytes), F1 to F5 of the
        /// Linux console (`ESC [ [` and a letter).
        case following(Int)
        /// Within a string, until BEL or `ESC \`.
        case string(sawEscape: Bool)
        case paste
    }

    private var state = State.ground
    /// Of the sequence or the text under way.
    private var kept: [UInt8] = []
    /// Of a character of several bytes.
    private var scalar: [UInt8] = []
    private var scalarLength = 0
    /// How much of the end mark of a pasted text has come.
    private var endMatched = 0
    /// When the newest byte came; monotonic ns.
    private var newest: Int64 = 0

    private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

    /// Takes one byte of input; gives what it completes.
    mutating func took(_ byte: UInt8, now: Int64) -> TerminalInput? {
        let silence = now - self.newest
        self.newest = now
        if byte == 0x03, !self.isPasting || silence >= Self.typedAfter {
            self.reset()
            return .key(.control("c"))
        }
        switch self.state {
        case .ground: return self.plain(byte)
        case .escape, .escaped: return self.behindEscape(byte)
        case .control(let isLate): return self.control(byte, isLate: isLate)
        case .single(let isLate):
            guard byte >= 0x20 else { return self.broken(by: byte) }
            // A modifier stands before the letter.
            if (0x30...0x3F).contains(byte) {
                self.keep(byte, most: Self.maximumParameters)
                return nil
            }
            defer { self.reset() }
            return isLate ? nil : Self.key(final: byte, parameters: self.kept, isSingle: true)
        case .following(let count):
            self.state = count > 1 ? .following(count - 1) : .ground
            return nil
        case .string(let sawEscape): return self.string(byte, sawEscape: sawEscape)
        case .paste: return self.paste(byte)
        }
    }

    /// When ``timePassed(now:)`` wants to be called; monotonic ns.
    var deadline: Int64? {
        switch self.state {
        case .ground: nil
        case .escape: self.newest + Self.escapePatience
        case .escaped: self.newest + Self.escapePatience + Self.restPatience
        case .control, .single, .following, .string: self.newest + Self.sequencePatience
        case .paste: self.newest + Self.pastePatience
        }
    }

    /// Notes that nothing has come until now: an Esc at the end was a key by itself, and what was not finished is over.
    mutating func timePassed(now: Int64) -> TerminalInput? {
        guard let deadline, now >= deadline else { return nil }
        switch self.state {
        case .escape:
            self.state = .escaped
            return .key(.named(.escape))
        case .paste: return self.pasted()
        case .ground, .escaped, .control, .single, .following, .string:
            self.reset()
            return nil
        }
    }

    private var isPasting: Bool {
        if case .paste = self.state { true } else { false }
    }

    private mutating func reset() {
        self.state = .ground
        self.kept.removeAll(keepingCapacity: true)
        self.scalar.removeAll(keepingCapacity: true)
        self.scalarLength = 0
        self.endMatched = 0
    }

    private mutating func keep(_ byte: UInt8, most: Int) {
        if self.kept.count < most { self.kept.append(byte) }
    }

    // MARK: Characters

    private mutating func plain(_ byte: UInt8) -> TerminalInput? {
        if byte & 0xC0 == 0x80, self.scalarLength > 0 {
            self.scalar.append(byte)
            guard self.scalar.count == self.scalarLength else { return nil }
            defer {
                self.scalar.removeAll(keepingCapacity: true)
                self.scalarLength = 0
            }
            // What is no UTF-8 is no key.
            guard let scalar = String(validating: self.scalar, as: UTF8.self)?.unicodeScalars.first else { return nil }
            return self.completed(scalar)
        }
        self.scalar.removeAll(keepingCapacity: true)
        self.scalarLength = 0
        switch byte {
        case 0x1B: self.state = .escape
        case 0x08, 0x7F: return .key(.named(.backspace))
        case 0x09: return .key(.named(.tab))
        case 0x0A, 0x0D: return .key(.named(.enter))
        case 0x01...0x1A: return .key(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x1C...0x1F: return .key(.control(Character(Unicode.Scalar(byte + 0x40))))
        case 0x20...0x7E: return .key(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xDF: self.begin(byte, length: 2)
        case 0xE0...0xEF: self.begin(byte, length: 3)
        case 0xF0...0xF4: self.begin(byte, length: 4)
        default: break
        }
        return nil
    }

    private mutating func begin(_ byte: UInt8, length: Int) {
        self.scalar.append(byte)
        self.scalarLength = length
    }

    /// A character of several bytes; among them are the beginnings of sequences in one character (ECMA-48, C1).
    private mutating func completed(_ scalar: Unicode.Scalar) -> TerminalInput? {
        switch scalar.value {
        case 0x9B: self.state = .control(isLate: false)
        case 0x8F: self.state = .single(isLate: false)
        // The same as `ESC` and a character.
        case 0x90, 0x98, 0x9D, 0x9E, 0x9F: self.beginString(UInt8(scalar.value - 0x40))
        case 0x80...0x9F: break
        default: return .key(.character(Character(scalar)))
        }
        return nil
    }

    // MARK: Sequences

    private mutating func behindEscape(_ byte: UInt8) -> TerminalInput? {
        let isLate = if case .escaped = self.state { true } else { false }
        switch byte {
        case UInt8(ascii: "["): self.state = .control(isLate: isLate)
        case UInt8(ascii: "O"): self.state = .single(isLate: isLate)
        case UInt8(ascii: "]"): self.beginString(byte)
        case 0x1B: self.state = .escape
        case _ where isLate:
            // Typed after an Esc that was a key by itself.
            self.state = .ground
            return self.plain(byte)
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"): self.beginString(byte)
        // A key with Alt, or a bare Esc and a key typed at once after it: nobody can tell, so neither acts.
        default: self.state = .ground
        }
        return nil
    }

    /// A control character cuts a sequence short; CAN and SUB are made for that (ECMA-48, 8.3.6, 8.3.148).
    private mutating func broken(by byte: UInt8) -> TerminalInput? {
        switch byte {
        case 0x1B:
            self.reset()
            self.state = .escape
        case 0x18, 0x1A: self.reset()
        default: break
        }
        return nil
    }

    private mutating func control(_ byte: UInt8, isLate: Bool) -> TerminalInput? {
        switch byte {
        case 0x00..<0x20: return self.broken(by: byte)
        case 0x20...0x3F:
            self.keep(byte, most: Self.maximumParameters)
            return nil
        case 0x40...0x7E: return self.finished(byte, isLate: isLate)
        default:
            self.reset()
            return nil
        }
    }

    private mutating func finished(_ final: UInt8, isLate: Bool) -> TerminalInput? {
        let parameters = self.kept
        self.reset()
        if let answer = TerminalAnswer(final: final, parameters: parameters) { return .answer(answer) }
        switch final {
        case UInt8(ascii: "M") where parameters.isEmpty: self.state = .following(3)
        case UInt8(ascii: "[") where parameters.isEmpty: self.state = .following(1)
        case UInt8(ascii: "~") where parameters == Array("200".utf8): self.state = .paste
        case _ where isLate: break
        default: return Self.key(final: final, parameters: parameters, isSingle: false)
        }
        return nil
    }

    /// - Parameter kind: what stands behind its `ESC`.
    private mutating func beginString(_ kind: UInt8) {
        self.state = .string(sawEscape: false)
        self.kept = [kind]
    }

    private mutating func string(_ byte: UInt8, sawEscape: Bool) -> TerminalInput? {
        switch byte {
        case 0x18, 0x1A: self.reset()
        case 0x07: return self.endString()
        case UInt8(ascii: "\\") where sawEscape: return self.endString()
        // An Esc that is not the end's begins something else.
        case _ where sawEscape:
            self.reset()
            self.state = .escape
            return self.behindEscape(byte)
        case 0x1B: self.state = .string(sawEscape: true)
        default: self.keep(byte, most: Self.maximumParameters)
        }
        return nil
    }

    private mutating func endString() -> TerminalInput? {
        defer { self.reset() }
        return TerminalAnswer(string: self.kept).map { .answer($0) }
    }

    // MARK: The clipboard

    private mutating func paste(_ byte: UInt8) -> TerminalInput? {
        if byte == Self.pasteEnd[self.endMatched] {
            self.endMatched += 1
            return self.endMatched == Self.pasteEnd.count ? self.pasted() : nil
        }
        // The mark has one Esc, at its beginning, so whatever matched so far is none of it.
        for byte in Self.pasteEnd.prefix(self.endMatched) { self.keep(byte, most: Self.maximumPasted) }
        self.endMatched = byte == 0x1B ? 1 : 0
        if byte != 0x1B { self.keep(byte, most: Self.maximumPasted) }
        return nil
    }

    private mutating func pasted() -> TerminalInput {
        var text = ""
        for scalar in String(decoding: self.kept, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D: text.unicodeScalars.append(" ")
            case _ where scalar.properties.isControl || scalar.value == 0xFFFD: break
            default: text.unicodeScalars.append(scalar)
            }
        }
        self.reset()
        return .pasted(text)
    }
}

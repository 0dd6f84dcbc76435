/// The parser of a terminal's input, which yields keys, pasted text and answers: a state machine with the time as an
/// argument.
///
/// - A sequence is consumed as a whole, so that its bytes never act as keys.
/// - Pasted text is reported as such.
/// - The buffered bytes are bounded for a sequence or a text of any length.
/// - An unfinished sequence ends after a silence, since it would otherwise block all keys.
/// - Ctrl-C acts at all times.
///
/// Sources: ECMA-48, 5.4 (control sequences), and the xterm control sequences; keys as in terminfo(5).
struct TerminalKeys: Sendable {
    /// The wait after which an Esc is a key and not the start of a sequence, ns. Terminals send a sequence at once, but
    /// a slow connection may split it.
    static let escapePatience: Int64 = 50_000_000
    /// The wait for the rest of a sequence whose Esc has been reported as a key, ns.
    static let restPatience: Int64 = 250_000_000
    /// The silence after which a sequence ends, ns.
    static let sequencePatience: Int64 = 500_000_000
    /// The silence after which a paste without an end mark ends, ns.
    static let pastePatience: Int64 = 10_000_000_000
    /// The silence after which a Ctrl-C is typed even in a paste, ns.
    static let typedAfter: Int64 = 1_000_000_000
    /// The largest number of buffered bytes of a control sequence or a string, and of a pasted text.
    static let maximumParameters = 32
    static let maximumPasted = 4_096

    private enum State {
        case ground
        case escape
        /// After an Esc that was reported as a key.
        case escaped
        /// Within `ESC [`, until the final byte. If it is late, its Esc has been reported as a key and the sequence is
        /// ignored.
        case control(isLate: Bool)
        /// Within `ESC O`.
        case single(isLate: Bool)
        /// Within bytes that belong to a sequence although they look like keys: a click (`ESC [ M` and three bytes), or
        /// F1 to F5 of the Linux console (`ESC [ [` and a letter).
        case following(Int)
        /// Within a string, until BEL or `ESC \`.
        case string(sawEscape: Bool)
        case paste
    }

    private var state = State.ground
    /// The buffered bytes of the current sequence or text.
    private var kept: [UInt8] = []
    /// The bytes of an incomplete UTF-8 character.
    private var scalar: [UInt8] = []
    private var scalarLength = 0
    /// The number of matched bytes of a paste's end mark.
    private var endMatched = 0
    /// The arrival of the newest byte; monotonic ns.
    private var newest: Int64 = 0

    private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

    /// Takes one byte of input; returns the input that it completes.
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
            // A modifier before the letter.
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

    /// The time for the next call of ``timePassed(now:)``; monotonic ns.
    var deadline: Int64? {
        switch self.state {
        case .ground: nil
        case .escape: self.newest + Self.escapePatience
        case .escaped: self.newest + Self.escapePatience + Self.restPatience
        case .control, .single, .following, .string: self.newest + Self.sequencePatience
        case .paste: self.newest + Self.pastePatience
        }
    }

    /// Handles the silence until now: an Esc at the end was a key, and an unfinished sequence ends.
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
            // Invalid UTF-8 is not a key.
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

    /// Handles a character of several bytes, which may be a C1 control (ECMA-48) that starts a sequence.
    private mutating func completed(_ scalar: Unicode.Scalar) -> TerminalInput? {
        switch scalar.value {
        case 0x9B: self.state = .control(isLate: false)
        case 0x8F: self.state = .single(isLate: false)
        // The C1 forms of `ESC` and a character.
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
            // Typed after an Esc that was a key.
            self.state = .ground
            return self.plain(byte)
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"): self.beginString(byte)
        // A key with Alt, or an Esc with a key typed right after it. They are indistinguishable, so neither acts.
        default: self.state = .ground
        }
        return nil
    }

    /// Ends a sequence at a control character; CAN and SUB exist for this purpose (ECMA-48, 8.3.6, 8.3.148).
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
        case _ where parameters.first == UInt8(ascii: "<"): return Self.mouse(final: final, parameters: parameters)
        default: return Self.key(final: final, parameters: parameters, isSingle: false)
        }
        return nil
    }

    /// - Parameter kind: the byte after its `ESC`.
    private mutating func beginString(_ kind: UInt8) {
        self.state = .string(sawEscape: false)
        self.kept = [kind]
    }

    private mutating func string(_ byte: UInt8, sawEscape: Bool) -> TerminalInput? {
        switch byte {
        case 0x18, 0x1A: self.reset()
        case 0x07: return self.endString()
        case UInt8(ascii: "\\") where sawEscape: return self.endString()
        // An Esc that is not part of the terminator starts another sequence.
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
        // The end mark has its only Esc at the start, so the bytes matched so far are text.
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

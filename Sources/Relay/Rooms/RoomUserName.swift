import Market

/// The name of a user: printable characters, without blanks at its ends or side by side.
struct RoomUserName: Equatable {
    let text: String

    /// The text that is equal for two names of which a room takes only one: they differ in case alone.
    ///
    /// Swift compares strings by canonical equivalence, so a composed character equals its parts. The way over capital
    /// letters makes `ß` equal to `ss` and `ς` to `σ`, as Unicode's case folding does, which Swift does not offer.
    var key: String { Self.key(of: self.text) }

    /// - Throws: ``RoomFault`` if no user may have the name.
    init(_ text: String) throws(RoomFault) {
        guard text.utf8.count <= RoomLimits.userBytes else { throw .longUser }
        if let fault = RoomName.words(of: text) { throw .badUser(fault) }
        // A mark at the beginning would join the character before the name, whatever that is.
        guard PrintableText.isPrintable(text), !Self.beginsWithMark(text) else {
            throw .badUser("has a character that is not printable")
        }
        // Names that look alike would differ.
        guard !zip(text.utf8, text.utf8.dropFirst()).contains(where: { $0 == 0x20 && $1 == 0x20 }) else {
            throw .badUser("has two spaces side by side")
        }
        // Plain lines have a name between brackets, and names between commas.
        guard !text.utf8.contains(where: Self.separators.contains) else {
            throw .badUser("has one of <, > and a comma")
        }
        self.text = text
    }

    private static let separators = [UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: ",")]

    static func key(of text: String) -> String { text.lowercased().uppercased().lowercased() }

    private static func beginsWithMark(_ text: String) -> Bool {
        switch text.unicodeScalars.first?.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is shown as a blank or not at all, though Unicode has some of these among letters and symbols.
    var isShownBlank: Bool {
        switch self.value {
        // The empty pattern of Braille, the note without a head, two blanks of hieroglyphs, and the filler of Khitan.
        case 0x2800, 0x1D159, 0x13441, 0x13442, 0x16FE4: true
        default: self.properties.generalCategory == .spaceSeparator || self.properties.isDefaultIgnorableCodePoint
        }
    }
}

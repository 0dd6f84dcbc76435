/// The rule for untrusted text shown to a person: on the screen, in a line, in the log, on a desktop.
///
/// Symbols, reasons, headlines and the headers of recordings come from outside. Characters that control a terminal
/// (ESC, U+0080 to U+009F), begin a new line (CR, LF, U+2028), change the direction of writing or are invisible are
/// replaced by a mark and never passed on. JSON escapes the same characters instead (`JSONText.printable(_:)`).
package enum PrintableText {
    /// Returns a harmless character as it is, a mark in place of any other, or `nil` if nothing is shown.
    package static func form(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x20..<0x7F: return scalar
        // The symbols for control characters (U+2400).
        case 0..<0x20: return Unicode.Scalar(0x2400 + scalar.value)
        case 0x7F: return "\u{2421}"
        // Joiners and variation selectors only change the form of their neighbours.
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: return nil
        default: break
        }
        switch scalar.properties.generalCategory {
        // Format characters include the marks and overrides of writing direction, which can reverse a price.
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            return "\u{FFFD}"
        case .spaceSeparator: return " "
        default: return scalar
        }
    }

    /// Returns whether text is shown unchanged.
    package static func isPrintable(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } || text.unicodeScalars.allSatisfy { Self.form(of: $0) == $0 }
    }

    /// Returns the text as one line of at most `limit` Unicode scalars.
    package static func line(_ text: some StringProtocol, limit: Int = .max) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return String(text) }
        return String(String.UnicodeScalarView(text.unicodeScalars.lazy.compactMap(Self.form).prefix(limit)))
    }
}

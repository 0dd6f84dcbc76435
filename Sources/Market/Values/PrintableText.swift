/// The one rule for foreign text that a person gets to see: on the screen, in a line, in the log, on a desktop.
///
/// Symbols, reasons, headlines and the headers of recordings are written by others. What a terminal obeys (ESC, U+0080 to
/// U+009F), what begins another line (CR, LF, U+2028), and what turns the direction of writing or is not seen at all, is
/// shown as a mark and never passed on. JSON escapes the same characters instead (`JSONText.printable(_:)`).
package enum PrintableText {
    /// What stands for a character: itself where it is harmless, a mark where it is not, `nil` where nothing is shown for it.
    package static func form(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x20..<0x7F: return scalar
        // The pictures of control characters (U+2400).
        case 0..<0x20: return Unicode.Scalar(0x2400 + scalar.value)
        case 0x7F: return "\u{2421}"
        // Joiners and variation selectors change the form of their neighbours only.
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: return nil
        default: break
        }
        switch scalar.properties.generalCategory {
        // Format characters hold the marks and overrides of writing direction, which can turn a price around.
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            return "\u{FFFD}"
        case .spaceSeparator: return " "
        default: return scalar
        }
    }

    /// Whether text is shown as it is.
    package static func isPrintable(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } || text.unicodeScalars.allSatisfy { Self.form(of: $0) == $0 }
    }

    /// The text as one line, of at most `limit` characters of Unicode.
    package static func line(_ text: some StringProtocol, limit: Int = .max) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return String(text) }
        return String(String.UnicodeScalarView(text.unicodeScalars.lazy.compactMap(Self.form).prefix(limit)))
    }
}

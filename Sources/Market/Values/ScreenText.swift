/// A printable unit of text: a character of one or two columns with a few combining marks.
package struct ScreenUnit: Sendable, Equatable {
    package var text: String
    /// The width on the screen in columns, 1 or 2.
    package var width: Int
}

/// The set of characters that a terminal can display.
package enum ScreenGlyphs: Sendable {
    case unicode
    /// ASCII only, for a locale that is not UTF-8.
    case ascii
}

/// The conversion of untrusted text to units of known width, by the rule of ``PrintableText``. All such text that
/// reaches the screen passes through it.
///
/// Symbols and reasons come from upstream and may be hostile; an escape sequence in them must never reach the terminal.
package enum ScreenText {
    /// The combining marks kept after a character. More are an attack on the renderer, not writing.
    package static let marksPerUnit = 2

    /// Converts as much of `text` as fits `columns` into printable units, and ends a text that was cut with an
    /// ellipsis.
    package static func units(_ text: String, columns: Int, glyphs: ScreenGlyphs = .unicode) -> [ScreenUnit] {
        guard columns > 0 else { return [] }
        var units: [ScreenUnit] = []
        var used = 0
        var marks = 0
        // A flood of combining marks adds no width, so the number of scalars examined has a separate limit.
        var remaining = 8 * columns + 64
        for scalar in text.unicodeScalars {
            remaining -= 1
            switch Self.kind(of: scalar, glyphs: glyphs) {
            case .mark where !units.isEmpty:
                if marks < Self.marksPerUnit, units[units.count - 1].text != "\u{FFFD}" {
                    units[units.count - 1].text.unicodeScalars.append(scalar)
                    marks += 1
                }
            case .mark, .dropped:
                break
            case .shown(let shown, let width):
                if used + width > columns {
                    return Self.ellipsised(units, columns: columns, glyphs: glyphs)
                }
                units.append(ScreenUnit(text: String(Character(shown)), width: width))
                used += width
                marks = 0
            }
            if remaining == 0 { return Self.ellipsised(units, columns: columns, glyphs: glyphs) }
        }
        return units
    }

    /// Returns the columns that the whole `text` takes, up to `limit`.
    package static func width(of text: String, limit: Int = 1_024, glyphs: ScreenGlyphs = .unicode) -> Int {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        if glyphs == .unicode, let width = Self.narrowWidth(of: text), width <= limit { return width }
        return Self.units(text, columns: limit, glyphs: glyphs).reduce(0) { $0 + $1.width }
    }

    /// Returns the columns of a text made only of plain characters and of those used for charts and marks, each of one
    /// column; `nil` for any other text, which must be examined more closely.
    package static func narrowWidth(of text: String) -> Int? {
        var width = 0
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // ASCII, punctuation such as the ellipsis, arrows, boxes and blocks, the triangles and the disc used as
            // marks, and Braille. None of these takes two columns or joins another (UAX 11, UAX 44).
            case 0x20...0x7E, 0x2010...0x2027, 0x2190...0x2193, 0x2500...0x259F, 0x25B2, 0x25B8, 0x25BC, 0x25C2, 0x25CF,
                0x2800...0x28FF:
                width += 1
            default: return nil
            }
        }
        return width
    }

    /// Returns the printable form of `text`, at most `columns` wide.
    package static func clean(_ text: String, columns: Int, glyphs: ScreenGlyphs = .unicode) -> String {
        Self.units(text, columns: columns, glyphs: glyphs).reduce(into: "") { $0 += $1.text }
    }

    /// Returns the printable form of `text` in at most `most` lines, broken at spaces where possible. An ellipsis ends
    /// the last line of a text that was cut.
    package static func lines(
        _ text: String,
        columns: Int,
        most: Int,
        glyphs: ScreenGlyphs = .unicode
    ) -> [String] {
        guard columns > 0, most > 0 else { return [] }
        // Breaking at spaces leaves columns empty. This many columns are always enough.
        var rest = Self.units(text, columns: columns * (most + 1), glyphs: glyphs)[...]
        var lines: [String] = []
        while !rest.isEmpty, lines.count < most {
            var used = 0
            var end = rest.startIndex
            while end < rest.endIndex, used + rest[end].width <= columns {
                used += rest[end].width
                end += 1
            }
            var line = rest[..<end]
            if end < rest.endIndex {
                if lines.count == most - 1 {
                    line = Self.ellipsised(Array(line), columns: columns, glyphs: glyphs)[...]
                } else if rest[end].text != " ", let space = line.lastIndex(where: { $0.text == " " }) {
                    line = rest[..<space]
                    end = space
                }
            }
            lines.append(line.reduce(into: "") { $0 += $1.text })
            // A character wider than the screen is skipped, since retrying it would never end.
            rest = end == rest.startIndex ? rest.dropFirst() : rest[end...].drop { $0.text == " " }
        }
        return lines
    }

    private static func ellipsised(_ units: [ScreenUnit], columns: Int, glyphs: ScreenGlyphs) -> [ScreenUnit] {
        var units = units
        var used = units.reduce(0) { $0 + $1.width }
        while used > columns - 1, let last = units.popLast() { used -= last.width }
        units.append(ScreenUnit(text: glyphs == .unicode ? "…" : "~", width: 1))
        return units
    }

    private enum Kind {
        case shown(Unicode.Scalar, width: Int)
        case mark
        case dropped
    }

    private static func kind(of scalar: Unicode.Scalar, glyphs: ScreenGlyphs) -> Kind {
        if scalar.value >= 0x20, scalar.value < 0x7F { return .shown(scalar, width: 1) }
        guard glyphs == .unicode else { return .shown("?", width: 1) }
        switch scalar.value {
        // Skin tones change the width on some terminals only, as joiners and variation selectors do.
        case 0x1F3FB...0x1F3FF: return .dropped
        // Two of these form a flag of one, two or four columns.
        case 0x1F1E6...0x1F1FF: return .shown("\u{FFFD}", width: 1)
        // Vowels and final consonants of Hangul join the preceding syllable.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return .mark
        default: break
        }
        guard let form = PrintableText.form(of: scalar) else { return .dropped }
        guard form == scalar else { return .shown(form, width: 1) }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return .mark
        default: return .shown(scalar, width: ScreenWidth.isWide(scalar) ? 2 : 1)
        }
    }
}

/// The East Asian width of a character, as a terminal needs it (Unicode, UAX 11: W and F).
enum ScreenWidth {
    /// Returns whether `scalar` takes two columns. Ambiguous characters take one, as in terminals outside of East Asian
    /// locales.
    static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x1100 else { return false }
        if scalar.properties.isEmojiPresentation { return true }
        switch scalar.value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D35F,
            0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            return true
        default:
            return false
        }
    }
}

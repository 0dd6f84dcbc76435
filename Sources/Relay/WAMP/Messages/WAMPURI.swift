/// The rule for URIs (WAMP, 2.1.1, loose), and for patterns of them.
enum WAMPURI {
    /// The longest URI, bytes.
    static let maximumBytes = 256

    /// Returns whether the text is a URI: components without blanks and `#`, separated by dots, none of them empty.
    static func isValid(_ text: String) -> Bool {
        Self.isValidPattern(text) && Self.components(text).allSatisfy { !$0.isEmpty }
    }

    /// Returns whether the text is a URI some of whose components may be empty.
    static func isValidPattern(_ text: String) -> Bool {
        text.utf8.count <= Self.maximumBytes && text.unicodeScalars.allSatisfy { !Self.isForbidden($0) }
    }

    /// Returns whether a character may not stand in a URI at all. Dots, which separate components, may.
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "#" || scalar.value < 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace
    }

    /// Returns the parts between the dots. A dot separates whatever follows it, even a mark that would combine with it.
    static func components(_ text: String) -> [Substring] {
        text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// Returns a text as one component, whose dots and forbidden characters are percent-encoded.
    static func component(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { out, scalar in
            guard scalar == "." || scalar == "%" || Self.isForbidden(scalar) else {
                return out.unicodeScalars.append(scalar)
            }
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 16, uppercase: true)
                out += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}

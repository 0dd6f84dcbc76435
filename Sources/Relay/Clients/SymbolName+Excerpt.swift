import Market

extension SymbolName {
    /// Returns a name as an answer repeats it: whole, or its first ``longest`` bytes without a scalar that they cut.
    static func excerpt(of name: String) -> String {
        let utf8 = name.utf8
        guard var end = utf8.index(utf8.startIndex, offsetBy: Self.longest, limitedBy: utf8.endIndex) else {
            return name
        }
        while end < utf8.endIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(name.unicodeScalars[..<end])
    }
}

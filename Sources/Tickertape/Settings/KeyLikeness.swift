/// The look of an API key, for texts that somebody typed in the wrong place.
///
/// A key given as an argument is seen by every user of the machine already; an error that repeated it would also bring it
/// into the journal of a service. Finnhub's keys are 20 or 40 letters and digits.
enum KeyLikeness {
    /// From how many letters and digits in a row a text may be a key.
    static let length = 20

    /// What stands in the place of a text that may be a key.
    static let placeholder = "(not repeated: it looks like a key)"

    /// Whether a text is nothing but letters and digits, of both and enough of them, as keys are and no symbol is.
    static func isKey(_ text: String) -> Bool {
        text.utf8.count >= self.length && text.utf8.allSatisfy(self.isPart)
            && text.utf8.contains(where: self.isDigit) && !text.utf8.allSatisfy(self.isDigit)
    }

    /// The text without what may be a key in it; the names of files behind a slash stay, for nobody finds a file without.
    static func withheld(_ text: String) -> String {
        var safe = ""
        var run = ""
        var isPath = false
        for character in text {
            if character.utf8.count == 1, character.utf8.allSatisfy(self.isPart) {
                run.append(character)
                continue
            }
            safe += isPath || !self.isKey(run) ? run : self.placeholder
            run = ""
            safe.append(character)
            switch character {
            case "/": isPath = true
            case " ", "\n", "\"", "'", "=", "?", "&", "@": isPath = false
            default: break
            }
        }
        return safe + (isPath || !self.isKey(run) ? run : self.placeholder)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isPart(_ byte: UInt8) -> Bool {
        self.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

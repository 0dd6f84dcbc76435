/// The heuristic that recognises an API key in a text that was typed in the wrong place.
///
/// A key in an argument is already visible to every user of the machine. An error message that repeats it would also
/// copy it into the journal of a service. Finnhub's keys have 20 or 40 letters and digits.
enum KeyLikeness {
    /// The smallest number of consecutive letters and digits that may be a key.
    static let length = 20

    /// The replacement for a text that may be a key.
    static let placeholder = "(not repeated: it looks like a key)"

    /// Whether a text consists of at least ``length`` letters and digits and has both. Keys do, symbols do not.
    static func isKey(_ text: String) -> Bool {
        text.utf8.count >= self.length && text.utf8.allSatisfy(self.isPart)
            && text.utf8.contains(where: self.isDigit) && !text.utf8.allSatisfy(self.isDigit)
    }

    /// Returns the text with possible keys replaced. File names after a slash stay, since the message is useless
    /// without them.
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

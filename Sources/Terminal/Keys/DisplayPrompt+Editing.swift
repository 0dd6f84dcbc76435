import Market

// The editing of a prompt's line.
extension DisplayPrompt {
    /// Inserts text at the caret, up to the limits; control characters are skipped.
    ///
    /// - Parameters:
    ///   - most: the largest number of characters in the line.
    ///   - bytes: the largest number of UTF-8 bytes in the line.
    mutating func insert(_ text: String, most: Int, bytes: Int) {
        let place = self.text.index(self.text.startIndex, offsetBy: min(max(self.caret, 0), self.text.count))
        var before = String(self.text[..<place])
        let behind = String(self.text[place...])
        for scalar in text.unicodeScalars where !scalar.properties.isControl {
            // A combining mark may join the preceding character, so the characters are counted after the insertion.
            var longer = before
            longer.unicodeScalars.append(scalar)
            guard (longer + behind).count <= most, longer.utf8.count + behind.utf8.count <= bytes else { break }
            before = longer
        }
        self.text = before + behind
        self.caret = min(before.count, self.text.count)
    }

    /// Applies a key that moves the caret or deletes characters, as in a shell.
    mutating func edit(with key: TerminalKey) {
        var characters = Array(self.text)
        var caret = min(max(self.caret, 0), characters.count)
        switch key {
        case .named(.left), .control("b"): caret -= 1
        case .named(.right), .control("f"): caret += 1
        case .named(.home), .control("a"): caret = 0
        case .named(.end), .control("e"): caret = characters.count
        case .named(.backspace):
            guard caret > 0 else { return }
            characters.remove(at: caret - 1)
            caret -= 1
        case .named(.delete), .control("d"):
            guard caret < characters.count else { return }
            characters.remove(at: caret)
        case .control("u"):
            characters.removeSubrange(..<caret)
            caret = 0
        case .control("k"): characters.removeSubrange(caret...)
        case .control("w"):
            var start = caret
            while start > 0, characters[start - 1].isWhitespace { start -= 1 }
            while start > 0, !characters[start - 1].isWhitespace { start -= 1 }
            characters.removeSubrange(start..<caret)
            caret = start
        default: return
        }
        self.text = String(characters)
        self.caret = min(max(caret, 0), self.text.count)
    }
}

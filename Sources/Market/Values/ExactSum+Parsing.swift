extension ExactSum {
    /// Reads the text of a sum (the grammar of a JSON number, RFC 8259, 6); `nil` if the text is not a number or has
    /// more than 38 significant digits.
    package init?(_ text: String) {
        if let short = ExactDecimal(text) {
            self.init(short)
            return
        }
        // A longer number is the sum of runs of 18 digits, each held by an exact decimal with its place value.
        var rest = text[...]
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        let parts = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        var exponent = 0
        if parts.count == 2 {
            guard let written = Int(parts[1]),
                (ExactDecimal.minimumExponent...ExactDecimal.maximumExponent).contains(written)
            else { return nil }
            exponent = written
        }
        let halves = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.allSatisfy({ !$0.isEmpty }), halves[0].first != "0" || halves[0].count == 1 else { return nil }
        let digits = Array(halves.joined())
        exponent += halves[0].count - digits.count

        self.init()
        for start in stride(from: 0, to: digits.count, by: 18) {
            let run = String(digits[start..<min(start + 18, digits.count)])
            guard run.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }), let value = Int64(run)
            else {
                return nil
            }
            let power = exponent + digits.count - start - run.count
            guard let part = ExactDecimal(significand: isNegative ? -value : value, exponent: power) else { return nil }
            self.add(part)
        }
        guard self.omitted == 0 else { return nil }
    }
}

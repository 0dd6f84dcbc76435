import Market

/// The forms of a venue's trade numbers in text. They may exceed 2^53, so JSON has them as strings of digits.
package enum TradeID {
    /// Reads a number; `nil` for anything but 1 to 20 digits within 64 bits.
    static func parse(_ text: some StringProtocol) -> UInt64? {
        guard (1...20).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }

    /// Makes a range of numbers of its two ends; `nil` if one is missing, or they are in the wrong order.
    static func range(first: UInt64?, last: UInt64?) -> ClosedRange<UInt64>? {
        guard let first, let last, first <= last else { return nil }
        return first...last
    }

    /// Returns how many numbers a range has; the largest 64-bit number for the range of all of them.
    package static func count(_ range: ClosedRange<UInt64>) -> UInt64 {
        (range.upperBound - range.lowerBound).addingCapped(1)
    }

    /// Writes a range of numbers for people, such as `5 to 16`, or `5` for one number.
    package static func text(of range: ClosedRange<UInt64>) -> String {
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }

    /// Writes a number of trades for people, such as `1,204`.
    package static func grouped(_ number: UInt64) -> String {
        let digits = Array(String(number).utf8)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }
}

import Market

/// The generator of damaged inputs: valid ones with a few pieces changed, doubled, moved, cut off or mixed.
package struct Mutator: Sendable {
    private let seeds: [[UInt8]]
    private let words: [[UInt8]]
    private var chance: SeededGenerator
    /// The largest length of an input, in bytes.
    private let limit = 8 << 10

    init(seeds: [[UInt8]], words: [[UInt8]], seed: UInt64) {
        self.seeds = seeds
        self.words = words
        self.chance = SeededGenerator(seed: seed)
    }

    /// Makes the next input.
    package mutating func next() -> [UInt8] {
        if self.below(64) == 0 { return self.noise() }
        var input = self.seeds[self.below(self.seeds.count)]
        for _ in 0..<self.below(5) { self.change(&input) }
        if input.count > self.limit { input.removeLast(input.count - self.limit) }
        return input
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &self.chance) }

    private mutating func noise() -> [UInt8] {
        (0..<self.below(96)).map { _ in UInt8(truncatingIfNeeded: self.chance.next()) }
    }

    private mutating func change(_ input: inout [UInt8]) {
        let place = self.below(input.count + 1)
        switch self.below(11) {
        case 0:
            if place < input.count { input[place] = UInt8(truncatingIfNeeded: self.chance.next()) }
        case 1:
            if place < input.count { input[place] ^= 1 << UInt8(self.below(8)) }
        case 2:
            if place < input.count { input.remove(at: place) }
        case 3, 4:
            input.insert(contentsOf: self.words[self.below(self.words.count)], at: place)
        case 5:
            let word = self.words[self.below(self.words.count)]
            input.replaceSubrange(place..<min(input.count, place + word.count), with: word)
        case 6:
            input.removeLast(input.count - place)
        case 7:
            input.removeSubrange(place..<min(input.count, place + self.below(40)))
        case 8:
            let piece = Array(input[place..<min(input.count, place + self.below(64))])
            input.insert(contentsOf: piece, at: self.below(input.count + 1))
        case 9:
            let piece = Array(input[place..<min(input.count, place + self.below(16))])
            for _ in 0..<self.below(24) where input.count < self.limit { input.insert(contentsOf: piece, at: place) }
        default:
            let other = self.seeds[self.below(self.seeds.count)]
            input.replaceSubrange(place..., with: other[self.below(other.count)...])
        }
    }

    /// Fragments of JSON, including known pitfalls of its readers.
    static let jsonWords: [[UInt8]] =
        [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\\"", "\\\\", "\\u0041", "\\ud83d\\ude00", "\\ud800", "\\u0000",
            "\\/", "null", "true", "false", "nul", "NaN", "Infinity", "-", "+", ".", "0", "00", "-0", "0.0", "1.", ".5",
            "1e5", "1E+5", "1e-5", "1e", "1e999", "1e-999", "1e99999999999999999999", "1e17", "1e18", "1e-18",
            "1e-19", "1e-30", "1e-31", "123456789012345678",
            "1234567890123456789", "9223372036854775807", "9223372036854775808", "100000000000000000000000000",
            "0.000000000000000001", "0.1234567890123456789", "66972.77", "12345678", "1234567.8", "1721555886208",
            "1721555886208.0", "1721555886208000e-3", " ", "\n", "\t", "\r", "\u{b}", "\u{a0}", "\u{feff}", "//",
            "/**/",
            "'", "\u{0}", "\u{7f}", "ä", "€", "😀", "\"p\":", "\"v\":", "\"s\":", "\"t\":", "\"c\":", "\"\\u0070\":",
            "\"data\":", "\"type\":", "\"msg\":", "\"trade\"", "\"ping\"", "\"error\"", "\"data\":[],",
            "\"type\":\"trade\"",
            "\"p\":1,\"p\":\"x\",", "{\"c\":null,\"p\":1,\"s\":\"A\",\"t\":1,\"v\":0},", "\"c\":[\"1\",\"12\"],",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":{\"a\":", "\"at\":", "\"frame\":",
            "\"tickertape\":",
            "\"symbols\":[", "\"symbol\":", "subscribe", "unsubscribe",
        ].map { Array($0.utf8) } + [[0xC3], [0xFF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0x80]]
}

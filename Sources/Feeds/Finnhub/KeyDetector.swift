import TLS

/// The detector of a repeated key: it finds any eight consecutive bytes of the key, in upper or lower case.
///
/// Eight bytes suffice because a truncated text may hold only a part of the key. The text is searched as it stands and
/// with its escapes decoded, those of JSON and of URLs (RFC 8259, 7; RFC 3986, 2.1). Every text takes a single pass.
struct KeyDetector: Sendable, Equatable {
    /// The number of bytes that betray a key. A shorter text is not a secret, and would be found in ordinary words.
    static let length = 8

    private let windows: Set<UInt64>
    /// A Bloom filter with one bit for each window's hash. It rules out most bytes without a look at the set.
    private let marks: [UInt64]

    init(_ key: Secret) {
        var windows: Set<UInt64> = []
        var marks = [UInt64](repeating: 0, count: 64)
        var word: UInt64 = 0
        for (index, byte) in key.reveal().utf8.enumerated() {
            word = word << 8 | UInt64(Self.folded(byte))
            guard index >= Self.length - 1 else { continue }
            windows.insert(word)
            let hash = Self.hash(word)
            marks[hash >> 6] |= 1 << UInt64(hash & 63)
        }
        self.windows = windows
        self.marks = marks
    }

    /// Whether the bytes hold a part of the key.
    func occurs(in bytes: some Collection<UInt8>) -> Bool {
        guard !self.windows.isEmpty else { return false }
        var scan = Scan(trace: self)
        for (index, byte) in bytes.enumerated() where scan.take(byte, at: index) != nil { return true }
        // The text may end amid an escape.
        return scan.finish() != nil
    }

    /// Returns the text with every part of the key replaced.
    func redacted(_ text: String) -> String {
        guard !self.windows.isEmpty else { return text }
        var scan = Scan(trace: self)
        var found: [Range<Int>] = []
        func note(_ range: Range<Int>?) {
            guard let range else { return }
            if let last = found.last, last.upperBound >= range.lowerBound {
                found[found.count - 1] = last.lowerBound..<range.upperBound
            } else {
                found.append(range)
            }
        }
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() { note(scan.take(byte, at: index)) }
        note(scan.finish())
        guard !found.isEmpty else { return text }
        var safe: [UInt8] = []
        var start = 0
        for range in found {
            safe += bytes[start..<range.lowerBound]
            safe += Array("(the key)".utf8)
            start = range.upperBound
        }
        return String(decoding: safe + bytes[start...], as: UTF8.self)
    }

    private func holds(_ word: UInt64) -> Bool {
        let hash = Self.hash(word)
        return self.marks[hash >> 6] & 1 << UInt64(hash & 63) != 0 && self.windows.contains(word)
    }

    private static func hash(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 52)
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    /// A pass over a text: the last eight bytes, plain and unescaped, and where each of them began.
    private struct Scan {
        let trace: KeyDetector
        private var plain = Window()
        private var unescaped = Window()
        /// The bytes of a started escape, and its beginning.
        private var escape: [UInt8] = []
        private var escapeStart = 0
        private var end = 0

        init(trace: KeyDetector) { self.trace = trace }

        /// Takes the next byte; returns the range of a part of the key that ends with it.
        mutating func take(_ byte: UInt8, at index: Int) -> Range<Int>? {
            self.end = index + 1
            self.plain.push(KeyDetector.folded(byte), from: index)
            var start = self.plain.isFull && self.trace.holds(self.plain.word) ? self.plain.start : nil
            if self.escape.isEmpty, byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "%") {
                self.unescaped.push(KeyDetector.folded(byte), from: index)
                return start.map { $0..<self.end } ?? self.unescapedMatch()
            }
            if self.escape.isEmpty { self.escapeStart = index }
            self.escape.append(byte)
            if let value = KeyDetector.unescape(self.escape) {
                self.escape.removeAll(keepingCapacity: true)
                self.unescaped.push(KeyDetector.folded(value), from: self.escapeStart)
                start = start ?? self.unescapedMatch()?.lowerBound
            } else if !KeyDetector.mayBecomeEscape(self.escape) {
                let match = self.flushEscape()
                start = start ?? match?.lowerBound
            }
            return start.map { $0..<self.end }
        }

        /// Takes the end of the text.
        mutating func finish() -> Range<Int>? { self.flushEscape() }

        /// Takes the bytes of a text that only looked like an escape as they stand.
        private mutating func flushEscape() -> Range<Int>? {
            var match: Range<Int>?
            for (offset, byte) in self.escape.enumerated() {
                self.unescaped.push(KeyDetector.folded(byte), from: self.escapeStart + offset)
                match = match ?? self.unescapedMatch()
            }
            self.escape.removeAll(keepingCapacity: true)
            return match
        }

        private func unescapedMatch() -> Range<Int>? {
            guard self.unescaped.isFull, self.trace.holds(self.unescaped.word) else { return nil }
            return self.unescaped.start..<self.end
        }
    }

    /// The last eight bytes, and where each of them began.
    private struct Window {
        private(set) var word: UInt64 = 0
        private var starts = SIMD8<Int>(repeating: 0)
        private var count = 0

        var isFull: Bool { self.count >= KeyDetector.length }
        /// Where the oldest of the eight bytes began.
        var start: Int { self.starts[self.count & 7] }

        mutating func push(_ byte: UInt8, from start: Int) {
            self.word = self.word << 8 | UInt64(byte)
            self.starts[self.count & 7] = start
            self.count += 1
        }
    }

    /// Returns the byte that a complete escape stands for; `nil` for any other text.
    private static func unescape(_ escape: [UInt8]) -> UInt8? {
        if escape.count == 3, escape[0] == UInt8(ascii: "%") { return Self.byte(escape[1...]) }
        guard escape.count >= 2, escape[0] == UInt8(ascii: "\\") else { return nil }
        switch escape[1] {
        case UInt8(ascii: "u"): return escape.count == 6 ? Self.byte(escape[2...]) : nil
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return escape[1]
        default: return nil
        }
    }

    private static func mayBecomeEscape(_ escape: [UInt8]) -> Bool {
        if escape.count == 1 { return true }
        if escape[0] == UInt8(ascii: "%") { return escape.count < 3 }
        return escape[1] == UInt8(ascii: "u") && escape.count < 6
    }

    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        UInt16(String(decoding: digits, as: UTF8.self), radix: 16).flatMap { UInt8(exactly: $0) }
    }
}

import Market

/// The offsets of one time zone from UTC, as a compiled file of the time zone database has them (RFC 9636).
package struct TimeZoneRules: Sendable, Equatable {
    package static let utc = TimeZoneRules(name: "UTC")

    /// The zone's name in the database: `Europe/Berlin`.
    package let name: String
    /// The times of the changes, s since 1970, ascending.
    private var changes: [Int64] = []
    /// The offset from each change on, s.
    private var offsets: [Int64] = []
    /// The offset before the first change, s.
    private var first: Int64 = 0
    /// The rule after the last change; `nil` where its offset stays.
    private var later: YearlyTimeRule?

    private init(name: String) { self.name = name }

    /// Reads a file of the database; `nil` if it is not one, or counts leap seconds, which the program's times do not.
    package init?(name: String, file: [UInt8]) {
        self.init(name: name)
        var input = FileReader(bytes: file)
        guard var header = input.header() else { return nil }
        var width = 4
        if header.version > 0 {
            // The first part is for old readers, whose times end in 2038.
            guard input.skip(header.length(width: 4)), let second = input.header() else { return nil }
            (header, width) = (second, 8)
        }
        let length = header.length(width: width)
        guard header.leaps == 0, (1...256).contains(header.types), input.count >= length else { return nil }
        for _ in 0..<header.times { self.changes.append(input.number(width)) }
        let kinds = (0..<header.times).map { _ in input.number(1) & 0xFF }
        var types: [Int64] = []
        for _ in 0..<header.types {
            types.append(input.number(4))
            _ = input.number(2)
        }
        guard kinds.allSatisfy({ $0 < Int64(types.count) }), types.allSatisfy({ abs($0) < 86_400 }),
            zip(self.changes, self.changes.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.offsets = kinds.map { types[Int($0)] }
        self.first = types[0]
        _ = input.skip(header.length(width: width) - header.times * (width + 1) - header.types * 6)
        self.later = YearlyTimeRule(input.footer)
    }

    /// Returns how far the zone is ahead of UTC at a time (ns since 1970), ns.
    package func offset(at time: Int64) -> Int64 {
        let seconds = time / 1_000_000_000 - (time % 1_000_000_000 < 0 ? 1 : 0)
        guard let last = self.changes.last, seconds < last else {
            return (self.later?.offset(at: seconds) ?? self.offsets.last ?? self.first) * 1_000_000_000
        }
        // The number of changes up to this time.
        var (low, high) = (0, self.changes.count)
        while low < high {
            let middle = (low + high) / 2
            if self.changes[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return (low == 0 ? self.first : self.offsets[low - 1]) * 1_000_000_000
    }

    /// The numbers at the beginning of one part of the file.
    private struct Header {
        var version: UInt8
        var marks: Int
        var leaps: Int
        var times: Int
        var types: Int
        var letters: Int

        /// Returns the length of the part that follows, with times of `width` bytes.
        func length(width: Int) -> Int {
            self.times * (width + 1) + self.types * 6 + self.letters + self.leaps * (width + 4) + self.marks
        }
    }

    /// The bytes that are still to be read.
    private struct FileReader {
        /// More than any zone has.
        private static let mostTimes: Int64 = 10_000
        private var rest: ArraySlice<UInt8>

        init(bytes: [UInt8]) { self.rest = bytes[...] }

        var count: Int { self.rest.count }

        mutating func skip(_ length: Int) -> Bool {
            guard length >= 0, length <= self.rest.count else { return false }
            self.rest = self.rest.dropFirst(length)
            return true
        }

        /// Reads a number of `width` bytes, the highest first, in two's complement.
        mutating func number(_ width: Int) -> Int64 {
            let bytes = self.rest.prefix(width)
            self.rest = self.rest.dropFirst(width)
            let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
            return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        }

        mutating func header() -> Header? {
            guard self.rest.count >= 44, self.rest.starts(with: Array("TZif".utf8)) else { return nil }
            let version = self.rest[self.rest.startIndex + 4]
            _ = self.skip(20)
            let counts = (0..<6).map { _ in self.number(4) }
            guard counts.allSatisfy({ (0...Self.mostTimes).contains($0) }) else { return nil }
            return Header(
                version: version,
                marks: Int(counts[0] + counts[1]),
                leaps: Int(counts[2]),
                times: Int(counts[3]),
                types: Int(counts[4]),
                letters: Int(counts[5])
            )
        }

        /// The text between the two line ends at the end.
        var footer: String {
            guard self.rest.first == UInt8(ascii: "\n") else { return "" }
            return String(decoding: self.rest.dropFirst().prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
    }
}

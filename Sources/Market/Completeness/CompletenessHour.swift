/// The completeness of one hour of a symbol on the tape, as the ids of its trades prove it.
///
/// An hour contains the trades whose exchange time lies in it. A missing id has no time; it counts in the hour of the
/// trade after it.
package struct CompletenessHour: Sendable, Hashable {
    /// The length of an hour, ns.
    package static let length: Int64 = 3_600_000_000_000

    /// The most ids that are counted as missing, so that JSON has the number exactly.
    package static let maximumCount: UInt64 = 1 << 53

    /// The symbol, by its name on the tape.
    package var symbol: String
    /// The beginning by the exchange's clock, ns since 1970 UTC, on a full hour.
    package var start: Int64
    /// The lowest and the highest id; `nil` without a trade.
    package var first: UInt64?
    package var last: UInt64?
    /// The trades on the tape.
    package var count: UInt64 = 0
    /// The ids that are not on the tape.
    package var missing: UInt64 = 0
    /// The trades that came again and were left out.
    package var repeated: UInt64 = 0
    /// How many of ``count`` had been missing and came later.
    package var filled: UInt64 = 0
    /// Whether trades of the symbol before and after this hour are known, so that it has no unknown beginning and end.
    package var isWhole = false
    /// The SHA-256 over the lines `id,time,price,size\n` of the trades on the tape in the order of their ids, lower-case
    /// hexadecimal; `nil` for ``reason``. Time is in whole µs, cut; decimals have no exponent and no trailing zeros.
    package var sha256: String?
    /// Why there is no hash, in one line.
    package var reason: String?

    package init(symbol: String, start: Int64) {
        self.symbol = symbol
        self.start = start
    }

    /// Whether every trade of the hour is on the tape.
    package var isComplete: Bool { self.isWhole && self.missing == 0 }

    /// Returns the beginning of the hour of a time, both ns since 1970.
    package static func start(of time: Int64) -> Int64 {
        let rest = time % Self.length
        // Far before 1970 the beginning cannot be represented, and no exchange has such times.
        return time &- (rest < 0 ? rest + Self.length : rest)
    }
}

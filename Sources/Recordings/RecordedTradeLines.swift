import Completeness
package import Market

/// The lines of a recording's trades by their ids, as short digests, so that single trades can be compared. Bounded.
package struct RecordedTradeLines: Sendable {
    private struct Key: Hashable {
        var symbol: String
        var start: Int64
    }

    /// The most trades, about 32 bytes each. Of more nothing is kept.
    private static let limit = 4_000_000

    private var lines: [Key: [UInt64: UInt64]] = [:]
    private var count = 0

    package init() {}

    /// Returns a digest of a line that is valid within this process.
    static func hash(_ line: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: line)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Adds a trade of the tape; the first one with an id counts.
    package mutating func add(_ trade: Trade, symbol: String) {
        guard let id = trade.id, self.count < Self.limit else { return }
        self.count += 1
        let key = Key(symbol: symbol, start: CompletenessHour.start(of: trade.exchangeTime))
        guard self.lines[key]?[id] == nil else { return }
        self.lines[key, default: [:]][id] = TradeLine.with(trade, id: id, Self.hash)
    }

    /// The digests of an hour's trades by their ids; `nil` if there were too many trades.
    func ofHour(_ hour: CompletenessHour) -> [UInt64: UInt64]? {
        guard self.count < Self.limit else { return nil }
        return self.lines[Key(symbol: hour.symbol, start: hour.start)] ?? [:]
    }
}

import Wire

/// The ids of one symbol's trades that the tape lacks, as far as they are known.
package struct MissingTrades: Sendable, Equatable {
    /// Consecutive ids that are missing.
    package struct Hole: Sendable, Equatable {
        package var ids: ClosedRange<UInt64>
        /// The exchange's time of the newest trade before it, ns since 1970; `nil` if none is known.
        package var after: Int64?

        package init(ids: ClosedRange<UInt64>, after: Int64? = nil) {
            self.ids = ids
            self.after = after
        }
    }

    /// The name on the tape.
    package var symbol: String
    /// In ascending order, without a common id.
    package var holes: [Hole]

    package init(symbol: String, holes: [Hole]) {
        self.symbol = symbol
        self.holes = holes
    }

    package init(symbol: String, ids: [ClosedRange<UInt64>]) {
        self.init(symbol: symbol, holes: ids.map { Hole(ids: $0) })
    }

    package var ids: [ClosedRange<UInt64>] { self.holes.map(\.ids) }

    /// Says how many trades are missing and which, such as `1,204 trades missing, ids 3735684463 to 3735685666`.
    static func text(of ids: ClosedRange<UInt64>) -> String {
        let count = TradeID.count(ids)
        let words = count == 1 ? "trade missing, id" : "trades missing, ids"
        return "\(TradeID.grouped(count)) \(words) \(TradeID.text(of: ids))"
    }
}

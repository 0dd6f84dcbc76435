import Wire

/// The ids of one symbol's trades that the tape lacks, as far as they are known.
package struct MissingTrades: Sendable, Equatable {
    /// The name on the tape.
    package var symbol: String
    /// In ascending order, without a common id.
    package var ids: [ClosedRange<UInt64>]

    package init(symbol: String, ids: [ClosedRange<UInt64>]) {
        self.symbol = symbol
        self.ids = ids
    }

    /// Says how many trades are missing and which, such as `1,204 trades missing, ids 3735684463 to 3735685666`.
    static func text(of ids: ClosedRange<UInt64>) -> String {
        guard ids.lowerBound < ids.upperBound else { return "1 trade missing, id \(ids.lowerBound)" }
        let digits = Array(String(TradeID.count(ids)).utf8)
        var grouped = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { grouped += "," }
            grouped.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return "\(grouped) trades missing, ids \(ids.lowerBound) to \(ids.upperBound)"
    }
}

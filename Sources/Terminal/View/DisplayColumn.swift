/// A column of the table of symbols. The raw value is its name in the settings.
package enum DisplayColumn: String, Sendable, CaseIterable {
    case symbol
    case price
    case age
    case change
    case percent
    case value
    case profit
    case today
    case weight
    case holding
    case note
    case chart
    case high
    case low
    case rate
    case volume
    case size
    case trades
    case open

    /// Returns a choice as it is drawn: the symbol and the price come first where they were not chosen. An empty choice
    /// stays empty.
    static func completed(_ chosen: [DisplayColumn]) -> [DisplayColumn] {
        chosen.isEmpty ? [] : [.symbol, .price].filter { !chosen.contains($0) } + chosen
    }
}

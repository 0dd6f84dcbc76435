import Market

/// The bars of one symbol in one width, as clients subscribe to them.
struct BarTopic: Hashable, Comparable {
    var symbol: String
    var width: BarWidth

    static func < (left: BarTopic, right: BarTopic) -> Bool {
        (left.symbol, left.width.rawValue) < (right.symbol, right.width.rawValue)
    }
}

/// The kinds of the feed's topics that a subscription matches, or may match.
struct WAMPTopics: OptionSet, Hashable {
    let rawValue: UInt8

    static let prices = WAMPTopics(rawValue: 1)
    static let trades = WAMPTopics(rawValue: 2)
    static let status = WAMPTopics(rawValue: 4)
    static let gaps = WAMPTopics(rawValue: 8)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Makes the kinds that a pattern may match.
    init(of pattern: WAMPPattern) {
        self = []
        if pattern.matchesBelow(WAMPTopic.prices) { self.insert(.prices) }
        if pattern.matchesBelow(WAMPTopic.trades) { self.insert(.trades) }
        if pattern.matches(WAMPTopic.status.uri) { self.insert(.status) }
        if pattern.matches(WAMPTopic.gap.uri) { self.insert(.gaps) }
    }
}

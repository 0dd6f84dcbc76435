/// A subscription of one session.
struct WAMPSubscription: Equatable {
    let pattern: WAMPPattern
    /// The topic, if the subscription names one of the feed, or a room.
    let topic: WAMPTopic?
    /// The kinds of the feed's topics that it may match.
    let topics: WAMPTopics

    /// - Parameters:
    ///   - text: the URI or the pattern that a client sent.
    ///   - allowsOthers: whether other topics than the feed's exist.
    ///   - hasRooms: whether there are rooms, which no pattern matches.
    /// - Throws: ``WAMPFailure`` if the client may not subscribe to it.
    init(_ text: String, _ match: WAMPMatch, allowsOthers: Bool, hasRooms: Bool = false) throws(WAMPFailure) {
        let isValid = match == .exact ? WAMPURI.isValid(text) : WAMPURI.isValidPattern(text)
        guard isValid else { throw WAMPFailure(.invalidURI, "the topic is no URI") }
        if match == .exact, WAMPTopic.isOurs(text) {
            let topic = try WAMPTopic(text, hasRooms: hasRooms)
            self.topic = topic
            self.pattern = WAMPPattern(text: topic.uri, match: .exact)
        } else {
            self.topic = nil
            self.pattern = WAMPPattern(text: text, match: match)
        }
        self.topics = WAMPTopics(of: self.pattern)
        guard self.topics.isEmpty else { return }
        if case .room? = self.topic { return }
        if WAMPTopic.isOurs(text) { throw .noSuchTopic }
        guard allowsOthers, !WAMPTopic.isReserved(text) else {
            throw WAMPFailure(.notAuthorized, "there are no other topics than those below tickertape. here")
        }
    }

    /// Whether it counts as one of ``WAMPLimits/subscriptions``; those to a symbol are limited with the symbols.
    var isCounted: Bool { self.topic?.symbol == nil }
}

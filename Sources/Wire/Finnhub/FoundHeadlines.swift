/// The result of a search for headlines.
package struct FoundHeadlines: Sendable, Equatable {
    /// The newest first, up to the query's limit.
    package var headlines: [Headline]
    /// The number of all matches.
    package var matches: Int
    /// The publishers of all headlines, not only of the matches, in alphabetical order.
    package var publishers: [String]
    /// When the service sent its list, ns since 1970.
    package var fetched: Int64

    package init(headlines: [Headline], matches: Int, publishers: [String], fetched: Int64) {
        self.headlines = headlines
        self.matches = matches
        self.publishers = publishers
        self.fetched = fetched
    }
}

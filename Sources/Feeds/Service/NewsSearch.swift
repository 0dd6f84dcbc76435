import Wire

/// The search in a list of headlines: by publisher, and by words in the headline or the summary.
struct NewsSearch: Sendable {
    private struct Entry: Sendable {
        var headline: Headline
        /// In lower case, as the texts that are searched for.
        var publisher: String
        /// The UTF-8 of the headline and the summary, in lower case.
        var text: [UInt8]
    }

    private let entries: [Entry]
    /// The publishers that occur, in alphabetical order.
    let publishers: [String]

    init(_ headlines: [Headline]) {
        self.entries = headlines.map { headline in
            Entry(
                headline: headline,
                publisher: headline.publisher.lowercased(),
                text: Array("\(headline.text)\n\(headline.summary)".lowercased().utf8)
            )
        }
        let publishers = Set(headlines.map(\.publisher)).subtracting([""])
        self.publishers = publishers.sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
    }

    /// Returns the headlines of the publisher in which every word of the text occurs, in the order of the list and up
    /// to the limit, and the number of all such headlines.
    func search(_ query: DirectoryQuery) -> (headlines: [Headline], matches: Int) {
        let publisher = query.publisher?.lowercased()
        let words = query.text.lowercased().split { $0.isWhitespace }.map { Array($0.utf8) }
        let matches = self.entries.filter { entry in
            (publisher == nil || publisher == entry.publisher)
                && words.allSatisfy { entry.text.firstRange(of: $0) != nil }
        }
        return (matches.prefix(max(query.limit, 0)).map(\.headline), matches.count)
    }
}

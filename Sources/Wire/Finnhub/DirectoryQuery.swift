/// A search for headlines or symbols, by publisher and by text.
package struct DirectoryQuery: Sendable, Equatable {
    /// The publisher of the headlines, or the exchange of the symbols, in any case of letters. `nil` means all
    /// publishers, and the usual exchange.
    package var publisher: String?
    /// The words that must all occur; empty matches everything.
    package var text: String
    /// The most results.
    package var limit: Int

    package init(publisher: String? = nil, text: String = "", limit: Int) {
        self.publisher = publisher
        self.text = text
        self.limit = limit
    }
}

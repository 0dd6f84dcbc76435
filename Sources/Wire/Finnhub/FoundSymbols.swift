/// The result of a search for symbols.
package struct FoundSymbols: Sendable, Equatable {
    /// The best first, up to the query's limit.
    package var symbols: [ListedSymbol]
    /// The number of all matches.
    package var matches: Int
    /// The exchange that was searched, in upper case; `nil` for all of a recording's.
    package var publisher: String?
    /// The exchanges that can be searched, in alphabetical order and in upper case.
    package var publishers: [String]
    /// When the service sent its list, ns since 1970.
    package var fetched: Int64
    /// A remark for any reader, in one line; always present if nothing was found.
    package var note: String?
    /// Why the list cannot be kept on disk, in one line for the user of this machine: it may name a folder.
    package var diskProblem: String?

    package init(
        symbols: [ListedSymbol],
        matches: Int,
        publisher: String?,
        publishers: [String],
        fetched: Int64,
        note: String? = nil,
        diskProblem: String? = nil
    ) {
        self.symbols = symbols
        self.matches = matches
        self.publisher = publisher
        self.publishers = publishers
        self.fetched = fetched
        self.note = note
        self.diskProblem = diskProblem
    }

    /// All remarks for the user of this machine, in one line; `nil` without any.
    package var remark: String? {
        let remarks = [self.note, self.diskProblem].compactMap(\.self)
        return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
    }
}

import Market

/// Where the history of a recording is kept.
enum HistoryPlace {
    /// The database's name beside the recordings of the market.
    static let name = "tickertape-history.sqlite"

    /// The database of a program that records to `recording`; `nil` where none is kept.
    ///
    /// The demo has one of its own: its prices are not the market's. A replay has none, for its trades are in a file already,
    /// and `export` makes bars of it.
    static func path(_ setting: String, recording: String?, source: FeedStatus.Source) -> String? {
        guard setting != "off", let recording else { return nil }
        switch source {
        case .replay, .simulated: return nil
        case .live: break
        case .demo:
            return setting == "auto" ? FilePath.beside(recording, "tickertape-history-demo.sqlite") : "\(setting).demo"
        }
        return setting == "auto" ? FilePath.beside(recording, self.name) : setting
    }
}

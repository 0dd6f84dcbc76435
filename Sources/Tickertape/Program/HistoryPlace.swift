import Market

/// The place of a recording's history.
enum HistoryPlace {
    /// The database's name, in the folder of the market's recordings.
    static let name = "tickertape-history.sqlite"

    /// Returns the database's path for a program that records to `recording`; `nil` for no history.
    ///
    /// The demo has a separate database, since its prices are not the market's. A replay has none: its trades are
    /// already in a file, and `export` makes bars of them.
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

/// The reading of targets, for the mock servers.
extension VenueDayRequest {
    /// The most symbols of a target that are read.
    private static let maximumRead = 1_024

    /// Reads the target of a request for the last 24 hours; `nil` for any other. Without names it has no symbols.
    ///
    /// The symbols are as the target writes them, behind the venue's prefix: Kraken has several names for a pair.
    package init?(target text: String, of venue: Venue) {
        guard let target = VenueTarget(text) else { return nil }
        var names: [String] = []
        switch venue {
        case .binance:
            guard target.path == ["api", "v3", "ticker", "24hr"] else { return nil }
            if let name = target["symbol"] { names = [name] }
            if let list = target["symbols"] {
                var list = list
                names = list.withUTF8 { bytes in
                    var reader = JSONReader(UnsafeRawBufferPointer(bytes))
                    // A list that cannot be read names a symbol that does not exist.
                    return reader.strings(atMost: Self.maximumRead) ?? [""]
                }
            }
        case .coinbase:
            guard target.path.count == 3, target.path[0] == "products", target.path[2] == "stats" else { return nil }
            names = [target.path[1]]
        case .kraken:
            guard target.path == ["0", "public", "Ticker"] else { return nil }
            names = target["pair"].map { $0.split(separator: ",").prefix(Self.maximumRead).map(String.init) } ?? []
        }
        self.init(venue, names.map { "\(venue.prefix)\($0)" })
    }
}

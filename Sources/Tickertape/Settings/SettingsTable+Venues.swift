import Feeds
import Wire

/// The settings of the exchanges' own feeds.
extension Setting {
    static let from = Setting(
        "from",
        \.from,
        .word,
        flags: ["from"],
        help: "Where trades come from: finnhub, venue (the exchange itself, without a key), or auto."
    )

    static let venueBackfill = Setting(
        "venues.backfill",
        \.venues.backfill,
        .flag,
        help: "Request missing trades from the exchanges' REST services, in the background."
    )

    static let finnhubAudit = Setting(
        "finnhub.audit",
        \.auditsFinnhub,
        .flag,
        flags: ["audit"],
        help: "Compare Finnhub's trades with the exchange's own, by a second connection that needs no key."
    )

    static let finnhubFill = Setting(
        "finnhub.fill",
        \.fillsFinnhub,
        .flag,
        flags: ["fill"],
        help: "Fill the gaps in Finnhub's trades from the exchange's own; includes --audit."
    )

    static let venueAddresses = [
        stream(of: .binance, \.venues.binance.stream), service(of: .binance, \.venues.binance.service),
        stream(of: .coinbase, \.venues.coinbase.stream), service(of: .coinbase, \.venues.coinbase.service),
        stream(of: .kraken, \.venues.kraken.stream), service(of: .kraken, \.venues.kraken.service),
    ]

    private typealias Address = any WritableKeyPath<Settings, UpstreamAddress> & Sendable

    private static func stream(of venue: Venue, _ path: Address) -> Setting {
        Setting("venues.\(venue.rawValue)-url", path, .streamURL, help: "\(venue.name)'s WebSocket of trades.")
    }

    private static func service(of venue: Venue, _ path: Address) -> Setting {
        let help = "\(venue.name)'s REST service: the symbols, and missing trades."
        return Setting("venues.\(venue.rawValue)-service", path, .serviceURL, help: help)
    }
}

/// The settings of the exchanges' own feeds.
extension Setting {
    static let from = Setting(
        "from",
        \.from,
        .word,
        flags: ["from"],
        help: "Where trades come from: finnhub, venue (the exchange itself, without a key), or auto."
    )
    static let binanceURL = Setting(
        "venues.binance-url",
        \.venues.binance.stream,
        .streamURL,
        help: "Binance's WebSocket of the spot market."
    )
    static let binanceService = Setting(
        "venues.binance-service",
        \.venues.binance.service,
        .serviceURL,
        help: "Binance's REST service, which lists the symbols."
    )
    static let coinbaseURL = Setting(
        "venues.coinbase-url",
        \.venues.coinbase.stream,
        .streamURL,
        help: "Coinbase Exchange's WebSocket."
    )
    static let coinbaseService = Setting(
        "venues.coinbase-service",
        \.venues.coinbase.service,
        .serviceURL,
        help: "Coinbase Exchange's REST service, which lists the symbols."
    )
    static let krakenURL = Setting(
        "venues.kraken-url",
        \.venues.kraken.stream,
        .streamURL,
        help: "Kraken's WebSocket, version 2."
    )
    static let krakenService = Setting(
        "venues.kraken-service",
        \.venues.kraken.service,
        .serviceURL,
        help: "Kraken's REST service, which lists the symbols."
    )
}

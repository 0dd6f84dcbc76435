import Glibc
import Market
package import Wire

extension VenueMarket {
    /// How long a market continues after its faults, ns. The program reconnects within that time.
    static let tail: Int64 = 150_000_000_000

    /// Makes a market up: bursts of trades, many of which equal their neighbour in all but the id.
    ///
    /// Once in a larger market of Kraken, which finds trades by time alone, more trades have one time than an answer has.
    ///
    /// - Parameter slowness: the factor on the times between bursts.
    package static func made(
        _ venue: Venue,
        seed: UInt64,
        count: Int,
        slowness: Int64 = 1
    ) throws(MarketFailure) -> VenueMarket {
        let symbols =
            switch venue {
            case .binance: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
            case .coinbase: ["COINBASE:BTC-USD", "COINBASE:ETH-USD"]
            case .kraken: ["KRAKEN:XXBTZUSD", "KRAKEN:XETHZUSD"]
            }
        var chance = SeededGenerator(seed: seed)
        let start: Int64 = 1_723_161_255_343_000_000
        var next: [UInt64] = [3_735_683_259, 1_520_538_925]
        var last: [(price: Int, size: Int)] = [(6_183_763, 2_000), (268_380, 3_450)]
        var trades: [MarketTrade] = []
        var at: Int64 = 0
        var hasCrowd = venue != .kraken || count < 5_000
        while trades.count < count {
            at += Int64.random(in: 1_000_000...90_000_000, using: &chance) * slowness
            let symbol = Int.random(in: 0..<symbols.count, using: &chance)
            // Some trades of a burst have the same time, price and size.
            var burst = Int.random(in: 0..<8, using: &chance) == 0 ? Int.random(in: 2...40, using: &chance) : 1
            if !hasCrowd, trades.count > count / 3 {
                hasCrowd = true
                burst = VenueTradesRequest.maximumCount + 300
            }
            let isWhole = venue == .binance
            let time = (start + at) / (isWhole ? 1_000_000 : 1_000) * (isWhole ? 1_000_000 : 1_000)
            for _ in 0..<burst {
                if Int.random(in: 0..<3, using: &chance) > 0 {
                    last[symbol].price += Int.random(in: -50...50, using: &chance)
                    last[symbol].size = Int.random(in: 1...900_000, using: &chance)
                }
                at += Int64.random(in: 0...40_000, using: &chance)
                let (price, size) = last[symbol]
                trades.append(
                    MarketTrade(
                        at: at,
                        symbol: symbol,
                        id: next[symbol],
                        time: time,
                        price: "\(price / 100).\(price % 100 / 10)\(price % 10)\(isWhole ? "000000" : "")",
                        size: Self.decimal(size)
                    )
                )
                next[symbol] += 1
            }
        }
        return try VenueMarket(venue, symbols: symbols, start: start, trades: trades + Self.tail(after: trades))
    }

    /// Returns a number of hundred-thousandths with eight digits after the point.
    private static func decimal(_ hundredThousandths: Int) -> String {
        let rest = String(hundredThousandths % 100_000)
        return "\(hundredThousandths / 100_000)." + String(repeating: "0", count: 5 - rest.count) + rest + "000"
    }

    /// Returns made-up trades that continue some others, one a second for each symbol.
    private static func tail(after trades: [MarketTrade]) -> [MarketTrade] {
        var last: [Int: MarketTrade] = [:]
        for trade in trades { last[trade.symbol] = trade }
        var more: [MarketTrade] = []
        var at = (trades.last?.at ?? 0) + 1_000_000_000
        let end = at + Self.tail
        while at < end {
            for symbol in last.keys.sorted() {
                guard var trade = last[symbol] else { continue }
                trade.id += 1
                trade.time += at - trade.at > 1_000_000_000 ? 1_000_000_000 : 0
                trade.at = at
                last[symbol] = trade
                more.append(trade)
            }
            at += 1_000_000_000
        }
        return more
    }

    /// Reads a recording of Binance's combined streams in the plain form, `{"at", "frame"}` a line.
    package static func recorded(_ path: String) throws(MarketFailure) -> VenueMarket {
        guard let file = fopen(path, "r") else { throw MarketFailure("\(path) cannot be read") }
        defer { fclose(file) }
        var symbols: [String] = []
        var trades: [MarketTrade] = []
        var texts: [String] = []
        var start: Int64?
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0, let line {
            let text = String(cString: line).replacing("\\\"", with: "\"")
            guard let at = Self.number(after: #"{"at":"#, in: text), let id = Self.number(after: #""t":"#, in: text),
                let time = Self.number(after: #""T":"#, in: text), let name = Self.text(after: #""s":""#, in: text),
                let price = Self.text(after: #""p":""#, in: text), let size = Self.text(after: #""q":""#, in: text),
                let frame = text.firstRange(of: #""frame":""#), let end = text.lastIndex(of: "\"")
            else { throw MarketFailure("\(path) has a line without a trade: \(text.prefix(80))") }
            let symbol = "BINANCE:\(name)"
            if !symbols.contains(symbol) { symbols.append(symbol) }
            start = start ?? (time + 1) * 1_000_000
            trades.append(
                MarketTrade(
                    at: at,
                    symbol: symbols.firstIndex(of: symbol) ?? 0,
                    id: UInt64(id),
                    time: time * 1_000_000,
                    price: price,
                    size: size
                )
            )
            texts.append(String(text[frame.upperBound..<end]))
        }
        let tail = Self.tail(after: trades)
        texts += tail.map { VenueText.frame($0, of: .binance, symbol: symbols[$0.symbol]) }
        return try VenueMarket(.binance, symbols: symbols, start: start ?? 0, trades: trades + tail, texts: texts)
    }

    private static func number(after key: String, in text: String) -> Int64? {
        text.firstRange(of: key).flatMap { Int64(text[$0.upperBound...].prefix { $0.isNumber }) }
    }

    private static func text(after key: String, in text: String) -> String? {
        text.firstRange(of: key).map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}

extension VenueMarket {
    /// Makes the market of a venue up that is named as in a command.
    package static func made(
        named name: String,
        seed: UInt64,
        count: Int,
        slowness: Int64 = 1
    ) throws(MarketFailure) -> VenueMarket {
        guard let venue = Venue(rawValue: name) else { throw MarketFailure("no venue is called \(name)") }
        return try Self.made(venue, seed: seed, count: count, slowness: slowness)
    }
}

import Market

extension VenueTradesRequest {
    /// The most trades that are asked for at a time.
    private static func limit(_ count: Int) -> Int { min(max(count, 1), Self.maximumCount) }

    /// The path and query of the request.
    ///
    /// | | Binance | Coinbase | Kraken |
    /// |---|---|---|---|
    /// | ``Trades/ids(first:count:)`` | `/api/v3/historicalTrades` | `/products/X/trades`, those below an id | – |
    /// | ``Trades/newest(count:)`` | `/api/v3/trades` | `/products/X/trades` | `/0/public/Trades` |
    /// | ``Trades/since(_:)`` | – | – | `/0/public/Trades` |
    ///
    /// - Precondition: the venue has the kind of request.
    package var target: String {
        let name = PercentText.encoded(self.name)
        switch (self.venue, self.trades) {
        case (.binance, .ids(let first, let count)):
            return "/api/v3/historicalTrades?symbol=\(name)&fromId=\(first)&limit=\(Self.limit(count))"
        case (.binance, .newest(let count)):
            return "/api/v3/trades?symbol=\(name)&limit=\(Self.limit(count))"
        case (.coinbase, .ids(let first, let count)):
            let limit = Self.limit(count)
            let (end, isOut) = first.addingReportingOverflow(UInt64(limit))
            return "/products/\(name)/trades?after=\(isOut ? .max : end)&limit=\(limit)"
        case (.coinbase, .newest(let count)):
            return "/products/\(name)/trades?limit=\(Self.limit(count))"
        case (.kraken, .since(let time)):
            return "/0/public/Trades?pair=\(name)&since=\(max(time, 0))&count=\(Self.maximumCount)"
        case (.kraken, .newest(let count)):
            return "/0/public/Trades?pair=\(name)&count=\(Self.limit(count))"
        case (.binance, .since), (.coinbase, .since), (.kraken, .ids):
            preconditionFailure("\(self.venue.name) cannot be asked for \(self.trades)")
        }
    }

    /// The weight that Binance allows an address in a minute (rest-api.md).
    package static let allowedWeight = 6_000

    /// A request's share of the venue's limit: Binance's weight; the others count requests.
    package static func weight(of venue: Venue) -> Int {
        switch venue {
        case .binance: 25
        case .coinbase, .kraken: 1
        }
    }

    /// The symbol's name in a target. Kraken's REST service knows the pairs by the names that the tape has.
    private var name: String {
        let prefix = "\(self.venue.prefix)"
        return self.symbol.hasPrefix(prefix) ? String(self.symbol.dropFirst(prefix.count)) : self.symbol
    }
}

/// The reading of targets, for recorded exchanges and for the mock servers.
extension VenueTradesRequest {
    /// What is wrong with a target.
    package enum TargetFault: Error, Sendable, Equatable {
        /// It is not a request for trades.
        case other
        /// A parameter is missing.
        case missing(String)
        /// A parameter has a value that the venue refuses.
        case illegal(String)
    }

    /// Reads the target of a request for trades.
    ///
    /// Without an id or a time it asks for the newest trades. Binance and Coinbase take a limit above their largest one
    /// for that; Kraken refuses it. Kraken's times may be in whole seconds, too.
    package init(target text: String, of venue: Venue) throws(TargetFault) {
        let target = VenueTarget(text)
        let symbol = try Self.symbol(in: target, of: venue)
        guard let target else { throw .other }
        switch venue {
        case .binance:
            let count = try Self.count(target, "limit", initial: 500)
            guard target.path.last == "historicalTrades", let first = try Self.number(target, "fromId") else {
                self.init(venue, symbol: symbol, .newest(count: Self.limit(count)))
                return
            }
            self.init(venue, symbol: symbol, .ids(first: first, count: Self.limit(count)))
        case .coinbase:
            let count = Self.limit(try Self.count(target, "limit", initial: Self.maximumCount))
            guard let end = try Self.number(target, "after") else {
                self.init(venue, symbol: symbol, .newest(count: count))
                return
            }
            let present = min(end, UInt64(count))
            self.init(venue, symbol: symbol, .ids(first: end - present, count: Int(present)))
        case .kraken:
            let count = try Self.count(target, "count", initial: Self.maximumCount)
            guard count <= Self.maximumCount else { throw .illegal("count") }
            guard let since = try Self.number(target, "since") else {
                self.init(venue, symbol: symbol, .newest(count: count))
                return
            }
            // A time below this is in seconds: in nanoseconds it would be in the first quarter of an hour of 1970.
            let isSeconds = since < 1_000_000_000_000
            let (nanoseconds, isOut) = since.multipliedReportingOverflow(by: isSeconds ? 1_000_000_000 : 1)
            guard !isOut, let time = Int64(exactly: nanoseconds) else { throw .illegal("since") }
            self.init(venue, symbol: symbol, .since(time))
        }
    }

    /// Returns the symbol, as the tape names it, that the target of a request for trades names.
    static func symbol(in target: VenueTarget?, of venue: Venue) throws(TargetFault) -> String {
        guard let target else { throw .other }
        let name: String?
        switch venue {
        case .binance:
            guard target.path == ["api", "v3", "historicalTrades"] || target.path == ["api", "v3", "trades"] else {
                throw .other
            }
            name = target["symbol"]
            guard name != nil else { throw .missing("symbol") }
        case .coinbase:
            guard target.path.count == 3, target.path[0] == "products", target.path[2] == "trades" else { throw .other }
            name = target.path[1]
        case .kraken:
            guard target.path == ["0", "public", "Trades"] else { throw .other }
            name = target["pair"]
            guard name != nil else { throw .missing("pair") }
        }
        guard let name, !name.isEmpty else { throw .illegal(venue == .kraken ? "pair" : "symbol") }
        return venue.symbol(of: name)
    }

    private static func count(_ target: VenueTarget, _ name: String, initial: Int) throws(TargetFault) -> Int {
        guard let number = try Self.number(target, name) else { return initial }
        guard number > 0 else { throw .illegal(name) }
        return Int(clamping: number)
    }

    /// Returns a parameter of digits only; `nil` without it.
    private static func number(_ target: VenueTarget, _ name: String) throws(TargetFault) -> UInt64? {
        guard let text = target[name] else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = UInt64(text)
        else { throw .illegal(name) }
        return number
    }
}

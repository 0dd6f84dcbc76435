package import Market
package import NIOCore

/// A request for the last 24 hours of some symbols to a venue's REST service.
package struct VenueDayRequest: Sendable, Equatable {
    package let venue: Venue
    /// The tape's names, at most ``maximumSymbols(of:)``.
    package let symbols: [String]

    package init(_ venue: Venue, _ symbols: [String]) {
        self.venue = venue
        self.symbols = symbols
    }

    /// The most symbols of one request. 20 of Binance's weigh as little as one (rest-api.md); Coinbase answers for
    /// one product only.
    package static func maximumSymbols(of venue: Venue) -> Int {
        switch venue {
        case .binance: 20
        case .kraken: 50
        case .coinbase: 1
        }
    }

    package var path: String {
        switch self.venue {
        case .binance: "/api/v3/ticker/24hr"
        case .coinbase: "/products/\(self.names.first ?? "")/stats"
        case .kraken: "/0/public/Ticker"
        }
    }

    /// Names and values, not yet escaped.
    package var query: [(String, String)] {
        switch self.venue {
        case .binance:
            // Names of Binance may have any letters, but no quotation mark.
            [("type", "MINI"), ("symbols", "[\(self.names.map { "\"\($0)\"" }.joined(separator: ","))]")]
        case .coinbase: []
        case .kraken: [("pair", self.names.joined(separator: ","))]
        }
    }

    /// The names in the venue's REST service. Those of Kraken are the tape's without the prefix.
    private var names: [String] {
        self.symbols.map { String($0.dropFirst("\(self.venue.prefix)".count)) }
    }

    /// Reads the answer. Elements that cannot be read, and symbols that were not requested, are left out.
    ///
    /// - Parameter received: our wall clock, ns since 1970.
    package func days(in body: ByteBuffer, received: Int64) -> [VenueDay] {
        var days: [VenueDay] = []
        body.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            switch self.venue {
            case .binance:
                guard reader.take(UInt8(ascii: "[")) else { return }
                let keys: Keys = ("openPrice", "highPrice", "lowPrice", "lastPrice")
                repeat {
                    guard reader.kind() == .object else {
                        guard reader.skipValue() else { return }
                        continue
                    }
                    guard let fields = Fields(&reader, keys) else { return }
                    let symbol = fields.name.map { Venue.binance.symbol(of: $0.text) }
                    if let symbol, let day = fields.day(symbol, received) { days.append(day) }
                } while reader.take(UInt8(ascii: ",")) && days.count < self.symbols.count
            case .coinbase:
                guard let symbol = self.symbols.first, reader.kind() == .object,
                    let day = Fields(&reader, ("open", "high", "low", "last"))?.day(symbol, received)
                else { return }
                days.append(day)
            case .kraken: days = self.kraken(&reader, received)
            }
        }
        return days.filter { self.symbols.contains($0.symbol) }
    }

    // MARK: Venues

    /// The names of an element's prices.
    private typealias Keys = (open: StaticString, high: StaticString, low: StaticString, last: StaticString)

    /// The members of an element, in whatever order.
    private struct Fields {
        var name: JSONString?
        var open: ExactDecimal?
        var high: ExactDecimal?
        var low: ExactDecimal?
        var last: ExactDecimal?
        var volume: ExactDecimal?

        init() {}

        /// Reads an object; `nil` for broken JSON.
        init?(_ reader: inout JSONReader, _ keys: Keys) {
            let isWhole = reader.object { key, reader in
                if key.equals("symbol") { return reader.take(string: &self.name) }
                if key.equals(keys.open) { return reader.take(quoted: &self.open) }
                if key.equals(keys.high) { return reader.take(quoted: &self.high) }
                if key.equals(keys.low) { return reader.take(quoted: &self.low) }
                if key.equals(keys.last) { return reader.take(quoted: &self.last) }
                if key.equals("volume") { return reader.take(quoted: &self.volume) }
                return reader.skipValue()
            }
            guard isWhole else { return nil }
        }

        func day(_ symbol: String, _ received: Int64) -> VenueDay? {
            // A symbol without a trade in 24 hours has zeros, which are no prices.
            guard let high, let low, let last, let volume, !high.isZero else { return nil }
            return VenueDay(
                symbol: symbol,
                open: self.open,
                high: high,
                low: low,
                last: last,
                volume: volume,
                received: received
            )
        }
    }

    /// Reads `{"error":[],"result":{"XXBTZUSD":{"c":["price","size"],"v":["today","24 h"],…}}}`.
    private func kraken(_ reader: inout JSONReader, _ received: Int64) -> [VenueDay] {
        var days: [VenueDay] = []
        guard reader.kind() == .object else { return [] }
        _ = reader.object { key, reader in
            guard key.equals("result"), reader.kind() == .object else { return reader.skipValue() }
            var count = 0
            return reader.object { name, reader in
                count += 1
                guard count <= self.symbols.count, reader.kind() == .object else { return false }
                let symbol = "\(Venue.kraken.prefix)\(name.text)"
                var fields = Fields()
                let isWhole = reader.object { key, reader in
                    if key.equals("c") { return Self.take(0, of: &reader, into: &fields.last) }
                    if key.equals("v") { return Self.take(1, of: &reader, into: &fields.volume) }
                    if key.equals("h") { return Self.take(1, of: &reader, into: &fields.high) }
                    if key.equals("l") { return Self.take(1, of: &reader, into: &fields.low) }
                    return reader.skipValue()
                }
                if let day = fields.day(symbol, received) { days.append(day) }
                return isWhole
            }
        }
        return days
    }

    /// Reads one of a list of numbers in strings.
    private static func take(_ place: Int, of reader: inout JSONReader, into number: inout ExactDecimal?) -> Bool {
        guard reader.kind() == .array, let texts = reader.strings(atMost: 8) else { return false }
        number = place < texts.count ? ExactDecimal(texts[place]) : nil
        return true
    }
}

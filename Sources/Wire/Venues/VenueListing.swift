import Market
package import NIOCore

/// A symbol in a venue's own list of what it trades.
package struct VenueListing: Sendable, Equatable {
    /// The tape's name: `KRAKEN:XXBTZUSD`.
    package var symbol: String
    /// The name on the venue's WebSocket: `BTC/USD`.
    package var name: String
    /// Whether it is traded now. A venue under repair says of all its symbols that they are not.
    package var isTrading: Bool

    package init(symbol: String, name: String, isTrading: Bool) {
        self.symbol = symbol
        self.name = name
        self.isTrading = isTrading
    }

    init?(_ venue: Venue, name: String, isTrading: Bool) {
        let symbol = venue.symbol(of: name)
        guard !name.isEmpty, SymbolName.isValid(symbol) else { return nil }
        self.init(symbol: symbol, name: name, isTrading: isTrading)
    }

    /// The largest number of elements of a list. Binance has some thousands.
    package static let maximumListed = 50_000

    /// Reads a venue's list: the answer of Binance's `/api/v3/exchangeInfo`, Coinbase's `/products` or Kraken's
    /// `/0/public/AssetPairs`.
    ///
    /// Elements without a usable name are skipped.
    ///
    /// - Returns: `nil` if the text is not such an answer, is cut, has more than ``maximumListed`` elements, or contains
    ///   nothing usable.
    package static func list(_ body: ByteBuffer, of venue: Venue) -> [VenueListing]? {
        let list = body.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            let list: [VenueListing]? =
                switch venue {
                case .binance: Self.binance(&reader)
                case .coinbase: Self.elements(&reader, Self.product)
                case .kraken: Self.kraken(&reader)
                }
            return reader.isAtEnd() ? list : nil
        }
        return list?.isEmpty == false ? list : nil
    }

    // MARK: Binance

    private static func binance(_ reader: inout JSONReader) -> [VenueListing]? {
        var list: [VenueListing]?
        let isWhole = reader.object { key, reader in
            guard key.equals("symbols") else { return reader.skipValue() }
            list = Self.elements(&reader) { reader in
                Self.texts(&reader, "symbol", "status").map { name, status, _ in
                    name.flatMap { VenueListing(.binance, name: $0, isTrading: status == "TRADING") }
                }
            }
            return list != nil
        }
        return isWhole ? list : nil
    }

    // MARK: Coinbase

    private static func product(_ reader: inout JSONReader) -> VenueListing?? {
        Self.texts(&reader, "id", "status", flag: "trading_disabled").map { name, status, isDisabled in
            name.flatMap { VenueListing(.coinbase, name: $0, isTrading: status == "online" && !isDisabled) }
        }
    }

    // MARK: Kraken

    private static func kraken(_ reader: inout JSONReader) -> [VenueListing]? {
        var list: [VenueListing]?
        let isWhole = reader.object { key, reader in
            guard key.equals("result"), reader.kind() == .object else { return reader.skipValue() }
            var found: [VenueListing] = []
            var count = 0
            let isWhole = reader.object { _, reader in
                count += 1
                guard count <= Self.maximumListed, reader.kind() == .object,
                    let (pair, status, _) = Self.texts(&reader, "wsname", "status")
                else { return false }
                let name = pair.map { KrakenNames.pair(ofVersion1: $0) }
                if let name, let listing = VenueListing(.kraken, name: name, isTrading: status != "cancel_only") {
                    found.append(listing)
                }
                return true
            }
            list = isWhole ? found : nil
            return isWhole
        }
        return isWhole ? list : nil
    }

    // MARK: Elements

    /// Reads a list of objects.
    ///
    /// - Parameter read: reads one object; `nil` for a malformed one, an inner `nil` for one to skip.
    private static func elements(
        _ reader: inout JSONReader,
        _ read: (inout JSONReader) -> VenueListing??
    ) -> [VenueListing]? {
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        var list: [VenueListing] = []
        if reader.take(UInt8(ascii: "]")) { return list }
        var count = 0
        repeat {
            count += 1
            guard count <= Self.maximumListed else { return nil }
            if reader.kind() == .object {
                guard let element = read(&reader) else { return nil }
                if let element { list.append(element) }
            } else {
                guard reader.skipValue() else { return nil }
            }
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? list : nil
    }

    /// Reads an object's text of two keys, and whether a third one is `true`; `nil` if the object is malformed.
    private static func texts(
        _ reader: inout JSONReader,
        _ first: StaticString,
        _ second: StaticString,
        flag: StaticString? = nil
    ) -> (first: String?, second: String?, isSet: Bool)? {
        var found: (first: String?, second: String?, isSet: Bool) = (nil, nil, false)
        let isWhole = reader.object { key, reader in
            let isFirst = key.equals(first)
            if isFirst || key.equals(second), reader.kind() == .string {
                guard let text = reader.string() else { return false }
                if isFirst { found.first = text.text } else { found.second = text.text }
                return true
            }
            if let flag, key.equals(flag), reader.kind() == .literal {
                guard let letter = reader.literal() else { return false }
                found.isSet = letter == UInt8(ascii: "t")
                return true
            }
            return reader.skipValue()
        }
        return isWhole ? found : nil
    }
}

package import Market
package import NIOCore

/// The encoder of a server's frames in the form of Kraken's WebSocket API, version 2
/// (docs.kraken.com, exchange/api-reference/spot-websocket-v2).
package enum KrakenEncoder {
    /// The kind of a frame with trades.
    package enum Kind: Sendable {
        /// Trades of now.
        case update
        /// The newest trades before a subscription.
        case snapshot

        fileprivate var type: StaticString {
            switch self {
            case .update: "update"
            case .snapshot: "snapshot"
            }
        }
    }

    /// The decimals of quantities; a number with more keeps all of them.
    static let decimals = 8

    /// Creates a frame of trades, possibly none.
    ///
    /// Prices and quantities are JSON numbers. A tape does not keep the side and the kind of the order, so these are always
    /// `buy` and `limit`. A trade without an id gets 0.
    ///
    /// - Parameter pair: returns the pair of a symbol's name on the tape: `BTC/USD` for `KRAKEN:XXBTZUSD`.
    package static func trades(
        _ trades: some Sequence<Trade>,
        as kind: Kind = .update,
        symbols: SymbolTable,
        pair: (String) -> String
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        Self.begin(kind, into: &buffer)
        var isFirst = true
        for trade in trades {
            buffer.writeStaticString(isFirst ? "{\"symbol\":" : ",{\"symbol\":")
            isFirst = false
            JSONText.escape(pair(symbols.name(of: trade.symbol)), into: &buffer)
            buffer.writeStaticString(",\"side\":\"buy\",\"price\":")
            JSONText.write(trade.price, into: &buffer)
            buffer.writeStaticString(",\"qty\":")
            VenueDigits.write(trade.size, decimals: Self.decimals, into: &buffer)
            buffer.writeStaticString(",\"ord_type\":\"limit\",\"trade_id\":")
            JSONText.write(trade.id ?? 0, into: &buffer)
            buffer.writeStaticString(",\"timestamp\":\"")
            buffer.writeString(VenueDigits.timestamp(trade.exchangeTime))
            buffer.writeStaticString("\"}")
        }
        buffer.writeStaticString("]}")
        return buffer
    }

    /// Returns a frame of trades with only the elements of the wanted pairs, each as it was; `nil` without one, and for a
    /// frame of another form.
    package static func cut(_ frame: ByteBuffer, keeping isWanted: (String) -> Bool) -> ByteBuffer? {
        var kept: [ByteBuffer] = []
        var kind = Kind.update
        let isWhole = frame.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                if key.equals("type") {
                    guard let type = reader.string() else { return false }
                    if type.equals("snapshot") { kind = .snapshot }
                    return true
                }
                guard key.equals("data") else { return reader.skipValue() }
                guard let elements = Self.elements(&reader) else { return false }
                kept = elements.filter { $0.pair.map(isWanted) ?? false }.map(\.json)
                return true
            }
        }
        guard isWhole, !kept.isEmpty else { return nil }
        var buffer = ByteBuffer()
        Self.begin(kind, into: &buffer)
        for (index, element) in kept.enumerated() {
            if index > 0 { buffer.writeStaticString(",") }
            buffer.writeImmutableBuffer(element)
        }
        buffer.writeStaticString("]}")
        return buffer
    }

    private static func begin(_ kind: Kind, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"channel\":\"trade\",\"type\":\"")
        buffer.writeStaticString(kind.type)
        buffer.writeStaticString("\",\"data\":[")
    }

    private static func elements(_ reader: inout JSONReader) -> [(pair: String?, json: ByteBuffer)]? {
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        if reader.take(UInt8(ascii: "]")) { return [] }
        var elements: [(pair: String?, json: ByteBuffer)] = []
        repeat {
            guard let bytes = reader.rawValue() else { return nil }
            var pair: String?
            _ = JSONReader.wholeObject(bytes) { key, reader in
                guard key.equals("symbol"), reader.kind() == .string else { return reader.skipValue() }
                pair = reader.string()?.text
                return true
            }
            elements.append((pair, ByteBuffer(bytes: bytes)))
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? elements : nil
    }
}

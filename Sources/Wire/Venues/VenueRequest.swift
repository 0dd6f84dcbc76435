package import NIOCore

/// A request to a venue's WebSocket. Symbols have the tape's names.
package enum VenueRequest: Sendable, Equatable {
    case subscribe([String])
    case unsubscribe([String])
    /// A ping of the venue's own protocol, for a venue that has one (Kraken).
    case ping

    /// The request in the form of the venue's documentation.
    ///
    /// - Parameters:
    ///   - venue: the venue of all symbols. Kraken's pairs have the WebSocket's name (`KRAKEN:BTC/USD`) or a key of the
    ///     first years (`KRAKEN:XXBTZUSD`).
    ///   - id: the number with which the venue answers. Coinbase has none.
    /// - Precondition: a ping is for Kraken.
    package func encoded(for venue: Venue, id: Int64) -> ByteBuffer {
        switch (self, venue) {
        case (.subscribe(let symbols), .binance): Self.binance("SUBSCRIBE", symbols, id)
        case (.unsubscribe(let symbols), .binance): Self.binance("UNSUBSCRIBE", symbols, id)
        case (.subscribe(let symbols), .coinbase): Self.coinbase("subscribe", symbols)
        case (.unsubscribe(let symbols), .coinbase): Self.coinbase("unsubscribe", symbols)
        case (.subscribe(let symbols), .kraken): Self.kraken("subscribe", symbols, id)
        case (.unsubscribe(let symbols), .kraken): Self.kraken("unsubscribe", symbols, id)
        case (.ping, .kraken):
            JSONWriter.object { line in
                line.field("method", "ping")
                line.field("req_id", id)
            }
        case (.ping, .binance), (.ping, .coinbase):
            preconditionFailure("\(venue.name) has no ping of its own")
        }
    }

    private static func binance(_ method: String, _ symbols: [String], _ id: Int64) -> ByteBuffer {
        JSONWriter.object { line in
            line.field("method", method)
            line.field("params", symbols.map { "\(Self.lowercased(Venue.binance.native(of: $0)))@trade" })
            line.field("id", id)
        }
    }

    private static func coinbase(_ type: String, _ symbols: [String]) -> ByteBuffer {
        JSONWriter.object { line in
            line.field("type", type)
            line.field("product_ids", symbols.map(Venue.coinbase.native))
            line.field("channels", ["matches", "heartbeat"])
        }
    }

    private static func kraken(_ method: String, _ symbols: [String], _ id: Int64) -> ByteBuffer {
        JSONWriter.object { line in
            line.field("method", method)
            line.object("params") { line in
                line.field("channel", "trade")
                line.field("symbol", symbols.map(Venue.kraken.native))
                if method == "subscribe" { line.field("snapshot", true) }
            }
            line.field("req_id", id)
        }
    }

    /// Makes the letters of ASCII lower-case and leaves all others: Binance's names may contain any letters, whose case
    /// Unicode's rules would change otherwise than Binance does.
    private static func lowercased(_ name: String) -> String {
        String(
            decoding: name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self
        )
    }
}

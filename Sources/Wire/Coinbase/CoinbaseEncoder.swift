package import Market
package import NIOCore

/// The encoder of a server's frames in the form of Coinbase Exchange's feed
/// (docs.cdp.coinbase.com, exchange/websocket-feed/channels).
package enum CoinbaseEncoder {
    /// The kind of a frame with a trade.
    package enum Match: Sendable {
        /// A trade of now.
        case match
        /// The newest trade before a subscription.
        case last

        fileprivate var type: StaticString {
            switch self {
            case .match: "match"
            case .last: "last_match"
            }
        }
    }

    /// One channel with the products that a connection has subscribed to.
    package struct Channel: Sendable, Equatable {
        package var name: String
        package var products: [String]

        package init(name: String, products: [String]) {
            self.name = name
            self.products = products
        }
    }

    /// Creates the frame of one trade.
    ///
    /// A tape keeps neither the orders nor the side: the orders' numbers and `sequence` are made from the trade's id, and
    /// the side is always `sell`. A trade without an id gets 0.
    package static func match(_ trade: Trade, as match: Match = .match, symbols: SymbolTable) -> ByteBuffer {
        let id = trade.id ?? 0
        var buffer = ByteBuffer()
        buffer.reserveCapacity(416)
        buffer.writeStaticString("{\"type\":\"")
        buffer.writeStaticString(match.type)
        buffer.writeStaticString("\",\"trade_id\":")
        JSONText.write(id, into: &buffer)
        buffer.writeStaticString(",\"maker_order_id\":\"")
        Self.order(2 &* id, into: &buffer)
        buffer.writeStaticString("\",\"taker_order_id\":\"")
        Self.order(2 &* id &+ 1, into: &buffer)
        buffer.writeStaticString("\",\"side\":\"sell\",\"size\":\"")
        VenueDigits.write(trade.size, decimals: 0, into: &buffer)
        buffer.writeStaticString("\",\"price\":\"")
        VenueDigits.write(trade.price, decimals: 0, into: &buffer)
        buffer.writeStaticString("\",\"product_id\":")
        JSONText.escape(Venue.coinbase.native(of: symbols.name(of: trade.symbol)), into: &buffer)
        buffer.writeStaticString(",\"sequence\":")
        JSONText.write(Self.sequence(of: id), into: &buffer)
        buffer.writeStaticString(",\"time\":\"")
        buffer.writeString(VenueDigits.timestamp(trade.exchangeTime))
        buffer.writeStaticString("\"}")
        return buffer
    }

    /// Creates the heartbeat of a product.
    ///
    /// - Parameters:
    ///   - newest: the id of its newest trade; `nil`, if none is known, is sent as 0.
    ///   - at: ns since 1970.
    package static func heartbeat(product: String, newest: UInt64?, at: Int64) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("type", "heartbeat")
            out.field("sequence", Self.sequence(of: newest ?? 0) &+ 1)
            out.field("last_trade_id", newest ?? 0)
            out.field("product_id", product)
            out.field("time", VenueDigits.timestamp(at))
        }
    }

    /// Creates the list of all channels of a connection.
    package static func subscriptions(_ channels: [Channel]) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("type", "subscriptions")
            out.array("channels") { out in
                for channel in channels {
                    out.element { out in
                        out.field("name", channel.name)
                        out.field("product_ids", channel.products)
                    }
                }
            }
        }
    }

    /// Creates an error.
    package static func error(_ message: String, reason: String? = nil) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("type", "error")
            out.field("message", message)
            if let reason { out.field("reason", reason) }
        }
    }

    /// Returns a number of order events that grows with the trades and jumps between them.
    private static func sequence(of id: UInt64) -> UInt64 { id &* 7 }

    /// Writes a number in the form of an order's UUID.
    private static func order(_ number: UInt64, into buffer: inout ByteBuffer) {
        let digits = String(number & 0xFFFF_FFFF_FFFF, radix: 16)
        buffer.writeStaticString("00000000-0000-4000-8000-")
        buffer.writeRepeatingByte(UInt8(ascii: "0"), count: 12 - digits.utf8.count)
        buffer.writeString(digits)
    }
}

import Market
import Wire

/// A venue's own texts: written here from its documentation, not with the program's encoders.
enum VenueText {
    /// Returns a trade's line for the hash: `id,time,price,size\n`, the time in microseconds.
    static func line(_ trade: MarketTrade) -> String {
        "\(trade.id),\(trade.time / 1_000),\(Self.plain(trade.price)),\(Self.plain(trade.size))\n"
    }

    /// Returns a decimal without trailing zeros.
    static func plain(_ number: String) -> String {
        guard number.contains(".") else { return number }
        var rest = Substring(number)
        while rest.hasSuffix("0") { rest = rest.dropLast() }
        if rest.hasSuffix(".") { rest = rest.dropLast() }
        return String(rest)
    }

    /// Returns the text frame of a trade.
    static func frame(_ trade: MarketTrade, of venue: Venue, symbol: String) -> String {
        let name = venue.native(of: symbol)
        switch venue {
        case .binance:
            let time = trade.time / 1_000_000
            return #"{"stream":"\#(name.lowercased())@trade","data":{"e":"trade","E":\#(time + 1),"s":"\#(name)","#
                + #""t":\#(trade.id),"p":"\#(trade.price)","q":"\#(trade.size)","T":\#(time),"m":true,"M":true}}"#
        case .coinbase:
            return #"{"type":"match","trade_id":\#(trade.id),"maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","#
                + #""taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":"\#(trade.size)","#
                + #""price":"\#(trade.price)","product_id":"\#(name)","sequence":\#(trade.id * 7),"#
                + #""time":"\#(Self.stamp(trade.time))"}"#
        case .kraken:
            return #"{"channel":"trade","type":"update","data":[{"symbol":"\#(name)","side":"buy","#
                + #""price":\#(trade.price),"qty":\#(trade.size),"ord_type":"limit","trade_id":\#(trade.id),"#
                + #""timestamp":"\#(Self.stamp(trade.time))"}]}"#
        }
    }

    /// Returns the body of a REST answer with these trades, in ascending order of their ids.
    static func answer(_ trades: [MarketTrade], of venue: Venue, symbol: String, since: Int64) -> String {
        switch venue {
        case .binance:
            let rows = trades.map { trade in
                #"{"id":\#(trade.id),"price":"\#(trade.price)","qty":"\#(trade.size)","quoteQty":"48.000012","#
                    + #""time":\#(trade.time / 1_000_000),"isBuyerMaker":true,"isBestMatch":true}"#
            }
            return "[" + rows.joined(separator: ",") + "]"
        case .coinbase:
            // Newest first.
            let rows = trades.reversed().map { trade in
                #"{"trade_id":\#(trade.id),"side":"sell","size":"\#(trade.size)","price":"\#(trade.price)","#
                    + #""time":"\#(Self.stamp(trade.time))"}"#
            }
            return "[" + rows.joined(separator: ",") + "]"
        case .kraken:
            let rows = trades.map { trade in
                let second = trade.time / 1_000_000_000
                let rest = Self.padded(trade.time % 1_000_000_000 / 1_000, 6)
                return #"["\#(trade.price)0000","\#(trade.size)",\#(second).\#(rest),"b","l","",\#(trade.id)]"#
            }
            let last = trades.last?.time ?? since
            let key = symbol.drop { $0 != ":" }.dropFirst()
            return #"{"error":[],"result":{"\#(key)":[\#(rows.joined(separator: ","))],"last":"\#(last)"}}"#
        }
    }

    /// Returns the ids of the trades in the body of a REST answer; none in another text.
    static func ids(in body: String, of venue: Venue) -> [UInt64] {
        switch venue {
        case .binance: body.split(separator: #"{"id":"#).compactMap { UInt64($0.prefix { $0.isNumber }) }
        case .coinbase: body.split(separator: #"{"trade_id":"#).compactMap { UInt64($0.prefix { $0.isNumber }) }
        case .kraken:
            // Each row ends with the id.
            body.split(separator: "]").compactMap { row in
                row.last?.isNumber == true ? row.split(separator: ",").last.flatMap { UInt64($0) } : nil
            }
        }
    }

    /// Returns a time in RFC 3339 with microseconds.
    private static func stamp(_ time: Int64) -> String {
        let second = String(UTCText.secondStamp(time).prefix(19))
        return "\(second).\(Self.padded(time % 1_000_000_000 / 1_000, 6))Z"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }
}

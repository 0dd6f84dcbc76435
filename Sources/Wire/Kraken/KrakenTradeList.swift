package import Market
package import NIOCore

/// Lists of trades in the form of Kraken's REST service (docs.kraken.com, api-reference/market-data/get-recent-trades):
/// the oldest first, each as `[price, volume, time, side, order's type, miscellaneous, id]`.
package enum KrakenTradeList {
    /// The decimals of prices; a number with more keeps all of them.
    private static let priceDecimals = 5

    /// Reads an answer; `false` if it reports an error, does not contain the list of exactly one pair, or is broken.
    static func read(_ reader: inout JSONReader, into list: inout TradeList, symbols: inout SymbolTable) -> Bool {
        var lists = 0
        var hasFailed = false
        let isWhole = reader.object { key, reader in
            if key.equals("error") {
                guard let errors = Self.errors(&reader) else { return false }
                if !errors.isEmpty { hasFailed = true }
                return true
            }
            guard key.equals("result"), reader.kind() == .object else { return reader.skipValue() }
            return reader.object { key, reader in
                guard !key.equals("last"), reader.kind() == .array else { return reader.skipValue() }
                lists += 1
                guard lists == 1 else { return reader.skipValue() }
                return list.read(&reader, of: .array, symbols: &symbols, element: Self.element)
            }
        }
        return isWhole && !hasFailed && lists == 1
    }

    /// Reads the list of errors and returns them without the warnings, which begin with `W`; `nil` for broken JSON.
    static func errors(_ reader: inout JSONReader) -> [String]? {
        guard reader.kind() == .array, reader.take(UInt8(ascii: "[")) else { return reader.skipValue() ? [] : nil }
        var errors: [String] = []
        if reader.take(UInt8(ascii: "]")) { return errors }
        repeat {
            var text: JSONString?
            guard reader.take(string: &text) else { return nil }
            let words = text?.text(atMost: VenueMessage.maximumTextLength) ?? ""
            if !words.hasPrefix("W"), errors.count < Self.maximumErrors { errors.append(words) }
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? errors : nil
    }

    private static let maximumErrors = 8

    /// Reads one trade.
    private static func element(_ reader: inout JSONReader, into fields: inout VenueTradeFields) -> Bool {
        guard reader.take(UInt8(ascii: "[")) else { return false }
        if reader.take(UInt8(ascii: "]")) { return true }
        var place = 0
        repeat {
            let isRead =
                switch place {
                case 0: reader.take(quoted: &fields.price)
                case 1: reader.take(quoted: &fields.size)
                case 2: Self.take(time: &fields.time, &reader)
                case 6: reader.take(unsigned: &fields.id)
                default: reader.skipValue()
                }
            guard isRead else { return false }
            place += 1
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]"))
    }

    private static func take(time: inout Int64?, _ reader: inout JSONReader) -> Bool {
        guard reader.kind() == .number else { return reader.skipValue() }
        guard let text = reader.rawValue() else { return false }
        time = VenueTime.nanoseconds(seconds: text)
        return true
    }

    /// Creates the answer with trades of one pair, which are in the order of their ids.
    ///
    /// A tape keeps neither the side nor the order's type, so these are always `b` and `l`.
    ///
    /// - Parameters:
    ///   - pair: the name that was asked for.
    ///   - last: the time after which the next answer begins, ns since 1970.
    package static func encode(_ trades: some Collection<Trade>, pair: String, last: Int64) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(96 + 80 * trades.count)
        buffer.writeStaticString("{\"error\":[],\"result\":{")
        JSONText.escape(pair, into: &buffer)
        buffer.writeStaticString(":[")
        var isFirst = true
        for trade in trades {
            buffer.writeStaticString(isFirst ? "[\"" : ",[\"")
            isFirst = false
            VenueDigits.write(trade.price, decimals: Self.priceDecimals, into: &buffer)
            buffer.writeStaticString("\",\"")
            VenueDigits.write(trade.size, decimals: KrakenEncoder.decimals, into: &buffer)
            buffer.writeStaticString("\",")
            buffer.writeString(VenueDigits.seconds(trade.exchangeTime))
            buffer.writeStaticString(",\"b\",\"l\",\"\",")
            JSONText.write(trade.id ?? 0, into: &buffer)
            buffer.writeStaticString("]")
        }
        buffer.writeStaticString("],\"last\":\"")
        JSONText.write(last, into: &buffer)
        buffer.writeStaticString("\"}}")
        return buffer
    }

    /// Creates the answer with an error, which has the status 200, too.
    package static func error(_ text: String) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("error", [text])
            out.field("result", json: ByteBuffer(staticString: "null"))
        }
    }
}

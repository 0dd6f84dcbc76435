package import Market
package import NIOCore

/// The answer to `/v1/bars/SYMBOL`, as a client of a relay reads it.
package enum BarList {
    /// Reads the bars of an answer. Unknown keys are ignored.
    ///
    /// The answer does not contain the times of a bar's first and last price, so the bar's bounds replace them. For an
    /// incomplete bar the end replaces both, because the tape may have begun within it. Volume and turnover stay empty.
    ///
    /// - Parameter limit: the largest number of bars; an answer with more is invalid.
    /// - Returns: `nil` for an invalid answer, for bars of another width, and for bars out of order.
    package static func read(_ body: ByteBuffer, width: BarWidth, limit: Int) -> [Bar]? {
        body.withUnsafeReadableBytes { bytes in
            var bars: [Bar]?
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                switch key.text {
                case "bars" where bars == nil:
                    bars = Self.list(&reader, width, limit: limit)
                    return bars != nil
                case "width": return reader.string()?.text == width.word
                case _: return reader.skipValue()
                }
            }
            return isWhole ? bars : nil
        }
    }

    private static func list(_ reader: inout JSONReader, _ width: BarWidth, limit: Int) -> [Bar]? {
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        var bars: [Bar] = []
        if reader.take(UInt8(ascii: "]")) { return bars }
        repeat {
            guard bars.count < limit, let bar = Self.bar(&reader, width), bar.start > bars.last?.start ?? .min else {
                return nil
            }
            bars.append(bar)
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? bars : nil
    }

    private static func bar(_ reader: inout JSONReader, _ width: BarWidth) -> Bar? {
        var start: Int64?
        var prices: [String: ExactDecimal] = [:]
        var count: Int64 = 0
        var possibleRepeats: Int64 = 0
        var isIncomplete = false
        let isWhole = reader.object { key, reader in
            switch key.text {
            case "start": start = reader.integer()
            case "open", "high", "low", "close":
                guard let price = reader.string().flatMap({ ExactDecimal($0.text) }), TradeBounds.canBePrice(price)
                else {
                    return false
                }
                prices[key.text] = price
            case "trades": count = reader.integer() ?? 0
            case "possibleRepeats": possibleRepeats = reader.integer() ?? 0
            case "incomplete":
                guard let word = reader.literal() else { return false }
                isIncomplete = word == UInt8(ascii: "t")
            case _: return reader.skipValue()
            }
            return true
        }
        guard isWhole, let start, (0...(1 << 43)).contains(start), let open = prices["open"],
            let high = prices["high"], let low = prices["low"], let close = prices["close"],
            low <= open, low <= close, open <= high, close <= high
        else { return nil }
        let from = start * 1_000_000
        guard width.start(of: from) == from else { return nil }
        let last = from + width.nanoseconds - 1
        return Bar(
            start: from,
            width: width,
            open: (open, isIncomplete ? last : from),
            high: high,
            low: low,
            close: (close, last),
            volume: ExactSum(),
            turnover: ExactSum(),
            count: UInt64(max(count, 0)),
            possibleRepeats: UInt64(max(possibleRepeats, 0)),
            isIncomplete: isIncomplete
        )
    }
}

package import Market
package import NIOCore

/// The text formats of exported trades and bars: CSV (RFC 4180) with a header line, or one JSON object a line.
///
/// Decimals are exact. `time` and `start` are the exchange's clock in ms since 1970, `received` is our clock in µs
/// since 1970.
package enum ExportFormat: Sendable, Equatable {
    case csv, jsonLines

    /// Further columns stand at the end, for readers that count columns.
    package static let tradeColumns = "symbol,price,size,time,received,epoch,seq,possibleRepeat,ahead,id,filled"
    package static let barColumns =
        "symbol,width,start,open,high,low,close,volume,vwap,trades,incomplete,possibleRepeats"

    /// Writes a trade; an unknown value is empty in CSV, and null in JSON.
    package func write(
        _ trade: Trade,
        symbol: String,
        received: Int64?,
        place: TapePosition?,
        into buffer: inout ByteBuffer
    ) {
        switch self {
        case .csv:
            Self.cell(PrintableText.line(symbol), into: &buffer)
            buffer.writeStaticString(",")
            JSONText.write(trade.price, into: &buffer)
            buffer.writeStaticString(",")
            JSONText.write(trade.size, into: &buffer)
            buffer.writeStaticString(",")
            JSONText.write(trade.exchangeTime / 1_000_000, into: &buffer)
            buffer.writeStaticString(",")
            if let received { JSONText.write(received / 1_000, into: &buffer) }
            buffer.writeStaticString(",")
            if let place { JSONText.write(place.epoch, into: &buffer) }
            buffer.writeStaticString(",")
            if let place { JSONText.write(place.sequence, into: &buffer) }
            buffer.writeStaticString(trade.marks.contains(.possibleRepeat) ? ",true" : ",false")
            buffer.writeStaticString(trade.marks.contains(.ahead) ? ",true," : ",false,")
            if let id = trade.id { JSONText.write(id, into: &buffer) }
            buffer.writeStaticString(trade.marks.contains(.filled) ? ",true" : ",false")
        case .jsonLines:
            var line = JSONWriter()
            line.field("symbol", symbol)
            line.field("price", trade.price)
            line.field("size", trade.size)
            line.field("time", trade.exchangeTime / 1_000_000)
            line.field("received", received.map { Int($0 / 1_000) })
            line.field("epoch", place?.epoch)
            line.field("seq", place?.sequence)
            line.details(of: trade)
            // Some exchanges' times are finer than `time`.
            let microseconds = trade.exchangeTime / 1_000
            if !microseconds.isMultiple(of: 1_000) { line.field("microseconds", microseconds) }
            Self.write(line.finish(), of: symbol, into: &buffer)
        }
        buffer.writeStaticString("\n")
    }

    /// Writes a bar.
    package func write(_ bar: Bar, symbol: String, width: BarWidth, into buffer: inout ByteBuffer) {
        switch self {
        case .csv:
            Self.cell(PrintableText.line(symbol), into: &buffer)
            buffer.writeString(",\(width.word),\(bar.start / 1_000_000)")
            for price in [bar.open, bar.high, bar.low, bar.close] {
                buffer.writeStaticString(",")
                JSONText.write(price, into: &buffer)
            }
            buffer.writeStaticString(",")
            if bar.volume.isWhole { JSONText.write(bar.volume, into: &buffer) }
            buffer.writeString(",\(bar.average?.description ?? ""),\(bar.count)")
            buffer.writeString(",\(bar.lacksSomething),\(bar.possibleRepeats)")
        case .jsonLines:
            var line = JSONWriter()
            line.field("symbol", symbol)
            line.field("width", width.word)
            line.fields(of: bar, isClosed: nil)
            Self.write(line.finish(), of: symbol, into: &buffer)
        }
        buffer.writeStaticString("\n")
    }

    /// Writes a JSON line about a symbol. The symbol's name may be untrusted, and people look at exports, too.
    private static func write(_ line: ByteBuffer, of symbol: String, into buffer: inout ByteBuffer) {
        if PrintableText.isPrintable(symbol) {
            buffer.writeImmutableBuffer(line)
        } else {
            buffer.writeBytes(JSONText.printable(line.readableBytesView))
        }
    }

    /// Writes a CSV cell, in quotation marks if necessary (RFC 4180, 2).
    private static func cell(_ text: String, into buffer: inout ByteBuffer) {
        guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
            buffer.writeString(text)
            return
        }
        buffer.writeStaticString("\"")
        for byte in text.utf8 {
            if byte == 0x22 { buffer.writeInteger(UInt8(0x22)) }
            buffer.writeInteger(byte)
        }
        buffer.writeStaticString("\"")
    }
}

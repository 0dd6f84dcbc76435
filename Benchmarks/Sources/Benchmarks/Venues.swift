import Market
import NIOCore
import Wire

/// Measures frames of the venues' shapes that are made here.
func measureVenues() {
    measureVenue("binance", VenueFrames.binance.map { ByteBuffer(string: $0) })
    measureVenue("coinbase", VenueFrames.coinbase.map { ByteBuffer(string: $0) })
    measureVenue("kraken", VenueFrames.kraken.map { ByteBuffer(string: $0) })
}

/// Measures "frame to tape" of one venue's own feed, by the template and by the general parser.
func measureVenue(_ venue: String, _ frames: [ByteBuffer]) {
    switch venue {
    case "binance":
        var parser = BinanceParser()
        measure(venue, frames) { parser.parse($0, symbols: &$1, into: &$2) }
        measure("\(venue), general JSON", frames) { BinanceParser.parseGenerally($0, symbols: &$1, into: &$2) }
    case "coinbase":
        var parser = CoinbaseParser()
        measure(venue, frames) { parser.parse($0, symbols: &$1, into: &$2) }
        measure("\(venue), general JSON", frames) { CoinbaseParser.parseGenerally($0, symbols: &$1, into: &$2) }
    case "kraken":
        var parser = KrakenParser()
        measure(venue, frames) { parser.parse($0, symbols: &$1, into: &$2) }
        measure("\(venue), general JSON", frames) { KrakenParser.parseGenerally($0, symbols: &$1, into: &$2) }
    default:
        print("no venue \(venue)")
    }
}

/// Measures frames of one venue, and prints two lines.
private func measure(
    _ venue: String,
    _ frames: [ByteBuffer],
    _ parse: (UnsafeRawBufferPointer, inout SymbolTable, inout [Trade]) -> VenueMessage
) {
    // The bytes themselves: with one trade a frame, counting the references to the buffers would be a large part.
    let texts = frames.map { frame in
        frame.withUnsafeReadableBytes { bytes in
            let text = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            text.copyBytes(from: bytes)
            return UnsafeRawBufferPointer(text)
        }
    }
    defer { for text in texts { text.deallocate() } }
    var symbols = SymbolTable()
    var trades: [Trade] = []
    trades.reserveCapacity(4_096)
    var units = 1
    let toTape = Measurement.take(passes: 51) {
        var tape = Tape(epoch: 1)
        for text in texts {
            let start = trades.count
            _ = parse(text, &symbols, &trades)
            _ = tape.append(count: trades.count - start)
            if trades.count >= 4_000 { trades.removeAll(keepingCapacity: true) }
        }
        units = Int(tape.nextSequence - 1)
        return units
    }
    print(toTape.line("frame to tape, \(venue)"))
    let bytes = Double(texts.reduce(0) { $0 + $1.count }) / Double(units)
    print(
        "  \(Measurement.short(bytes / toTape.best)) bytes/ns best, \(Measurement.short(bytes / toTape.median)) median"
    )
}

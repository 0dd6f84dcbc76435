import Market
import NIOCore
import Wire

/// Returns the frames of a recording. Each has its buffer, as a socket would deliver it.
func frames(of file: [UInt8]) -> [ByteBuffer] {
    var reader = RecordingParser()
    reader.feed(file.withUnsafeBytes { ByteBuffer(bytes: $0) })
    reader.finish()
    var frames: [ByteBuffer] = []
    while let recorded = reader.nextFrame() { frames.append(ByteBuffer(bytes: recorded.frame.readableBytesView)) }
    return frames
}

/// Runs every measurement on one recording, and prints a line for each.
func measure(_ file: [UInt8], path: String) {
    let frames = frames(of: file)
    var symbols = SymbolTable()
    var trades: [Trade] = []
    trades.reserveCapacity(4_096)
    var parser = FinnhubParser()
    var prices: [ExactDecimal] = []
    for frame in frames {
        trades.removeAll(keepingCapacity: true)
        _ = parser.parse(frame, symbols: &symbols, into: &trades)
        prices.append(contentsOf: trades.map(\.price))
    }
    let frameBytes = frames.reduce(0) { $0 + $1.readableBytes }
    print("\(path): \(frames.count) frames, \(prices.count) trades, \(frameBytes) bytes, \(symbols.count) symbols")

    let toTape = Measurement.take {
        var tape = Tape(epoch: 1)
        for frame in frames {
            trades.removeAll(keepingCapacity: true)
            _ = parser.parse(frame, symbols: &symbols, into: &trades)
            _ = tape.append(count: trades.count)
        }
        return Int(tape.nextSequence - 1)
    }
    print(toTape.line("frame to tape, template"))

    let general = Measurement.take(passes: 9) {
        var tape = Tape(epoch: 1)
        for frame in frames {
            trades.removeAll(keepingCapacity: true)
            _ = frame.withUnsafeReadableBytes { FinnhubParser.parseGenerally($0, symbols: &symbols, into: &trades) }
            _ = tape.append(count: trades.count)
        }
        return Int(tape.nextSequence - 1)
    }
    print(general.line("frame to tape, general JSON"))

    let conflation = Measurement.take {
        var conflator = Conflator<ExactDecimal>(quiet: 100_000_000, atMost: 500_000_000)
        var now: Int64 = 0
        var shown = 0
        for price in prices {
            // The mean interval of trades in a busy minute.
            now += 32_000_000
            if conflator.take(price, now: now) != nil { shown += 1 }
        }
        if conflator.flush() != nil { shown += 1 }
        precondition(shown > 0)
        return prices.count
    }
    print(conflation.line("conflator"))

    let whole = ByteBuffer(bytes: file)
    let recording = Measurement.take(passes: 9) {
        var reader = RecordingParser()
        var tape = Tape(epoch: 1)
        var rest = whole
        while true {
            while let recorded = reader.nextFrame() {
                trades.removeAll(keepingCapacity: true)
                _ = parser.parse(recorded.frame, symbols: &symbols, into: &trades)
                _ = tape.append(count: trades.count)
            }
            guard let chunk = rest.readSlice(length: min(1 << 16, rest.readableBytes)), chunk.readableBytes > 0 else {
                break
            }
            reader.feed(chunk)
        }
        return Int(tape.nextSequence - 1)
    }
    print(recording.line("recording to tape, 64 KiB chunks"))
}

import Market
import NIOCore
import Wire

/// A recording of version 2, generated from a seed.
enum MarketText {
    static let symbols = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "AAPL"]

    static func header(segment: Int = 1) -> RecordingHeader {
        var header = RecordingHeader(
            program: "test",
            symbols: Self.symbols,
            start: 1_767_225_600_000_000_000,
            epoch: 1_767_225_600_000,
            source: "live"
        )
        header.monotonic = 5_000
        header.segment = segment
        header.first = 1
        return header
    }

    /// - Parameters:
    ///   - frames: the number of frames; the third symbol trades in the last tenth only.
    ///   - gapEvery: the number of frames between two gaps.
    static func make(frames: Int, seed: UInt64 = 1, gapEvery: Int = .max, hasEnd: Bool = true) -> ByteBuffer {
        var chance = SeededGenerator(seed: seed)
        var text = ByteBuffer()
        RecordingSyntax.header(Self.header(), into: &text)
        var number: UInt64 = 0
        var sequence: UInt64 = 1
        var at: Int64 = 0
        for index in 0..<frames {
            at += Int64(chance.next() % 20_000_000)
            number += 1
            let stamp = RecordingSyntax.Stamp(number: number, wall: 1_767_225_600_000_000_000 + at, at: at)
            if index % gapEvery == gapEvery - 1 {
                let gap = Gap(from: stamp.wall - 1_000, to: stamp.wall, reason: "lost", nextSequence: sequence)
                RecordingSyntax.gap(gap, stamp, into: &text)
                continue
            }
            let count = Int(chance.next() % 10) + 1
            let choice = index >= frames - frames / 10 ? 3 : 2
            let trades = (0..<count).map { _ in
                let symbol = Self.symbols[Int(chance.next() % UInt64(choice))]
                let price = "\(chance.next() % 100_000).\(chance.next() % 100)"
                return #"{"c":null,"p":\#(price),"s":"\#(symbol)","t":1723161255342,"v":0.0\#(chance.next() % 1_000)}"#
            }
            let frame = #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
            RecordingSyntax.frame(
                ByteBuffer(string: frame),
                stamp,
                numbers: RecordedNumbers(first: sequence, count: count),
                into: &text
            )
            sequence += UInt64(count)
        }
        if hasEnd {
            let stamp = RecordingSyntax.Stamp(number: number + 1, wall: 1_767_225_600_000_000_000 + at, at: at)
            RecordingSyntax.note(RecordedNote(.end), stamp, into: &text)
        }
        return text
    }
}

import Market
import NIOCore
import WebSocket
import Wire

/// The packing of trades for readers of Finnhub's own protocol: frames of the upstream byte for byte where every trade in
/// them is wanted, and those trades that are wanted, cut out byte for byte, where only some are.
enum FinnhubTradeEncoder {
    /// The room that is held on to from one read to the next.
    private static let keptBytes = 128 << 10

    /// Encoded trades.
    struct Content {
        /// Whole WebSocket frames.
        var bytes: ByteBuffer
        var messages: Int
        var trades: UInt64
    }

    /// The frames of some batches that had to be taken apart: each once, for however many different wishes.
    struct CutFrames {
        private struct Place: Hashable {
            var batch: Int
            var frame: Int
        }

        private var cutters: [Place: FinnhubCutter?] = [:]

        /// Returns a frame taken apart; `nil` where its text does not show its trades one by one.
        mutating func cutter(of batch: Int, frame: Int, in batches: ArraySlice<TapeBatch>) -> FinnhubCutter? {
            let place = Place(batch: batch, frame: frame)
            if let known = self.cutters[place] { return known }
            let cutter = FinnhubCutter(batches[batch].frames[frame].bytes)
            self.cutters[place] = .some(cutter)
            return cutter
        }
    }

    /// The symbols of the batches' trades.
    static func symbols(in batches: ArraySlice<TapeBatch>) -> SymbolSet {
        var set = SymbolSet()
        var last: SymbolID?
        // By their places here and below, for a batch is many words and references, and each copy of one is felt.
        for index in batches.indices {
            for trade in batches[index].trades where trade.symbol != last {
                set.insert(trade.symbol)
                last = trade.symbol
            }
        }
        return set
    }

    /// Returns WebSocket frames with the wanted trades.
    ///
    /// - Parameters:
    ///   - isAll: whether `wanted` holds all symbols of the batches.
    ///   - cuts: the frames of these batches that have been taken apart.
    ///   - out: takes the frames. What it held is gone; its memory is used again if nobody else has it.
    static func encode(
        _ batches: ArraySlice<TapeBatch>,
        wanted: SymbolSet,
        isAll: Bool,
        cuts: inout CutFrames,
        into out: inout ByteBuffer
    ) -> Content {
        var room = 0
        for index in batches.indices {
            let frames = batches[index].frames
            for frame in frames.indices { room += frames[frame].bytes.readableBytes + 4 }
        }
        if out.capacity > Self.keptBytes { out = ByteBuffer() }
        out.clear(minimumCapacity: room)
        var scratch = ByteBuffer()
        var count = 0
        var messages = 0
        for index in batches.indices {
            let frames = batches[index].frames
            for place in frames.indices where !frames[place].trades.isEmpty {
                let range = frames[place].trades
                if frames[place].isWhole, frames[place].dialect == .finnhub,
                    isAll || batches[index].trades[range].allSatisfy({ wanted.contains($0.symbol) })
                {
                    WebSocketFraming.serverText(frames[place].bytes, into: &out)
                    count += range.count
                    messages += 1
                    continue
                }
                let chosen = batches[index].trades[range].filter { wanted.contains($0.symbol) }
                guard !chosen.isEmpty else { continue }
                scratch.clear()
                let cutter = Self.isCut(frames[place]) ? cuts.cutter(of: index, frame: place, in: batches) : nil
                if cutter.map({ Self.cut($0, frames[place], batches[index].trades, wanted, into: &scratch) }) != true {
                    FinnhubEncoder.trade(chosen, symbols: batches[index].symbols, into: &scratch)
                }
                WebSocketFraming.serverText(scratch, into: &out)
                count += chosen.count
                messages += 1
            }
        }
        return Content(bytes: out, messages: messages, trades: UInt64(count))
    }

    /// Whether the trades of a frame that are wanted are cut out of its text: where it is Finnhub's, and all that it held
    /// could be read.
    private static func isCut(_ frame: TapeBatch.Frame) -> Bool {
        frame.dialect == .finnhub && (frame.isWhole || (!frame.isMalformed && !frame.leftOut.isEmpty))
    }

    /// Cuts the wanted trades out of a frame's text; answers false where it cannot be known which of its elements these are.
    private static func cut(
        _ cutter: FinnhubCutter,
        _ frame: TapeBatch.Frame,
        _ trades: [Trade],
        _ wanted: SymbolSet,
        into out: inout ByteBuffer
    ) -> Bool {
        var leftOut = frame.leftOut[...]
        guard cutter.count == frame.trades.count + leftOut.count else { return false }
        var next = frame.trades.lowerBound
        cutter.cut(into: &out) { place in
            if leftOut.first == place {
                leftOut.removeFirst()
                return false
            }
            // There are more only where the places are not those of the text, each once and in order.
            guard next < frame.trades.upperBound else { return false }
            defer { next += 1 }
            return wanted.contains(trades[next].symbol)
        }
        return true
    }
}

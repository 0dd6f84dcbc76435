import Market
import NIOCore
import WebSocket
import Wire

/// The encoder of trades for clients of Finnhub's protocol.
///
/// A frame of which every trade is wanted is passed on byte for byte. Otherwise the wanted trades are cut out of it
/// byte for byte.
enum FinnhubTradeEncoder {
    /// The largest buffer that is kept from one batch to the next, in bytes.
    private static let keptBytes = 128 << 10
    /// The bytes of a position and its message around a frame, at most.
    private static let positionBytes = 80

    /// Encoded trades.
    struct Content {
        /// Whole WebSocket frames.
        var bytes: ByteBuffer
        var messages: Int
        var trades: UInt64
    }

    /// The parsed frames of some batches, each parsed once for all filters.
    struct CutFrames {
        private struct Place: Hashable {
            var batch: Int
            var frame: Int
        }

        private var cutters: [Place: FinnhubCutter?] = [:]

        /// Returns a parsed frame; `nil` if its text cannot be split into trades.
        mutating func cutter(of batch: Int, frame: Int, in batches: ArraySlice<TapeBatch>) -> FinnhubCutter? {
            let place = Place(batch: batch, frame: frame)
            if let known = self.cutters[place] { return known }
            let cutter = FinnhubCutter(batches[batch].frames[frame].bytes)
            self.cutters[place] = .some(cutter)
            return cutter
        }
    }

    /// Returns WebSocket frames with the wanted trades.
    ///
    /// - Parameters:
    ///   - isAll: whether `wanted` contains all symbols of the batches.
    ///   - hasPositions: whether each frame has its position (``NumberedMessage``).
    ///   - takesFilled: whether filled trades are among them. Finnhub's own frames have none.
    ///   - cuts: the frames of these batches that have been parsed.
    ///   - out: receives the frames. Its previous contents are discarded; its memory is reused if nothing else refers
    ///     to it.
    static func encode(
        _ batches: ArraySlice<TapeBatch>,
        wanted: SymbolSet,
        isAll: Bool,
        hasPositions: Bool = false,
        takesFilled: Bool = false,
        cuts: inout CutFrames,
        into out: inout ByteBuffer
    ) -> Content {
        var room = 0
        // By index, here and below: a batch is many words and references, and each copy of one costs measurable time.
        for index in batches.indices {
            let frames = batches[index].frames
            for frame in frames.indices { room += frames[frame].bytes.readableBytes + 4 }
            if hasPositions { room += frames.count * Self.positionBytes }
        }
        if out.capacity > Self.keptBytes { out = ByteBuffer() }
        out.clear(minimumCapacity: room)
        var scratch = ByteBuffer()
        var numbered = ByteBuffer()
        var count = 0
        var messages = 0
        for index in batches.indices {
            let frames = batches[index].frames
            for place in frames.indices where !frames[place].trades.isEmpty {
                let range = frames[place].trades
                if frames[place].isWhole, frames[place].dialect == .finnhub,
                    isAll || batches[index].trades[range].allSatisfy({ wanted.contains($0.symbol) })
                {
                    if hasPositions {
                        Self.write(frames[place].bytes, at: batches[index].position(of: range), &numbered, into: &out)
                    } else {
                        WebSocketFraming.serverText(frames[place].bytes, into: &out)
                    }
                    count += range.count
                    messages += 1
                    continue
                }
                let chosen = batches[index].trades[range].filter {
                    wanted.contains($0.symbol) && (takesFilled || !$0.isFilled)
                }
                guard !chosen.isEmpty else { continue }
                scratch.clear()
                let cutter = Self.isCut(frames[place]) ? cuts.cutter(of: index, frame: place, in: batches) : nil
                if cutter.map({ Self.cut($0, frames[place], batches[index].trades, wanted, into: &scratch) }) != true {
                    FinnhubEncoder.trade(chosen, symbols: batches[index].symbols, into: &scratch)
                }
                if hasPositions {
                    Self.write(scratch, at: batches[index].position(of: range), &numbered, into: &out)
                } else {
                    WebSocketFraming.serverText(scratch, into: &out)
                }
                count += chosen.count
                messages += 1
            }
        }
        return Content(bytes: out, messages: messages, trades: UInt64(count))
    }

    /// Writes a frame with its position as a whole WebSocket frame.
    private static func write(
        _ frame: ByteBuffer,
        at position: TapePosition,
        _ scratch: inout ByteBuffer,
        into out: inout ByteBuffer
    ) {
        scratch.clear()
        NumberedMessage.frame(frame, position).write(into: &scratch)
        WebSocketFraming.serverText(scratch, into: &out)
    }

    /// Returns whether the wanted trades are cut out of a frame's text: the frame is Finnhub's, and all of it could be
    /// parsed.
    private static func isCut(_ frame: TapeBatch.Frame) -> Bool {
        frame.dialect == .finnhub && (frame.isWhole || (!frame.isMalformed && !frame.leftOut.isEmpty))
    }

    /// Cuts the wanted trades out of a frame's text; returns `false` if the trades do not match the text's elements.
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
            // This happens only if the positions are not those of the text, each once and in order.
            guard next < frame.trades.upperBound else { return false }
            defer { next += 1 }
            return wanted.contains(trades[next].symbol)
        }
        return true
    }
}

extension TapeBatch {
    /// Returns the position of the last of some trades; not empty.
    fileprivate func position(of trades: Range<Int>) -> TapePosition {
        TapePosition(epoch: self.epoch, sequence: self.firstSequence + UInt64(trades.upperBound) - 1)
    }
}

import Ingest
import Market
import NIOCore
import NIOEmbedded
import Wire
@testable import Feeds

/// A tape that lacks trades.
///
/// Unchecked, because only the test's thread uses it.
final class PlayedTape: BackfillInput, @unchecked Sendable {
    private let venue: Venue
    private let loop: EmbeddedEventLoop
    private(set) var missing: [MissingTrades] = []
    private(set) var frames: [ByteBuffer] = []
    var lines: [(at: Int64, text: String)] = []

    init(_ venue: Venue, loop: EmbeddedEventLoop) { (self.venue, self.loop) = (venue, loop) }

    func open(_ symbol: String, _ hole: MissingTrades.Hole) {
        if let index = self.missing.firstIndex(where: { $0.symbol == symbol }) {
            self.missing[index].holes.append(hole)
        } else {
            self.missing.append(MissingTrades(symbol: symbol, holes: [hole]))
        }
    }

    func take(answer: ByteBuffer, of dialect: FrameDialect, now: Moment) {
        precondition(dialect == self.venue.answerDialect)
        self.frames.append(answer)
        var symbols = SymbolTable()
        var trades: [Trade] = []
        _ = VenueExchange.read(answer, of: self.venue, symbols: &symbols, into: &trades)
        for trade in trades {
            if let id = trade.id { self.remove(id...id, of: symbols.name(of: trade.symbol)) }
        }
    }

    func giveUp(_ ids: ClosedRange<UInt64>, of symbol: String, reason: String, now: Moment) {
        let at = Int64(self.loop.now.uptimeNanoseconds) / 1_000_000
        self.lines.append((at, "\(symbol) lost \(ids.lowerBound)...\(ids.upperBound): \(reason)"))
        self.remove(ids, of: symbol)
    }

    func remove(_ ids: ClosedRange<UInt64>, of symbol: String) {
        guard let index = self.missing.firstIndex(where: { $0.symbol == symbol }) else { return }
        self.missing[index].holes = self.missing[index].holes.flatMap { hole -> [MissingTrades.Hole] in
            guard hole.ids.overlaps(ids) else { return [hole] }
            var parts: [MissingTrades.Hole] = []
            if hole.ids.lowerBound < ids.lowerBound {
                parts.append(.init(ids: hole.ids.lowerBound...ids.lowerBound - 1, after: hole.after))
            }
            if hole.ids.upperBound > ids.upperBound {
                parts.append(.init(ids: ids.upperBound + 1...hole.ids.upperBound, after: hole.after))
            }
            return parts
        }
        if self.missing[index].holes.isEmpty { self.missing.remove(at: index) }
    }
}

package import Ingest
package import Market
import NIOCore
import Wire

/// The requests for the trades that are missing in the gaps of a feed without ids, by the backfill of their venue.
///
/// Each venue's feed that may request trades adds its backfill, which then works for two inputs with one budget. Belongs
/// to the tape's event loop.
package final class GapFiller {
    private struct Weak {
        weak var backfill: VenueBackfill?
    }

    /// The input of the feed without ids.
    let input: FeedInput
    private var backfills: [Venue: Weak] = [:]

    package init(_ input: FeedInput) { self.input = input }

    /// Adds what requests the trades of a venue.
    func add(_ backfill: VenueBackfill, of venue: Venue) { self.backfills[venue] = Weak(backfill: backfill) }

    /// Begins to fill a gap.
    package func fill(_ gap: IdentifiedGap, now: Moment) {
        self.input.gapIdentified(gap)
        guard !gap.missing.isEmpty else { return }
        if let backfill = Venue(of: gap.symbol).flatMap({ self.backfills[$0]?.backfill }) {
            return backfill.holesFound()
        }
        self.input.giveUp(0 ... .max, of: gap.symbol, reason: "no request to the exchange is allowed", now: now)
    }
}

/// The input of a venue's feed together with the one whose gaps its backfill fills: what either lacks is requested.
final class SharedBackfillInput: BackfillInput {
    private let venue: Venue
    private let own: any BackfillInput
    private let other: any BackfillInput

    init(_ own: any BackfillInput, _ other: any BackfillInput, of venue: Venue) {
        self.venue = venue
        self.own = own
        self.other = other
    }

    var missing: [MissingTrades] {
        var all = self.own.missing
        for missing in self.other.missing where Venue(of: missing.symbol) == self.venue {
            guard let place = all.firstIndex(where: { $0.symbol == missing.symbol }) else {
                all.append(missing)
                continue
            }
            all[place].holes = Self.union(all[place].holes, missing.holes)
        }
        return all
    }

    private static func union(_ some: [MissingTrades.Hole], _ others: [MissingTrades.Hole]) -> [MissingTrades.Hole] {
        var union: [MissingTrades.Hole] = []
        for hole in (some + others).sorted(by: { $0.ids.lowerBound < $1.ids.lowerBound }) {
            guard let last = union.last, hole.ids.lowerBound <= last.ids.upperBound else {
                union.append(hole)
                continue
            }
            union[union.count - 1].ids = last.ids.lowerBound...max(last.ids.upperBound, hole.ids.upperBound)
        }
        return union
    }

    func take(answer: ByteBuffer, of dialect: FrameDialect, now: Moment) {
        // An answer that brings a tape nothing does not belong on it.
        if !self.own.missing.isEmpty { self.own.take(answer: answer, of: dialect, now: now) }
        if !self.other.missing.isEmpty { self.other.take(answer: answer, of: dialect, now: now) }
    }

    func giveUp(_ ids: ClosedRange<UInt64>, of symbol: String, reason: String, now: Moment) {
        self.own.giveUp(ids, of: symbol, reason: reason, now: now)
        self.other.giveUp(ids, of: symbol, reason: reason, now: now)
    }
}

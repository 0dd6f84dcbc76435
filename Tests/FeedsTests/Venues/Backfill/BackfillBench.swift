import Ingest
import Logging
import NIOCore
import NIOEmbedded
import TickertapeTesting
import Wire
@testable import Feeds

/// A venue's backfill without sockets, on a loop whose time the test sets, with a service and a tape that the test
/// plays.
///
/// Unchecked, because only the test's thread, which is also the loop's, uses it.
final class BackfillBench: @unchecked Sendable {
    let venue: Venue
    let loop: EmbeddedEventLoop
    let service: PlayedTradesService
    let tape: PlayedTape
    private(set) var backfill: VenueBackfill
    private let holding: KeyHolding
    private let preferred: String?
    /// Whether the venue's answers may be read.
    let permission = Permission()

    final class Permission {
        var isAllowed = true
    }

    init(
        _ venue: Venue,
        addresses: [String] = ["main"],
        holding: KeyHolding = .none,
        preferred: String? = nil,
        loop: EmbeddedEventLoop = EmbeddedEventLoop()
    ) {
        self.venue = venue
        self.loop = loop
        self.holding = holding
        self.preferred = preferred
        self.service = PlayedTradesService(venue, addresses, loop: loop)
        self.tape = PlayedTape(venue, loop: loop)
        self.backfill = Self.backfill(self.service, self.tape, holding, preferred, loop, self.permission)
    }

    private static func backfill(
        _ service: PlayedTradesService,
        _ tape: PlayedTape,
        _ holding: KeyHolding,
        _ preferred: String?,
        _ loop: EmbeddedEventLoop,
        _ permission: Permission
    ) -> VenueBackfill {
        let bound = NIOLoopBound(loop, eventLoop: loop)
        let context = FeedContext(
            loop: loop,
            wallClock: { FeedBench.epoch + Int64(bound.value.now.uptimeNanoseconds) },
            chance: { 1 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        return VenueBackfill(
            service.venue,
            source: service,
            holding: holding,
            preferred: preferred,
            input: tape,
            context,
            isAllowed: { permission.isAllowed }
        )
    }

    /// Ends the program without a word and starts it again. The tape lacks the same trades.
    func restart() {
        self.backfill.stop()
        self.backfill = Self.backfill(self.service, self.tape, self.holding, self.preferred, self.loop, self.permission)
        self.backfill.holesFound()
    }

    /// Notes that ids of a symbol are missing.
    ///
    /// - Parameter isDated: whether the time of the trade before them is known.
    func miss(_ symbol: String, _ ids: ClosedRange<UInt64>, isDated: Bool = true) {
        let time = isDated ? PlayedTradesService.time(of: ids.lowerBound - 1) : nil
        self.tape.open(symbol, MissingTrades.Hole(ids: ids, after: time))
        self.backfill.holesFound()
    }

    func advance(seconds: Double) { self.loop.advanceTime(by: .nanoseconds(Int64(seconds * 1e9))) }

    /// The requests and losses since the last call, in order, each with its time in ms.
    func transcript() -> [String] {
        var lines = self.service.lines.map { ($0.at, 0, $0.text) } + self.tape.lines.map { ($0.at, 1, $0.text) }
        self.service.lines = []
        self.tape.lines = []
        // Sorting is not stable.
        for index in lines.indices { lines[index].1 += index * 2 }
        lines.sort { ($0.0, $0.1) < ($1.0, $1.1) }
        return lines.map { "\($0.0) \($0.2)" }
    }

    /// The same without the times.
    func texts() -> [String] { self.transcript().map { String($0.drop { $0 != " " }.dropFirst()) } }

    var problem: String { self.backfill.problem ?? "" }
}

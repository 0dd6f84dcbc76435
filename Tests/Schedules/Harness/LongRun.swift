import Feeds
import Glibc
import Ingest
import Logging
import Market
import Measurements
import MockUpstream
import NIOCore
import NIOEmbedded
import Wire

/// Hours of three venues with many symbols and one tape, in virtual time: connections are cut, trades are withheld, and
/// the REST services refuse requests, while the memory must stay flat.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
package final class LongRun: @unchecked Sendable {
    /// The figures at the end of an hour.
    package struct Hour: Sendable {
        package var hour: Int
        package var residentKiB: Int
        package var trades: Int
        package var filled: Int
        package var gaps: Int
        package var missing: Int
        package var cuts: Int
        package var requests: Int
    }

    /// 2026-01-01T00:00:00Z, so that the venue's hours are the run's.
    static let start: Int64 = 1_767_225_600_000_000_000
    static let origin = ProgramLife.origin

    let loop = EmbeddedEventLoop()
    let checker: LongRunChecker
    private(set) var venues: [LongRunVenue] = []
    private var feeds: [VenueFeed] = []
    private let meter = CompletenessMeter()
    private(set) package var hours: [Hour] = []

    /// - Parameters:
    ///   - symbols: the symbols of each venue.
    ///   - rate: the trades of all venues in a second.
    package init(symbols: Int, rate: Int, seed: UInt64) throws(MarketFailure) {
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(Self.origin)))
        let period = 3_000_000_000 / Int64(rate)
        let markets = Venue.allCases.enumerated().map { index, venue in
            FormulaMarket(venue, count: symbols, start: Self.start, period: period, offset: Int64(index) * period / 3)
        }
        self.checker = LongRunChecker(markets)
        let tape = TapeWriter(epoch: 1, readers: [self.checker, self.meter])
        var chance = SeededGenerator(seed: seed)
        for market in markets {
            let venue = try LongRunVenue(market, loop: self.loop, seed: chance.next())
            self.venues.append(venue)
            let wall = venue.wallClock
            let context = FeedContext(
                loop: self.loop,
                wallClock: wall,
                chance: { venue.draw() },
                logger: Logger(label: "long run", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let settings = VenueSettings(market.venue, symbols: market.symbols)
            self.feeds.append(
                VenueFeed(settings, tape, connector: venue, names: venue, trades: venue, context)
            )
        }
    }

    /// Lets some hours pass, the last minutes of which nothing goes wrong in.
    ///
    /// - Returns: what was wrong.
    package func run(hours: Double, ended: (Hour) -> Void) -> [String] {
        for feed in self.feeds { feed.start() }
        self.loop.run()
        let end = Int64(hours * 3_600e9)
        let calm = end - 120_000_000_000
        var next = 0
        var nextHour: Int64 = 3_600_000_000_000
        var nextFault: Int64 = 30_000_000_000
        var event = self.venues.map { _ in 0 }
        while true {
            let venue = self.venues[next]
            let at = venue.market.at(event[next])
            guard at < end else { break }
            self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(at + Self.origin)))
            if at >= nextFault, at < calm { nextFault = at + self.venues.reduce(Int64.max) { min($0, $1.suffer(at)) } }
            venue.send(event[next])
            event[next] += 1
            next = (next + 1) % self.venues.count
            if at >= nextHour {
                nextHour += 3_600_000_000_000
                self.hours.append(self.figures())
                if let hour = self.hours.last { ended(hour) }
            }
        }
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(end + 3_600_000_000_000 + Self.origin)))
        self.hours.append(self.figures())
        if let hour = self.hours.last { ended(hour) }
        for feed in self.feeds { feed.stop() }
        self.loop.advanceTime(by: .hours(2))
        self.checker.checkWhole(until: end) { self.venues[$0].isLost($1) }
        self.checker.check(self.meter.hours())
        return self.checker.faults + self.venues.flatMap(\.faults)
    }

    private func figures() -> Hour {
        Hour(
            hour: self.hours.count + 1,
            residentKiB: Self.residentKiB(),
            trades: self.checker.tradeCount,
            filled: self.checker.filled,
            gaps: self.checker.gapCount,
            missing: self.checker.missing,
            cuts: self.venues.reduce(0) { $0 + $1.cuts },
            requests: self.venues.reduce(0) { $0 + $1.requests }
        )
    }

    /// Returns the resident memory in KiB (proc(5), statm).
    private static func residentKiB() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let resident = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return resident * sysconf(Int32(_SC_PAGESIZE)) / 1_024
    }
}

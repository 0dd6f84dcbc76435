import Measurements
import Recordings
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite struct RecordingAuditTests {
    private func audit(_ market: AuditedMarket) throws -> AuditedSymbol {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let report = try RecordingAudit(
            finnhub: try folder.write(market.finnhubRecording, to: "finnhub.jsonl"),
            venue: try folder.write(market.venueRecording, to: "venue.jsonl")
        ).run()
        #expect(!report.measuresDelays)
        #expect(report.symbols.count == 1)
        return try #require(report.symbols.first)
    }

    @Test("of 5,000 trades, 15 % of which equal their neighbours, all are delivered")
    func complete() throws {
        let symbol = try self.audit(AuditedMarket(seed: 1, count: 5_000, share: 0, delay: 50_000_000...50_000_000))
        #expect(symbol.shareText == "100 %")
        #expect(symbol.delivered == 5_000)
        #expect(symbol.lines.count == 1)
    }

    @Test("1 % of the trades that Finnhub lost, doubled, altered or delayed are found exactly", arguments: 1...5)
    func faults(seed: Int) throws {
        for kind in [AuditedMarket.Fault.lost, .doubled, .altered, .delayed] {
            let delay: ClosedRange<Int64> = 50_000_000...50_000_000
            let market = AuditedMarket(seed: UInt64(seed), count: 5_000, share: 10, kinds: [kind], delay: delay)
            let symbol = try self.audit(market)
            #expect(market.count(kind) > 20)
            #expect(symbol.missing == market.count(.lost) + market.count(.altered))
            #expect(symbol.repeated == market.count(.doubled))
            #expect(symbol.unknown == market.count(.altered))
            #expect(symbol.delivered + symbol.missing == 5_000)
            #expect(symbol.unproven == 0)
            #expect(symbol.reordered == market.overtaken.count)
            // Each of them was delayed; one that nothing overtook is in its place.
            if kind == .delayed { #expect(market.overtaken.isSubset(of: market.faults[.delayed] ?? [])) }
        }
    }
}

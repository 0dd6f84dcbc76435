import Market
import Testing
import VenueSchedules
import Wire

@Suite("A venue's feed amid seeded faults, in virtual time")
struct VenueScheduleTests {
    @Test("has every trade that the venue gave, and names every other")
    func complete() throws {
        let market = try VenueMarket.made(.binance, seed: 1, count: 6_000)
        var report = ScheduleReport()
        for seed in 1...20 as ClosedRange<UInt64> {
            let outcome = try ScheduleRun.run(seed, market)
            report.add(outcome)
            #expect(outcome.faults.isEmpty, "\(outcome.faults.prefix(5)) in \(outcome.schedule)")
        }
        #expect(report.counts.trades > 50_000)
        #expect(report.counts.lives > 20 && report.counts.gaps > 20 && report.counts.repeated > 20)
        #expect(report.missingKinds.count < Fault.kinds.count / 2, "\(report.missingKinds)")
    }

    @Test("has every trade that Coinbase and Kraken gave, too", arguments: [Venue.coinbase, .kraken])
    func others(venue: Venue) throws {
        let market = try VenueMarket.made(venue, seed: 1, count: 6_000)
        #expect((market.crowd != nil) == (venue == .kraken))
        var report = ScheduleReport()
        for seed in 1...8 as ClosedRange<UInt64> {
            let outcome = try ScheduleRun.run(seed, market)
            report.add(outcome)
            #expect(outcome.faults.isEmpty, "\(outcome.faults.prefix(5)) in \(outcome.schedule)")
        }
        #expect(report.counts.trades > 20_000 && report.counts.gaps > 5)
    }

    @Test("loses, repeats and requests nothing at Binance's cut after 24 hours, for three days")
    func days() throws {
        let market = try VenueMarket.made(.binance, seed: 3, count: 20_000, slowness: 1_000)
        let outcome = try ScheduleRun.days(8, market)
        #expect(outcome.faults == [])
        #expect((2...4).contains(outcome.counts.rotationsClosedByProgram), "\(outcome.counts)")
        #expect(outcome.counts.rotations == outcome.counts.rotationsClosedByProgram)
        #expect(outcome.counts.requests == 0 && outcome.counts.gaps == 0 && outcome.counts.repeated == 0)
        #expect(outcome.counts.replayed > 20_000)
    }

    @Test("has the same tapes when a seed runs again")
    func repeatable() throws {
        let market = try VenueMarket.made(.binance, seed: 2, count: 2_000)
        for seed in 100...104 as ClosedRange<UInt64> {
            let (first, second) = (try ScheduleRun.run(seed, market), try ScheduleRun.run(seed, market))
            #expect(first.hash == second.hash)
            #expect(first.counts.recoveries == second.counts.recoveries)
            #expect(first.counts.requests == second.counts.requests)
        }
    }
}

import Testing
import TickertapeTesting

@Suite("The audit of recordings, from outside", .serialized)
struct AuditProgramTests {
    private func audit(
        _ arguments: [String]
    ) async throws -> (status: RunningProgram.Ending, output: String, errors: String) {
        let program = try RunningProgram(RunningProgram.tickertape, ["audit"] + arguments)
        let status = try #require(await program.ending())
        return (status, program.output, program.errors)
    }

    @Test("tells missing trades as text and JSON, whatever the order of the files, and fails")
    func incomplete() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = AuditedMarket(seed: 4, count: 1_000, share: 20, kinds: [.lost])
        let finnhub = try folder.write(market.finnhubRecording, to: "finnhub.jsonl")
        let venue = try folder.write(market.venueRecording, to: "venue.jsonl")
        let text = try await self.audit([venue, finnhub])
        #expect(text.status == .exit(1))
        #expect(text.output.hasPrefix("\(finnhub) against \(venue): INCOMPLETE\n"))
        #expect(text.output.contains("\n    missing: \(market.count(.lost)), ids 37356"))
        #expect(text.output.hasSuffix("\n  no delays: not both recordings have a wall clock\n"))
        #expect(text.errors.contains("\(market.count(.lost)) trades are missing in Finnhub's recording"))
        let json = try await self.audit(["--json", finnhub, venue])
        #expect(json.status == .exit(1))
        #expect(json.output.contains("\"complete\":false,\"symbols\":[{\"symbol\":\"BINANCE:BTCUSDT\","))
        #expect(RunningProgram.number(in: json.output, behind: "\"missing\":") == market.count(.lost))
        #expect(json.output.contains("\"missingIDs\":[{\"first\":\"37356"))
    }

    @Test("succeeds where nothing is missing, and says what it needs where it cannot compare")
    func complete() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = AuditedMarket(seed: 5, count: 500, share: 0)
        let finnhub = try folder.write(market.finnhubRecording, to: "finnhub.jsonl")
        let venue = try folder.write(market.venueRecording, to: "venue.jsonl")
        let whole = try await self.audit([finnhub, venue])
        #expect(whole.status == .exit(0), "\(whole.errors)")
        #expect(
            whole.output.contains("\n  BINANCE:BTCUSDT: 100 % delivered, 500 of 500 trades, from 2024-08-08T23:54:")
        )
        let same = try await self.audit([finnhub, finnhub])
        #expect(same.status == .exit(64))
        #expect(same.errors.contains("one recording must have trades in Finnhub's messages, the other in those of an"))
        let other = venue.replacing("venue", with: "eth")
        _ = try folder.write(market.venueRecording.replacing("BTCUSDT", with: "ETHUSDT"), to: "eth.jsonl")
        let apart = try await self.audit([finnhub, other])
        #expect(apart.status == .exit(1))
        #expect(apart.errors.contains("nothing was compared"))
        #expect(apart.output.contains("BINANCE:ETHUSDT: nothing to compare: trades of one side only: 500"))
    }
}

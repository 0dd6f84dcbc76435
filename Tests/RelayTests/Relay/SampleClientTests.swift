import Foundation
import NIOCore
import Relay
import Testing
import TickertapeTesting

/// The tests of text pings with a shorter interval than the program's minute.
@Suite("Finnhub's samples and the relay's text pings", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct SampleClientTests {
    @Test(
        "survive text pings between the trades, and miss none of these",
        arguments: [FinnhubSample.python, .javaScript, .go]
    )
    func pings(sample: FinnhubSample) async throws {
        try await RelayFixture.run {
            $0.textPingInterval = .milliseconds(20)
        } body: { fixture in
            let port = try #require(fixture.address.port)
            let client = try sample.start("ws://127.0.0.1:\(port)?token=anything", input: Pipe())
            let ping = sample.line(of: .ping)
            #expect(await client.lines(upTo: ping).contains(ping), "\(client.errors.suffix(2_000))")
            // The last symbol that each sample subscribes to.
            for _ in 0..<600 where !fixture.calls.all.contains("IC MARKETS:1") {
                _ = await client.lines(1_000_000, atMost: .milliseconds(50))
            }
            var expected: [String] = []
            for number in 1...20 {
                let trade = FinnhubSample.Frame.trade(symbol: "IC MARKETS:1", price: "\(number).5", size: "0.02")
                fixture.feed(trade.text)
                expected.append(sample.line(of: trade))
                // The next trade follows once this one and a ping after it have come.
                let lines = await client.lines(upTo: expected[number - 1])
                let printed = await client.lines(lines.count + 1)
                try #require(printed.count > lines.count, "\(client.errors.suffix(2_000))")
            }
            let lines = client.output.split(separator: "\n").map(String.init)
            #expect(lines.filter { $0 != ping } == expected)
            #expect(lines.count { $0 == ping } >= 20)
        }
    }
}

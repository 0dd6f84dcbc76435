import Testing
import TickertapeTesting
@testable import Relay

@Suite("A symbol that no feed of the relay serves", .timeLimit(.minutes(1 * Patience.factor)))
struct UnservedSymbolTests {
    @Test("is refused in Finnhub's words, with what to write instead, in both protocols")
    func words() async throws {
        try await RelayFixture.run(
            unserved: ["KRAKEN:BTC/USD": "its name here is KRAKEN:XXBTZUSD"],
            body: { fixture in
                let words = "Invalid symbol KRAKEN:BTC/USD: its name here is KRAKEN:XXBTZUSD"
                let trades = try await RawClient.open(at: fixture.address)
                try await trades.subscribe("KRAKEN:BTC/USD")
                let answer = try await trades.frame().text
                #expect(answer == #"{"msg":"\#(words)","type":"error"}"# || answer.contains(words), "\(answer)")
                let stream = try await fixture.streamClient()
                try await stream.send(#"{"type":"subscribe","symbol":"KRAKEN:BTC/USD"}"#)
                var text = ""
                while !text.contains(#""type":"error""#) { text = try await stream.frame().text }
                #expect(text.contains(words) && text.contains(#""code":"invalid-symbol""#), "\(text)")
            }
        )
    }
}

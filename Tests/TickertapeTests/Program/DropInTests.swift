import Foundation
import Glibc
import Testing
import TickertapeTesting

/// Finnhub's documented samples against the program's relay, unmodified except for the URL.
@Suite("Clients written for Finnhub", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct DropInTests {
    private static let btc = "BINANCE:BTCUSDT"
    private static let ic = "IC MARKETS:1"

    /// The program with a scripted Finnhub, which records the requests.
    final class Market: Sendable {
        let server: ScriptedFinnhub
        let program: RunningProgram
        let port: Int
        private let requests: AsyncStream<String>

        init(grace: String = "10s") async throws {
            let server = try await ScriptedFinnhub.start { _ in .play([]) }
            self.server = server
            let (requests, continuation) = AsyncStream.makeStream(of: String.self)
            self.requests = requests
            Task {
                for await case .received(_, let text) in server.events { continuation.yield(text) }
                continuation.finish()
            }
            self.program = try RunningProgram(
                RunningProgram.tickertape,
                [
                    "run", "--quiet", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:0",
                    "--symbol", "OWN:SYMBOL",
                ],
                environment: ["FINNHUB_TOKEN": Canary.key, "TICKERTAPE_RELAY_UNSUBSCRIBE_GRACE": grace]
            )
            self.port = try #require(await self.program.relayPort(), "\(self.program.errors)")
        }

        var url: String { "ws://127.0.0.1:\(self.port)?token=anything" }

        /// Waits for this request to the service, and returns all requests since the last call.
        func asked(upTo last: String) async -> [String] {
            var all: [String] = []
            for await text in self.requests {
                all.append(text)
                if text == last { break }
            }
            return all
        }

        /// Waits for the next request to the service; `nil` after its end.
        func nextRequest() async -> String? {
            for await text in self.requests { return text }
            return nil
        }

        func send(_ frame: FinnhubSample.Frame) { self.server.send(frame.text, on: 0) }

        func stop() async throws {
            self.program.send(signal: SIGTERM)
            #expect(await self.program.ending(atMost: .seconds(10)) == .exit(0), "\(self.program.errors)")
            try await self.server.stop()
        }
    }

    static func request(_ type: String, _ symbol: String) -> String { #"{"type":"\#(type)","symbol":"\#(symbol)"}"# }

    @Test(
        "get every trade that the service sends, exactly and in order",
        arguments: [FinnhubSample.python, .javaScript, .go]
    )
    func trades(sample: FinnhubSample) async throws {
        let market = try await Market()
        let client = try sample.start(market.url, input: Pipe())
        // The last symbol of each sample.
        _ = await market.asked(upTo: Self.request("subscribe", Self.ic))
        var frames: [FinnhubSample.Frame] = []
        for number in 1...300 {
            let symbol = number.isMultiple(of: 3) ? Self.ic : Self.btc
            let size = number.isMultiple(of: 7) ? "0" : "0.0\(number % 9 + 1)"
            frames.append(.trade(symbol: symbol, price: "61837.\(number)1", size: size))
            // Before each frame come a ping and a trade of another symbol.
            market.send(.ping)
            market.send(.trade(symbol: "OWN:SYMBOL", price: "1", size: "1"))
            market.send(frames[number - 1])
        }
        let expected = frames.map(sample.line)
        let lines = await client.lines(upTo: try #require(expected.last))
        #expect(lines == expected, "\(client.errors.suffix(2_000))")
        try await market.stop()
        #expect(await client.ending(atMost: .seconds(20)) != nil)
    }

    @Test(
        "get no trades of a symbol after they unsubscribe, and the service gets an unsubscribe",
        arguments: [FinnhubSample.python, .javaScript, .goUnsubscribing]
    )
    func unsubscribing(sample: FinnhubSample) async throws {
        let market = try await Market(grace: "0s")
        let input = Pipe()
        let client = try sample.start(market.url, input: input)
        _ = await market.asked(upTo: Self.request("subscribe", Self.ic))
        func trade(_ symbol: String, _ price: String) -> FinnhubSample.Frame {
            .trade(symbol: symbol, price: price, size: "0.02")
        }
        market.send(trade(Self.btc, "1.5"))
        market.send(trade(Self.ic, "2.5"))
        let before = await client.lines(upTo: sample.line(of: trade(Self.ic, "2.5")))
        #expect(before == [trade(Self.btc, "1.5"), trade(Self.ic, "2.5")].map(sample.line))
        try input.fileHandleForWriting.write(contentsOf: Data("\(Self.ic)\n".utf8))
        #expect(
            await market.asked(upTo: Self.request("unsubscribe", Self.ic)) == [Self.request("unsubscribe", Self.ic)]
        )
        // A market may send a last trade after an unsubscribe; the client does not get it.
        market.send(trade(Self.ic, "3.5"))
        market.send(trade(Self.btc, "4.5"))
        let after = await client.lines(upTo: sample.line(of: trade(Self.btc, "4.5")))
        #expect(after == before + [sample.line(of: trade(Self.btc, "4.5"))])
        try await market.stop()
        #expect(await client.ending(atMost: .seconds(20)) != nil)
    }

    @Test("that restart at once change nothing upstream: the service is asked once for each symbol")
    func restarting() async throws {
        // The grace time exceeds the test, so that no unsubscribe reaches the service.
        let market = try await Market(grace: "1h")
        for round in 0..<3 {
            let client = try FinnhubSample.python.start(market.url, input: Pipe())
            if round == 0 {
                let asked = await market.asked(upTo: Self.request("subscribe", Self.ic))
                #expect(
                    asked
                        == ["OWN:SYMBOL", "AAPL", "AMZN", Self.btc, Self.ic].map { Self.request("subscribe", $0) }
                )
            }
            let frame = FinnhubSample.Frame.trade(symbol: Self.ic, price: "\(round + 1).5", size: "0.02")
            // A subscribe to a symbol that the relay already has causes no request, so the market sends trades until
            // the client has one.
            for _ in 0..<400 where !client.output.contains(frame.text) {
                market.send(frame)
                // More lines than can arrive, so that the call waits for its time limit.
                _ = await client.lines(1_000_000, atMost: .milliseconds(50))
            }
            #expect(client.output.contains(frame.text), "round \(round): \(client.errors.suffix(2_000))")
            client.send(signal: SIGKILL)
            #expect(await client.ending(atMost: .seconds(20)) == .signal(SIGKILL))
        }
        // Another client's subscribe follows all earlier requests: the sample in Go has one more symbol.
        let other = try FinnhubSample.go.start(market.url, input: Pipe())
        let asked = await market.asked(upTo: Self.request("subscribe", "MSFT"))
        #expect(asked == [Self.request("subscribe", "MSFT")])
        try await market.stop()
        #expect(await other.ending(atMost: .seconds(20)) != nil)
    }

    @Test("whose last subscriber has left for the grace time are unsubscribed upstream, each symbol once")
    func stayingAway() async throws {
        let market = try await Market(grace: "200ms")
        let client = try FinnhubSample.python.start(market.url, input: Pipe())
        _ = await market.asked(upTo: Self.request("subscribe", Self.ic))
        client.send(signal: SIGKILL)
        #expect(await client.ending(atMost: .seconds(20)) == .signal(SIGKILL))
        var reported: Set<String> = []
        for symbol in ["AAPL", "AMZN", Self.btc, Self.ic] { reported.insert(Self.request("unsubscribe", symbol)) }
        var missing = reported
        while !missing.isEmpty {
            let asked = await market.nextRequest()
            try #require(asked.map(missing.contains) == true, "\(asked ?? "nothing more") with \(missing) missing")
            if let asked { missing.remove(asked) }
        }
        try await market.stop()
        #expect(await market.nextRequest() == nil)
    }
}

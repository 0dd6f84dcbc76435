import Feeds
import TLS
import Testing
import Wire
@testable import Tickertape

@Suite("FeedPlan")
struct FeedPlanTests {
    private func plan(_ from: FeedChoice, _ symbols: [String], token: Secret? = nil) throws -> FeedPlan {
        var settings = Settings()
        settings.from = from
        settings.finnhub.symbols = symbols
        return try FeedPlan(settings, token: token)
    }

    @Test("tells a client the tape's name of a pair that it writes as the exchange does")
    func names() throws {
        let plan = try self.plan(.venue, ["BINANCE:BTCUSDT"])
        #expect(plan.hint(of: "KRAKEN:BTC/USD") == "its name here is KRAKEN:XXBTZUSD")
        #expect(plan.hint(of: "KRAKEN:XXBTZUSD") == nil)
    }

    @Test("tells a client of a symbol of no exchange which exchanges run, and what to write")
    func noVenue() throws {
        let all = try self.plan(.venue, ["BINANCE:BTCUSDT"])
        #expect(
            all.hint(of: "AAPL")
                == "this relay has symbols of Binance, Coinbase and Kraken only: write one of them, such as BINANCE:BTCUSDT"
        )
        let one = try self.plan(.auto, ["KRAKEN:XXBTZUSD@venue"])
        #expect(
            one.hint(of: "BINANCE:BTCUSDT")
                == "this relay has symbols of Kraken only: write one of them, such as KRAKEN:XXBTZUSD"
        )
    }

    @Test("has no such words where Finnhub serves all other symbols")
    func finnhub() throws {
        let plan = try self.plan(.auto, ["AAPL", "KRAKEN:XXBTZUSD@venue"], token: Secret("averysecretkey"))
        #expect(plan.hint(of: "X:Y") == nil)
    }
}

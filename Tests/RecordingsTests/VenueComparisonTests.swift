import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Recordings

@Suite("The comparison of an hour with its venue")
struct VenueComparisonTests {
    private static let hour: Int64 = 1_787_626_800_000_000_000

    /// A venue with trades in two hours, of which the second is recorded and compared.
    private struct Market {
        let venue: Venue
        let symbol: String
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var requests: [VenueTradesRequest.Trades] = []
        /// The most trades of an answer of Coinbase's.
        var most = 1_000

        init(_ venue: Venue, _ symbol: String) throws {
            (self.venue, self.symbol) = (venue, symbol)
            let interned = self.symbols.intern(symbol)
            let number = try #require(interned)
            self.trades = (1...2_600 as ClosedRange<UInt64>).map { id in
                Trade(
                    price: ExactDecimal(significand: Int64(61_000 + id), exponent: -1) ?? .zero,
                    size: ExactDecimal(significand: Int64(id), exponent: -4) ?? .zero,
                    // Several of the same time, and some at the edge that go back.
                    exchangeTime: VenueComparisonTests.hour - 100_000_000_000 + Int64(id / 3) * 1_000_000_000
                        - (venue != .kraken && id % 97 == 0 ? 3_000_000_000 : 0),
                    symbol: number,
                    id: id
                )
            }
        }

        func recorded() -> (hour: CompletenessHour, lines: RecordedTradeLines) {
            var recorded = RecordedCompleteness(byIDsAlone: true)
            recorded.lines = RecordedTradeLines()
            for trade in self.trades {
                let frame = BinanceEncoder.trade(trade, symbols: self.symbols)
                recorded.take(frame, of: .binance, numbers: nil, read: 0)
            }
            let hours = recorded.hours()
            return (hours[hours.count - 1], recorded.lines ?? RecordedTradeLines())
        }

        /// Answers as the venue does, with at most 1,000 trades.
        mutating func answer(_ request: VenueTradesRequest) -> ByteBuffer {
            self.requests.append(request.trades)
            let found =
                switch request.trades {
                case .ids(let first, let count) where self.venue == .coinbase:
                    // The newest ones before the id behind the last one.
                    Array(
                        self.trades.filter { ($0.id ?? 0) < first + UInt64(count) }.suffix(min(count, self.most))
                    )
                case .ids(let first, let count):
                    self.trades.filter { ($0.id ?? 0) >= first && ($0.id ?? 0) < first + UInt64(count) }
                case .since(let time): Array(self.trades.filter { $0.exchangeTime > time }.prefix(1_000))
                case .newest(let count): Array(self.trades.suffix(count))
                }
            let body =
                switch self.venue {
                case .binance: BinanceTradeList.encode(found)
                case .coinbase: CoinbaseTradeList.encode(found)
                case .kraken: KrakenTradeList.encode(found, pair: "XXBTZUSD", last: 0)
                }
            return VenueExchange(target: request.target, body: body).frame
        }

        mutating func compare(_ hour: CompletenessHour, _ lines: RecordedTradeLines) throws -> VenueComparison.Result {
            var comparison = VenueComparison(hour, of: self.venue, lines: lines)
            while let request = comparison.request { try comparison.take(self.answer(request)) }
            return try #require(comparison.result)
        }
    }

    @Test("has the same count and hash, over several answers")
    func same() throws {
        var market = try Market(.binance, "BINANCE:BTCUSDT")
        let (hour, lines) = market.recorded()
        let found = try market.compare(hour, lines)
        #expect(found.count == hour.count && found.sha256 == hour.sha256 && found.difference == nil)
        #expect(market.requests.count == 3)
    }

    @Test("names the first id that differs, is missing, or is the recording's alone")
    func differences() throws {
        var market = try Market(.binance, "BINANCE:BTCUSDT")
        let (hour, lines) = market.recorded()
        let all = market.trades
        market.trades[1_699].size = ExactDecimal("7") ?? .zero
        market.trades[2_000].price = ExactDecimal("7") ?? .zero
        let other = try market.compare(hour, lines)
        #expect(other.count == hour.count && other.sha256 != hour.sha256)
        #expect(other.difference?.hasPrefix("id 1700: the venue has 1700,") == true, "\(other)")
        market.trades = all.filter { $0.id != 1_800 }
        #expect(
            try market.compare(hour, lines).difference == "id 1800: the recording has this trade, the venue does not"
        )
        var less = try Market(.binance, "BINANCE:BTCUSDT")
        less.trades.remove(at: 1_899)
        let (shorter, fewer) = less.recorded()
        market.trades = all
        #expect(
            try market.compare(shorter, fewer).difference
                == "id 1900: the venue has this trade, the recording does not"
        )
    }

    @Test(
        "asks each venue in its way",
        arguments: [(Venue.coinbase, "COINBASE:BTC-USD"), (.kraken, "KRAKEN:XXBTZUSD")]
    )
    func venues(_ venue: Venue, _ symbol: String) throws {
        var market = try Market(venue, symbol)
        var lines = RecordedTradeLines()
        var hour = CompletenessHour(symbol: symbol, start: Self.hour)
        for trade in market.trades where trade.exchangeTime >= Self.hour {
            lines.add(trade, symbol: symbol)
            hour.first = hour.first ?? trade.id
            hour.last = trade.id
            hour.count += 1
        }
        let found = try market.compare(hour, lines)
        #expect(found.count == hour.count && found.difference == nil)
    }

    @Test("ends with answers that are no trades, or bring nothing new")
    func faults() throws {
        var market = try Market(.kraken, "KRAKEN:XXBTZUSD")
        var hour = CompletenessHour(symbol: market.symbol, start: Self.hour)
        (hour.first, hour.last, hour.count) = (400, 2_000, 1_601)
        var comparison = VenueComparison(hour, of: .kraken, lines: RecordedTradeLines())
        #expect(throws: VenueComparison.Fault.unreadable) { try comparison.take(ByteBuffer(string: "x\n{}")) }
        market.trades = []
        let request = try #require(comparison.request)
        let time = Self.hour - 1
        market.trades = try Market(.kraken, "KRAKEN:XXBTZUSD").trades.prefix(1_000).map { trade in
            var trade = trade
            trade.exchangeTime = time + 1
            return trade
        }
        // All of one time, of which more may follow.
        #expect(throws: VenueComparison.Fault.stuck) {
            while let request = comparison.request { try comparison.take(market.answer(request)) }
        }
        #expect(request.trades == .since(time))
        // Of an hour whose trades the venue has no more, a request is repeated: its service may be behind.
        var gone = try Market(.binance, "BINANCE:BTCUSDT")
        let (recorded, lines) = gone.recorded()
        gone.trades = []
        let found = try gone.compare(recorded, lines)
        #expect(found.count == 0)
        #expect(found.difference?.hasSuffix("the recording has this trade, the venue does not") == true)
        #expect(gone.requests.count == 9)
    }

    @Test("requests what a short answer of Coinbase's left out, and names what the venue lacks")
    func shortAnswers() throws {
        var market = try Market(.coinbase, "COINBASE:BTC-USD")
        market.most = 300
        var lines = RecordedTradeLines()
        var hour = CompletenessHour(symbol: market.symbol, start: Self.hour)
        for trade in market.trades where trade.exchangeTime >= Self.hour {
            lines.add(trade, symbol: market.symbol)
            (hour.first, hour.last) = (hour.first ?? trade.id, trade.id)
            hour.count += 1
        }
        let found = try market.compare(hour, lines)
        #expect(found.count == hour.count && found.difference == nil)
        market.trades.removeAll { (1_000...1_005).contains($0.id ?? 0) }
        let less = try market.compare(hour, lines)
        #expect(less.count == hour.count - 6)
        #expect(less.difference == "id 1000: the recording has this trade, the venue does not")
        #expect(market.requests.count < 200)
    }

    @Test("waits for a service that is behind", arguments: [Venue.binance, .kraken])
    func behind(_ venue: Venue) throws {
        var market = try Market(venue, venue == .binance ? "BINANCE:BTCUSDT" : "KRAKEN:XXBTZUSD")
        let all = market.trades
        var lines = RecordedTradeLines()
        var hour = CompletenessHour(symbol: market.symbol, start: Self.hour)
        for trade in all where trade.exchangeTime >= Self.hour && trade.id ?? 0 <= 2_000 {
            lines.add(trade, symbol: market.symbol)
            (hour.first, hour.last) = (hour.first ?? trade.id, trade.id)
            hour.count += 1
        }
        var comparison = VenueComparison(hour, of: venue, lines: lines)
        market.trades = all.filter { $0.id ?? 0 <= 1_900 }
        var doubts = 0
        while let request = comparison.request {
            try comparison.take(market.answer(request))
            if comparison.isInDoubt { doubts += 1 }
            if doubts == 2 { market.trades = all }
        }
        let found = try #require(comparison.result)
        #expect(doubts == 2 && found.count == hour.count && found.difference == nil && found.comparesTrades)
        // Without the last ones, a later trade, or repeated answers, end the hour.
        for last in [1_900, 2_100] as [UInt64] {
            market.trades = all.filter { $0.id ?? 0 <= last && !(1_901...2_000).contains($0.id ?? 0) }
            #expect(
                try market.compare(hour, lines).difference
                    == "id 1901: the recording has this trade, the venue does not"
            )
        }
        #expect(market.requests.count < 30)
    }
}

import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import MockUpstream

@Suite("A simulated market in a venue's dialect")
struct SimulatedVenueTests {
    private static func settings(_ venue: Venue) -> SimulatedRun.Settings {
        let names =
            switch venue {
            case .binance: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
            case .coinbase: ["COINBASE:BTC-USD", "COINBASE:ETH-USD"]
            case .kraken: ["KRAKEN:BTC/USD", "KRAKEN:XETHZUSD"]
            }
        let market = SimulatedMarket.Settings(
            seed: 5,
            symbols: names.map { name in
                var symbol = SimulatedSymbol.bitcoin
                symbol.name = name
                return symbol
            },
            dialect: venue.dialect
        )
        var run = SimulatedRun.Settings(market: market)
        run.length = 60_000_000_000
        return run
    }

    private static func trades(_ venue: Venue) throws -> (frames: [RecordedFrame], trades: [Trade], SymbolTable) {
        var run = SimulatedRun(Self.settings(venue))
        var frames: [RecordedFrame] = []
        var trades: [Trade] = []
        var symbols = SymbolTable()
        var reader = FrameReader()
        while case .frame(let frame)? = run.next() {
            #expect(frame.dialect == venue.dialect)
            let content = reader.read(frame.frame, of: frame.dialect, symbols: &symbols, into: &trades)
            #expect(content == .trades(skipped: 0))
            frames.append(frame)
        }
        return (frames, trades, symbols)
    }

    @Test("has contiguous ids by symbol, times in order, and only frames with trades", arguments: Venue.allCases)
    func ids(_ venue: Venue) throws {
        let (frames, trades, symbols) = try Self.trades(venue)
        #expect(trades.count > 2_000 && symbols.count == 2)
        for index in 0..<2 {
            let ids = trades.filter { Int($0.symbol.index) == index }.compactMap(\.id)
            let first = try #require(ids.first)
            #expect(first % SimulatedMarket.idsPerSymbol == 1)
            #expect(ids == (0..<ids.count).map { first + UInt64($0) })
        }
        #expect(zip(trades, trades.dropFirst()).allSatisfy { $0.exchangeTime <= $1.exchangeTime })
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.at < $1.at })
        #expect(venue == .kraken ? frames.count < trades.count : frames.count == trades.count)
    }

    @Test("begins with the same trade as Finnhub's market of the same seed", arguments: Venue.allCases)
    func sameMarket(_ venue: Venue) throws {
        let (_, trades, _) = try Self.trades(venue)
        var settings = SimulatedMarket.Settings(seed: 5)
        settings.symbols = Self.settings(venue).market.symbols
        var market = SimulatedMarket(settings)
        var expected: [Trade] = []
        var symbols = SymbolTable()
        var reader = FrameReader()
        while expected.count < trades.count {
            _ = reader.read(market.nextFrame().text, of: .finnhub, symbols: &symbols, into: &expected)
        }
        // The generator also draws the arrival of each frame, so later trades differ.
        #expect(expected.first?.price == trades.first?.price && expected.first?.size == trades.first?.size)
    }

    @Test("is recorded with its dialect and read back", arguments: Venue.allCases)
    func recorded(_ venue: Venue) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var text = ""
        SimulatedRun.record(Self.settings(venue)) { text += String(buffer: $0) }
        let file = try RecordingFile(path: try folder.write(text, to: "a.jsonl"))
        #expect(file.dialects == [venue.dialect] && file.symbols.count == 2)
        let reader = try file.makeReader()
        var frames: [ByteBuffer] = []
        while let frame = try reader.next() { frames.append(frame.frame) }
        #expect(frames == (try Self.trades(venue)).frames.map(\.frame))
    }
}

import Market
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import MockUpstream

/// Which services a recording's symbols came from.
@Suite("The services of a recording's symbols")
struct RecordedServicesTests {
    private static let binance = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
    private static let kraken = "KRAKEN:XXBTZUSD"

    /// A recording of Binance's and Finnhub's trades, in which Kraken's begin late.
    ///
    /// - Parameters:
    ///   - count: how many of the first trades there are.
    ///   - isNoted: whether the subscriptions are recorded.
    ///   - lateAfter: behind how many of them Kraken's trade comes; `nil` for all.
    private func text(count: Int, isNoted: Bool, lateAfter: Int? = nil) throws -> String {
        var text = ByteBuffer()
        var header = RecordingHeader(
            version: RecordingHeader.dialectVersion,
            symbols: Self.binance + [Self.kraken],
            start: ReplayRecording.start,
            epoch: 5,
            source: "live"
        )
        header.first = 1
        RecordingSyntax.header(header, into: &text)
        var number: UInt64 = 0
        var stamp: RecordingSyntax.Stamp {
            number += 1
            let at = Int64(number) * 1_000_000
            return RecordingSyntax.Stamp(number: number, wall: ReplayRecording.start + at, at: at)
        }
        if isNoted {
            for (symbol, request) in [
                (Self.binance[0], VenueRequest.subscribe(["BTCUSDT"]).encoded(for: .binance, id: 1)),
                (Self.binance[1], FinnhubRequest.subscribe(Self.binance[1]).encoded()),
                // As it was written.
                ("KRAKEN:BTC/USD", VenueRequest.subscribe(["BTC/USD"]).encoded(for: .kraken, id: 1)),
            ] {
                var note = RecordedNote(.subscribe, direction: .outgoing)
                note.symbol = symbol
                note.frame = request
                RecordingSyntax.note(note, stamp, into: &text)
            }
        }
        var symbols = SymbolTable()
        func trade(_ symbol: String, id: UInt64) throws -> Trade {
            let number = symbols.intern(symbol)
            return Trade(
                price: ExactDecimal(significand: 5, exponent: 0) ?? .zero,
                size: ExactDecimal(significand: 1, exponent: 0) ?? .zero,
                exchangeTime: ReplayRecording.start,
                symbol: try #require(number),
                id: id
            )
        }
        for id in 1...UInt64(count) {
            let own = try trade(Self.binance[0], id: id)
            RecordingSyntax.frame(
                BinanceEncoder.trade(own, symbols: symbols),
                of: .binance,
                stamp,
                numbers: RecordedNumbers(first: 2 * id, count: 1),
                into: &text
            )
            let other = try trade(Self.binance[1], id: id)
            var frame = ByteBuffer()
            FinnhubEncoder.trade([other][...], symbols: symbols, into: &frame)
            RecordingSyntax.frame(frame, stamp, numbers: RecordedNumbers(first: 2 * id + 1, count: 1), into: &text)
            guard id == UInt64(lateAfter ?? count) else { continue }
            let late = try trade(Self.kraken, id: 1)
            RecordingSyntax.frame(
                KrakenEncoder.trades([late][...], symbols: symbols, pair: Venue.kraken.native(of:)),
                of: .kraken,
                stamp,
                into: &text
            )
        }
        return String(buffer: text)
    }

    private func connections(_ file: RecordingFile) -> [FrameDialect: [String]] {
        ReplayMaterial.recording(file).connections(for: Self.binance + [Self.kraken])
    }

    private let whole: [FrameDialect: [String]] = [
        .binance: [Self.binance[0]], .finnhub: [Self.binance[1]], .kraken: [Self.kraken],
    ]

    @Test("are those of their trades: an exchange's symbol may have come from Finnhub", arguments: [false, true])
    func short(isPacked: Bool) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(try self.text(count: 10, isNoted: false), to: "a.jsonl")
        if isPacked {
            try PackedSegment.pack(path, to: "\(path).zst")
            try folder.delete("a.jsonl")
        }
        let file = try RecordingFile(path: path)
        #expect(file.dialects == [.finnhub, .binance, .kraken])
        #expect(self.connections(file) == self.whole)
    }

    @Test("are those of their subscriptions, long before a trade comes")
    func late() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try RecordingFile(
            path: try folder.write(try self.text(count: 20_000, isNoted: true), to: "a.jsonl")
        )
        #expect(self.connections(file) == self.whole && file.allSymbols == nil)
    }

    @Test("are found in the index of a compressed file, however late they begin")
    func index() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(try self.text(count: 20_000, isNoted: false), to: "a.jsonl")
        try PackedSegment.pack(path, to: "\(path).zst")
        try folder.delete("a.jsonl")
        let file = try RecordingFile(path: path)
        #expect(self.connections(file) == self.whole)
        #expect(file.allSymbols == Set(Self.binance + [Self.kraken]))
    }

    @Test("that begin too late to be found have no connection, and the player says so when it comes to their messages")
    func tooLate() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // The last bytes are among the samples.
        let text = try self.text(count: 21_000, isNoted: false, lateAfter: 20_000)
        let file = try RecordingFile(path: try folder.write(text, to: "a.jsonl"))
        #expect(self.connections(file)[.kraken] == nil && self.connections(file)[.binance] != nil)
        let loop = EmbeddedEventLoop()
        var settings = ReplaySettings()
        settings.machine.speed = nil
        let player = try ReplayPlayer(.recording(file), settings: settings, loop: loop, wallClock: { 0 })
        let log = PlayedLog(loop)
        player.attach(log)
        player.start()
        loop.advanceTime(by: .seconds(1))
        #expect(log.isEnded)
        #expect(file.damage.unplayed == [.kraken])
    }
}

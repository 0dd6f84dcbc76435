import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Exchanges with REST services in the files of a recording")
struct RestExchangeFileTests {
    private static func binance(_ symbol: String, _ id: Int) -> ByteBuffer {
        ByteBuffer(
            string:
                #"{"e":"trade","E":1723161255343,"s":"\#(symbol)","t":\#(id),"p":"6.5","q":"0.02","T":1723161255342,"m":true,"M":true}"#
        )
    }

    private static func exchange(_ symbol: String, _ id: Int) -> ByteBuffer {
        VenueExchange(
            target: "/api/v3/historicalTrades?symbol=\(symbol)&fromId=\(id)&limit=1",
            body: ByteBuffer(string: #"[{"id":\#(id),"price":"4","qty":"12","time":1723161255342}]"#)
        ).frame
    }

    /// A live trade of two symbols, an exchange of each that brings an earlier one, and a trade of another service.
    private static func record(in folder: TemporaryFolder) throws -> String {
        let start: Int64 = 1_723_161_255_000_000_000
        var out = RecordingBuffer(
            RecordingHeader(
                version: RecordingHeader.dialectVersion,
                symbols: [],
                start: start,
                epoch: 7,
                source: "live"
            )
        )
        let kraken = ByteBuffer(
            string: #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"sell","price":7,"qty":1,"#
                + #""ord_type":"limit","trade_id":3,"timestamp":"2026-08-26T11:34:06.075373Z"}]}"#
        )
        let frames: [(FrameDialect, ByteBuffer)] = [
            (.binance, Self.binance("A", 9)), (.binance, Self.binance("B", 5)),
            (.binanceREST, Self.exchange("A", 8)), (.binanceREST, Self.exchange("B", 4)), (.kraken, kraken),
        ]
        for (index, frame) in frames.enumerated() {
            out.frame(
                frame.1,
                of: frame.0,
                at: Int64(index) * 1_000_000,
                numbers: RecordedNumbers(
                    first: UInt64(index) + 1,
                    count: 1,
                    filled: frame.0 == .binanceREST ? [0] : []
                )
            )
        }
        out.end()
        return try folder.write(String(buffer: out.bytes), to: "a.jsonl")
    }

    private static func frames(_ path: String) throws -> [String] {
        let stream = try RecordingStream(path: path)
        var reader = FrameReader()
        var symbols = SymbolTable()
        var frames: [String] = []
        while let line = try stream.next() {
            guard let frame = line.frame else { continue }
            for trade in frame.numberedTrades(&reader, symbols: &symbols) ?? [] {
                let name = symbols.name(of: trade.trade.symbol)
                frames.append("\(frame.dialect.name) \(name) \(trade.trade.id ?? 0) \(trade.sequence)")
            }
        }
        return frames
    }

    @Test("are verified, packed, repaired and cut by symbol and by the service's dialect")
    func edits() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try Self.record(in: folder)
        let all = [
            "binance BINANCE:A 9 1", "binance BINANCE:B 5 2", "binance-rest BINANCE:A 8 3",
            "binance-rest BINANCE:B 4 4",
            "kraken KRAKEN:XXBTZUSD 3 5",
        ]
        #expect(try Self.frames(path) == all)
        let found = try RecordingCheck.check(path)
        #expect(found.isIntact && found.dialects == ["binance": 2, "binance-rest": 2, "kraken": 1])
        try PackedSegment.pack(path, to: "\(folder.path)/b.jsonl.zst")
        #expect(try Self.frames("\(folder.path)/b.jsonl.zst") == all)
        _ = try RecordingEdits.repair(path, to: "\(folder.path)/c", form: .current)
        #expect(try Self.frames("\(folder.path)/c") == all)
        var cut = RecordingEdits.Cut()
        cut.symbols = ["BINANCE:B"]
        _ = try RecordingEdits.cut(path, cut, to: "\(folder.path)/d", form: .current)
        #expect(try Self.frames("\(folder.path)/d") == [all[1], all[3]])
        cut.symbols = []
        cut.dialect = .binance
        _ = try RecordingEdits.cut(path, cut, to: "\(folder.path)/e", form: .current)
        #expect(try Self.frames("\(folder.path)/e") == Array(all[..<4]))
        cut.dialect = .binanceREST
        _ = try RecordingEdits.cut(path, cut, to: "\(folder.path)/f", form: .current)
        #expect(try Self.frames("\(folder.path)/f") == Array(all[2..<4]))
    }
}

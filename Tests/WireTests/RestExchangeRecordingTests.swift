import Market
import NIOCore
import Testing
import Wire

@Suite("Exchanges with REST services in recordings")
struct RestExchangeRecordingTests {
    private static let exchange = VenueExchange(
        target: "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=5&limit=2",
        body: ByteBuffer(
            string:
                #"[{"id":5,"price":"4.00000100","qty":"12.00000000","quoteQty":"48.000012","time":1723161255342,"isBuyerMaker":true,"isBestMatch":true},"#
                + #"{"id":6,"price":"4.00000200","qty":"1.00000000","quoteQty":"4.000002","time":1723161255343,"isBuyerMaker":true,"isBestMatch":true}]"#
        )
    )

    private static func lines(_ text: ByteBuffer) -> [RecordedLine] {
        var parser = RecordingParser()
        parser.feed(text)
        parser.finish()
        var lines: [RecordedLine] = []
        while let line = parser.nextLine() { lines.append(line) }
        return lines
    }

    private static func recording() -> ByteBuffer {
        let start: Int64 = 1_723_161_255_000_000_000
        var out = RecordingBuffer(
            RecordingHeader(
                version: RecordingHeader.dialectVersion,
                symbols: ["BINANCE:BTCUSDT"],
                start: start,
                epoch: 7,
                source: "live"
            )
        )
        // The tape had the second trade already.
        let numbers = RecordedNumbers(first: 9, count: 1, leftOut: [1], filled: [0])
        out.frame(Self.exchange.frame, of: .binanceREST, at: 900_000_000, numbers: numbers)
        return out.bytes
    }

    @Test("a line with the dialect keeps the exchange byte for byte, sealed and in the plain form")
    func lines() throws {
        let sealed = try #require(Self.lines(Self.recording()).compactMap(\.frame).first)
        #expect(sealed.frame == Self.exchange.frame)
        #expect(sealed.dialect == .binanceREST)
        var text = ByteBuffer(string: #"{"at":5,"dialect":"binance-rest","frame":"#)
        JSONText.escape(String(buffer: Self.exchange.frame), into: &text)
        text.writeString("}\n")
        let plain = try #require(Self.lines(text).compactMap(\.frame).first)
        #expect(plain.frame == Self.exchange.frame)
        #expect(plain.dialect == .binanceREST)
        var finder = TradeFinder()
        let isFound = finder.hasTrades(plain)
        #expect(isFound)
        let hasTrades = finder.hasTrades(ByteBuffer(string: "/api/v3/trades?symbol=A\n[]"), of: .binanceREST)
        #expect(!hasTrades)
    }

    @Test("the trades on the tape are found by the frame's numbers")
    func numbered() throws {
        let frame = try #require(Self.lines(Self.recording()).compactMap(\.frame).first)
        var reader = FrameReader()
        var symbols = SymbolTable()
        let trades = try #require(frame.numberedTrades(&reader, symbols: &symbols))
        #expect(trades.map(\.sequence) == [9])
        #expect(trades.map(\.trade.id) == [5])
        #expect(trades.allSatisfy { $0.trade.isFilled })
    }

    @Test("an export has the trades of the exchange with their ids, and none that the tape left out")
    func export() {
        var export = RecordingExport(RecordingExport.Order(format: .csv))
        export.beginFile()
        for line in Self.lines(Self.recording()) { export.take(line) }
        export.finish()
        let rows = String(buffer: export.takeText()).split(separator: "\n").map(String.init)
        #expect(
            rows == [
                ExportFormat.tradeColumns,
                "BINANCE:BTCUSDT,4.000001,12,1723161255342,1723161255900000,7,9,false,false,5,true",
            ]
        )
        #expect(export.report.repeated == 1)
        #expect(export.report.damaged == 0)
    }
}

import Market
import NIOCore
import Testing
import Wire

@Suite("The dialects of frames in a recording's plain form")
struct PlainDialectTests {
    private static let binance =
        #"{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":7,"p":"61837.63000000","#
        + #""q":"0.02000000","T":1723161255342,"m":true,"M":true}}"#
    private static let coinbase =
        #"{"type":"match","trade_id":7,"maker_order_id":"a","taker_order_id":"b","side":"sell","size":"0.5","#
        + #""price":"2.50","product_id":"BTC-USD","sequence":9,"time":"2021-04-17T10:00:00.000001Z"}"#
    private static let kraken =
        #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":105433.6,"qty":0.5,"#
        + #""ord_type":"limit","trade_id":7,"timestamp":"2025-11-10T10:00:00.000001Z"}]}"#
    private static let finnhub = #"{"data":[{"c":null,"p":1,"s":"BINANCE:BTCUSDT","t":1,"v":2}],"type":"trade"}"#
    private static let all: [(FrameDialect, String)] = [
        (.binance, Self.binance), (.coinbase, Self.coinbase), (.kraken, Self.kraken), (.finnhub, Self.finnhub),
    ]

    private func dialects(_ file: ByteBuffer) -> [FrameDialect] {
        var parser = RecordingParser()
        parser.feed(file)
        parser.finish()
        var found: [FrameDialect] = []
        while let frame = parser.nextFrame() { found.append(frame.dialect) }
        return found
    }

    @Test("a frame has the dialect that its text shows, frame by frame")
    func recognised() {
        var file = ByteBuffer()
        for (at, frame) in (Self.all + Self.all.reversed()).enumerated() {
            RecordingSyntax.plainFrame(ByteBuffer(string: frame.1), at: Int64(at), into: &file)
        }
        #expect(self.dialects(file) == (Self.all + Self.all.reversed()).map(\.0))
    }

    @Test("a frame that shows no venue's dialect is Finnhub's, whatever it is")
    func unknown() {
        var file = ByteBuffer()
        let frames = [
            "", "{", "x", "\u{0}", #"{"type":"ping"}"#, "[1]", String(repeating: "[", count: 10_000),
            #"{"data":[{"p":1,"s":"COINBASE:BTC-USD","t":1,"v":2}],"type":"trade"}"#,
        ]
        for (at, frame) in frames.enumerated() {
            RecordingSyntax.plainFrame(ByteBuffer(string: frame), at: Int64(at), into: &file)
        }
        #expect(self.dialects(file) == frames.map { _ in .finnhub })
    }

    @Test("a dialect that a line names is the frame's, also in the plain form")
    func named() {
        let text = Self.binance.replacing("\"", with: "\\\"")
        let file = ByteBuffer(string: #"{"at":1,"dialect":"finnhub","frame":"\#(text)"}"# + "\n")
        #expect(self.dialects(file) == [.finnhub])
    }

    @Test("a numbered recording names its dialects, and no text is taken for another")
    func numbered() {
        var file = ByteBuffer()
        RecordingSyntax.header(
            RecordingHeader(version: 3, symbols: ["A"], start: 0, epoch: 7, source: "live"),
            into: &file
        )
        for (number, (frame, dialect)) in [(Self.binance, FrameDialect.finnhub), (Self.finnhub, .kraken)].enumerated() {
            let stamp = RecordingSyntax.Stamp(number: UInt64(number) + 1, wall: 0, at: Int64(number))
            RecordingSyntax.frame(ByteBuffer(string: frame), of: dialect, stamp, into: &file)
        }
        #expect(self.dialects(file) == [.finnhub, .kraken])
    }
}

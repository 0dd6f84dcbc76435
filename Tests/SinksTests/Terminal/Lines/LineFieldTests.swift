import Market
import Testing

@testable import Sinks

@Suite("Lines of chosen fields")
struct LineFieldTests {
    private static let now = sampleNoon.monotonic

    private func text(_ format: inout LineFormat, _ item: LineItem) -> String {
        String(decoding: format.lines(item, now: Self.now).output, as: UTF8.self)
    }

    private func price(_ symbol: String = "BINANCE:BTCUSDT", age: Int64 = 346_700_000, skipped: UInt64 = 2) -> LineItem
    {
        .price(PriceUpdate(summary: sampleSummary(symbol), skipped: skipped), arrived: Self.now - age)
    }

    @Test("CSV has a header, every field by itself, exact decimals, both clocks, and CRLF")
    func csv() {
        var format = LineFormat(.csv, status: sampleStatus())
        #expect(
            String(decoding: format.header, as: UTF8.self)
                == "symbol,price,size,time,received,sequence,state,age,change,percent,open,high,low,volume,trades,skipped\r\n"
        )
        #expect(
            self.text(&format, self.price())
                == "BINANCE:BTCUSDT,61837.63,0.02,2026-11-21T05:31:02.123Z,2026-11-21T05:31:02.128000Z,17,live,0.346,"
                + "12.13,0.02,61825.5,61837.63,61825.5,123.4567891,17,2\r\n"
        )
        // What is no price goes to the people.
        let gap = Gap(from: 0, to: oneSecond, reason: "lost", nextSequence: 1)
        #expect(format.lines(.gap(gap), now: 0).output.isEmpty && !format.lines(.gap(gap), now: 0).errors.isEmpty)
        _ = format.lines(.status(sampleStatus(.late, .demo, checked: false)), now: 0)
        #expect(self.text(&format, self.price()).contains(",late DEMO CERTIFICATE-NOT-CHECKED,"))
    }

    @Test("a symbol with commas, quotation marks, spaces at its ends or line breaks is still one field of one record")
    func quoting() {
        var format = LineFormat(.csv, fields: [.symbol, .trades], status: sampleStatus())
        #expect(self.text(&format, self.price("A,\"B\"")) == "\"A,\"\"B\"\"\",17\r\n")
        #expect(self.text(&format, self.price(" A")) == "\" A\",17\r\n")
        #expect(self.text(&format, self.price("A\r\nB")) == "A␍␊B,17\r\n")
        #expect(self.text(&format, self.price("")) == ",17\r\n")
    }

    @Test("plain lines and JSON say the chosen fields in their order; what is not known is told as that")
    func chosen() {
        var plain = LineFormat(.plain, fields: [.symbol, .price, .age, .percent, .change], status: sampleStatus())
        #expect(self.text(&plain, self.price("A B")) == "A_B 61837.63 0.346 0.02 12.13\n")
        let update = PriceUpdate(summary: sampleSummary(price: "5", open: "0"), skipped: 0)
        #expect(self.text(&plain, .price(update)) == "BINANCE:BTCUSDT 5 - - 5\n")

        var json = LineFormat(
            .json,
            fields: [.price, .symbol, .time, .received, .sequence, .state, .age, .percent],
            status: sampleStatus(.live, .demo)
        )
        #expect(
            self.text(&json, self.price("A\""))
                == #"{"type":"price","price":"61837.63","symbol":"A\"","time":1795239062123,"received":1795239062128000,"#
                + #""seq":17,"state":"live DEMO","age":346,"percent":"0.02"}"# + "\n"
        )
        #expect(self.text(&json, .price(update)).contains(#""age":null,"percent":null}"#))
    }

    @Test("a price that a relay had before has the age of its trade, not of its coming")
    func snapshot() {
        var format = LineFormat(.plain, fields: [.age], status: sampleStatus())
        let update = PriceUpdate(summary: sampleSummary(), skipped: 0)
        #expect(self.text(&format, .snapshot(update, arrived: Self.now - 90 * oneSecond)) == "90.000\n")
    }
}

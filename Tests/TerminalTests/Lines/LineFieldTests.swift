import Market
import Testing
import TickertapeTesting
@testable import Terminal

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
                == "symbol,price,size,time,received,sequence,state,age,change,percent,open,high,low,volume,trades,skipped,paused,source\r\n"
        )
        #expect(
            self.text(&format, self.price())
                == "BINANCE:BTCUSDT,61837.63,0.02,2026-11-21T05:31:02.123Z,2026-11-21T05:31:02.128000Z,17,live,0.346,"
                + "12.13,0.02,61825.5,61837.63,61825.5,123.4567891,17,2,false,live\r\n"
        )
        // Messages other than prices go to standard error.
        let gap = Gap(from: 0, to: oneSecond, reason: "lost", nextSequence: 1)
        #expect(format.lines(.gap(gap), now: 0).output.isEmpty && !format.lines(.gap(gap), now: 0).errors.isEmpty)
        _ = format.lines(.status(sampleStatus(.late, .demo, checked: false)), now: 0)
        #expect(self.text(&format, self.price()).contains(",late DEMO CERTIFICATE-NOT-CHECKED,"))
    }

    @Test("a symbol with commas, quotation marks, spaces at its ends or line breaks is still one field of one record")
    func quoting() {
        var format = LineFormat(.csv, fields: [.symbol, .trades], status: sampleStatus())
        #expect(self.text(&format, self.price("A,\"B\"")) == "\"A,\"\"B\"\"\",17,live\r\n")
        #expect(self.text(&format, self.price(" A")) == "\" A\",17,live\r\n")
        #expect(self.text(&format, self.price("A\r\nB")) == "A␍␊B,17,live\r\n")
        #expect(self.text(&format, self.price("")) == ",17,live\r\n")
    }

    @Test("plain lines and JSON have the chosen fields in their order, and mark unknown values")
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
                + #""seq":17,"state":"live DEMO","age":346,"percent":"0.02","source":"demo"}"# + "\n"
        )
        #expect(self.text(&json, .price(update)).contains(#""age":null,"percent":null,"source":"demo"}"#))
    }

    @Test(
        "each line of another source than the market is marked, with any fields",
        arguments: [
            (FeedStatus.Source.demo, "demo"), (.replay(file: "f", speed: 1), "replay"),
            (.simulated(seed: 7, speed: 1), "simulated"), (.live, "live"),
        ]
    )
    func sources(_ source: FeedStatus.Source, _ word: String) {
        let mark = source == .live ? "" : " \(word.uppercased())"
        for fields: [LineField] in [[.price], [.price, .source], [.source, .price]] {
            let isFirst = fields.first == .source
            var plain = LineFormat(.plain, fields: fields, status: sampleStatus(.live, source))
            let chosen = fields.map { $0 == .price ? "61837.63" : word }.joined(separator: " ")
            #expect(self.text(&plain, self.price()) == "\(chosen)\(mark)\n")
            var csv = LineFormat(.csv, fields: fields, status: sampleStatus(.live, source))
            #expect(String(decoding: csv.header, as: UTF8.self) == (isFirst ? "source,price\r\n" : "price,source\r\n"))
            #expect(self.text(&csv, self.price()) == (isFirst ? "\(word),61837.63\r\n" : "61837.63,\(word)\r\n"))
            var json = LineFormat(.json, fields: fields, status: sampleStatus(.live, source))
            let members = [#""price":"61837.63""#, "\"source\":\"\(word)\""]
            let said = (isFirst ? members.reversed() : members).joined(separator: ",")
            #expect(self.text(&json, self.price()) == #"{"type":"price",\#(said)}"# + "\n")
        }
        // Each message also has the source, once.
        var json = LineFormat(.json, status: sampleStatus(.live, source))
        let gap = Gap(from: 0, to: oneSecond, reason: "lost", nextSequence: 1)
        let items: [LineItem] = [
            self.price(), .gap(gap), .status(sampleStatus(.late, source)), .unsubscribed("A", since: 1),
            .symbol(SymbolStatus(symbol: "A", state: .quiet, since: 0)),
        ]
        for item in items {
            let line = self.text(&json, item)
            #expect(line.ranges(of: "\"source\":\"\(word)\"").count == 1, "\(line)")
        }
        #expect(String(decoding: json.dropped(3).output, as: UTF8.self).contains("\"source\":\"\(word)\""))
    }

    @Test(
        "people see that a replay plays, is paused or has ended; programs get the usual status, and pauses beside it"
    )
    func paused() {
        let source = FeedStatus.Source.replay(file: "f", speed: 1)
        var plain = LineFormat(.plain, fields: [.price, .state], status: sampleStatus(.live, source))
        func errors(_ item: LineItem) -> String { String(decoding: plain.lines(item, now: 0).errors, as: UTF8.self) }
        #expect(self.text(&plain, self.price()) == "61837.63 PLAYING REPLAY\n")
        #expect(errors(.paused(true, since: sampleNoon.wall)) == "2026-11-21T05:31:02.123Z PAUSED, REPLAY 1x f\n")
        #expect(errors(.paused(true, since: sampleNoon.wall)) == "")
        #expect(self.text(&plain, self.price()) == "61837.63 PAUSED REPLAY\n")
        #expect(errors(.paused(false, since: sampleNoon.wall)) == "2026-11-21T05:31:02.123Z PLAYING, REPLAY 1x f\n")
        let moved = Gap(from: 0, to: sampleNoon.wall, reason: "the replay was moved", nextSequence: 1, cause: .seek)
        #expect(errors(.gap(moved)) == "2026-11-21T05:31:02.123Z the replay was moved\n")
        #expect(errors(.status(sampleStatus(.ended, source))).hasSuffix("Z ENDED, REPLAY 1x f\n"))
        #expect(self.text(&plain, self.price()) == "61837.63 ENDED REPLAY\n")

        var json = LineFormat(.json, fields: [.state, .paused], status: sampleStatus(.live, source))
        #expect(
            self.text(&json, self.price())
                == #"{"type":"price","state":"live REPLAY","paused":false,"source":"replay"}"# + "\n"
        )
        let pause = self.text(&json, .paused(true, since: 0))
        #expect(pause.contains(#""state":"live""#) && pause.contains(#""paused":true"#), "\(pause)")
        #expect(self.text(&json, .paused(true, since: 0)) == "")
        #expect(self.text(&json, self.price()).contains(#""state":"live REPLAY","paused":true,"#))
    }

    @Test("an attempt that was announced with a failure does not repeat the failure")
    func attempts() {
        var plain = LineFormat(.plain, status: sampleStatus(.waiting))
        func errors(_ phase: FeedStatus.Phase, _ reason: String?) -> String {
            String(decoding: plain.lines(.status(sampleStatus(phase, reason: reason)), now: 0).errors, as: UTF8.self)
        }
        let failure = FeedStatus.Phase.reconnecting(attempt: 1, retryAt: sampleNoon.wall)
        #expect(errors(failure, "refused").contains("reconnecting, attempt 1 in 9 s: refused"))
        #expect(errors(.connecting, "refused") == "")
        #expect(errors(failure, "refused") != "")
        #expect(errors(.connecting, "another tickertape holds the key").contains("connecting: another"))
        #expect(errors(.connecting, nil) != "")
    }

    @Test("a price that a relay had before has the age of its trade, not of its coming")
    func snapshot() {
        var format = LineFormat(.plain, fields: [.age], status: sampleStatus())
        let update = PriceUpdate(summary: sampleSummary(), skipped: 0)
        #expect(self.text(&format, .snapshot(update, arrived: Self.now - 90 * oneSecond)) == "90.000\n")
    }
}

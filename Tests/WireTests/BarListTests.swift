import Market
import NIOCore
import Testing
import Wire

@Suite("The bars that a relay answers, read again")
struct BarListTests {
    private static let one = """
        {"start":1795289580000,"open":"59990.1","high":"59997.94","low":"59989","close":"59997.94","volume":"1.2071",\
        "vwap":null,"trades":212,"closed":false,"incomplete":true,"possibleRepeats":7,"new":[{}]}
        """
    private static let two = """
        {"start":1795289640000,"open":"1","high":"1","low":"1","close":"1"}
        """

    private static func body(_ bars: String, width: String = "1m") -> ByteBuffer {
        ByteBuffer(string: #"{"symbol":"A:B","width":"\#(width)","bars":["# + bars + "]}\n")
    }

    @Test("Prices are exact, a hole is known, and what is not told is not made up")
    func reads() throws {
        let bars = try #require(BarList.read(Self.body("\(Self.one),\(Self.two)"), width: .minute, limit: 10))
        let bar = try #require(bars.first)
        #expect(bars.count == 2)
        #expect(bar.start == 1_795_289_580_000_000_000 && bar.width == BarWidth.minute.nanoseconds)
        #expect(bar.open == ExactDecimal("59990.1") && bar.high == ExactDecimal("59997.94"))
        #expect(bar.low == ExactDecimal("59989") && bar.close == bar.high)
        #expect(bar.count == 212 && bar.isIncomplete && bar.possibleRepeats == 7)
        // The first bar is incomplete: the tape may have begun in its last moment. The second is complete.
        #expect(bar.openTime == bar.end - 1 && bar.closeTime == bar.end - 1)
        #expect(!bars[1].isIncomplete && bars[1].openTime == bars[1].start)
        #expect(BarList.read(Self.body(""), width: .minute, limit: 10)?.isEmpty == true)
    }

    @Test("What the relay writes is what is read")
    func roundTrip() throws {
        let bars = try #require(BarList.read(Self.body("\(Self.one),\(Self.two)"), width: .minute, limit: 10))
        let written = bars.map { String(buffer: StreamEncoder.barObject($0, isClosed: true)) }.joined(separator: ",")
        #expect(BarList.read(Self.body(written), width: .minute, limit: 10) == bars)
    }

    @Test(
        "What is no such answer is none",
        arguments: [
            "[]", "{}", "", "{\"bars\":[]", "{\"bars\":3}", "{\"bars\":[1]}", "{\"bars\":[]} x",
            String(buffer: Self.body(Self.two, width: "1h")), String(buffer: Self.body("\(Self.two),\(Self.one)")),
            String(buffer: Self.body("\(Self.two),\(Self.two)")),
            // A high below the low, invalid prices, a start that no bar can have, and one beyond the range of all
            // clocks.
            String(buffer: Self.body(Self.two.replacing("\"high\":\"1\"", with: "\"high\":\"0.5\""))),
            String(buffer: Self.body(Self.two.replacing("\"open\":\"1\"", with: "\"open\":\"1x\""))),
            String(buffer: Self.body(Self.two.replacing("\"high\":\"1\"", with: "\"high\":\"1e999\""))),
            String(buffer: Self.body(Self.two.replacing("640000", with: "640001"))),
            String(buffer: Self.body(Self.two.replacing("1795289640000", with: "9223372036854775807"))),
            String(buffer: Self.body(Self.two.replacing("1795289640000", with: "-60000"))),
            String(buffer: Self.body(String(repeating: Self.two + ",", count: 11) + Self.two)),
        ]
    )
    func refuses(_ text: String) {
        #expect(BarList.read(ByteBuffer(string: text), width: .minute, limit: 10) == nil)
    }

    @Test("An answer that is cut anywhere is none")
    func cut() {
        let whole = String(buffer: Self.body("\(Self.one),\(Self.two)"))
        for length in 0..<(whole.utf8.count - 2) {
            #expect(BarList.read(ByteBuffer(string: String(whole.prefix(length))), width: .minute, limit: 10) == nil)
        }
    }
}

import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Lines with fields of holdings")
struct HoldingFieldTests {
    private static let lots = [
        Lot(symbol: "X:A", quantity: sampleDecimal("0.12345678"), cost: sampleDecimal("61000.5"), currency: "USDT"),
        Lot(symbol: "X:B", quantity: sampleDecimal("3"), cost: sampleDecimal("0"), currency: "USDT"),
    ]
    private static let fields: [LineField] = [
        .symbol, .quantity, .value, .currency, .profit, .profitPercent, .today, .todayPercent, .span, .weight,
    ]

    private func line(_ format: inout LineFormat, _ item: LineItem) -> String {
        String(decoding: format.lines(item, now: sampleNoon.monotonic).output, as: UTF8.self)
    }

    private func price(_ symbol: String, _ price: String = "61837.63") -> LineItem {
        .price(PriceUpdate(summary: sampleSummary(symbol, price: price), skipped: 0))
    }

    @Test("have every digit, and a dash for what is not known")
    func plain() {
        var format = LineFormat(
            .plain,
            fields: Self.fields,
            status: sampleStatus(),
            holdings: Holdings(lots: Self.lots)
        )
        #expect(
            self.line(&format, self.price("X:A"))
                == "X:A 0.12345678 7634.2746826314 USDT 103.3493742414 1.37 1.4975307414 0.02 session -\n"
        )
        // The weight is known once every holding has a price.
        #expect(
            self.line(&format, self.price("X:B", "2500")) == "X:B 3 7500 USDT 7500 - -177976.5 -95.96 session 49.6\n"
        )
        #expect(self.line(&format, self.price("X:C")) == "X:C - - - - - - - - -\n")
    }

    @Test("count the day from the venue's price of 24 hours ago where it is known")
    func day() {
        var format = LineFormat(
            .csv,
            fields: [.today, .span],
            status: sampleStatus(),
            holdings: Holdings(lots: [Self.lots[1]])
        )
        let day = VenueDay(
            symbol: "X:B",
            open: sampleDecimal("61000"),
            high: sampleDecimal("1"),
            low: sampleDecimal("1"),
            last: sampleDecimal("1"),
            volume: sampleDecimal("1"),
            received: sampleSummary().received
        )
        #expect(format.lines(.day(day), now: 0) == LineFormat.Lines())
        #expect(self.line(&format, self.price("X:B")) == "2512.89,24h,live\r\n")
    }

    @Test("stand in JSON as exact strings, and are null where there is no holding")
    func json() {
        var format = LineFormat(
            .json,
            fields: [.symbol, .value, .weight],
            status: sampleStatus(),
            holdings: Holdings(lots: [Self.lots[0]])
        )
        #expect(
            self.line(&format, self.price("X:A"))
                == "{\"type\":\"price\",\"symbol\":\"X:A\",\"value\":\"7634.2746826314\",\"weight\":\"100\","
                + "\"source\":\"live\"}\n"
        )
        #expect(self.line(&format, self.price("X:B")).contains("\"value\":null,\"weight\":null"))
    }
}

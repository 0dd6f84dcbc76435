import Market
import Testing
import TickertapeTesting

@Suite("Holdings")
struct HoldingsTests {
    private static func lot(
        _ quantity: String,
        at cost: String,
        _ symbol: String = "X:A",
        _ currency: String = "USDT"
    )
        -> Lot
    {
        Lot(symbol: symbol, quantity: sampleDecimal(quantity), cost: sampleDecimal(cost), currency: currency)
    }

    private static func worth(_ holdings: Holdings, rate: String? = nil) -> Worth? {
        holdings.worth(of: "X:A", price: sampleDecimal("61837.63"), before: sampleDecimal("60000")) { _ in
            rate.map(sampleDecimal)
        }
    }

    @Test("several lots of one symbol add up with every digit")
    func exact() throws {
        let holdings = Holdings(lots: [Self.lot("0.12345678", at: "61000.5"), Self.lot("1.5", at: "0.00000001")])
        let worth = try #require(Self.worth(holdings))
        #expect(worth.currency == "USDT" && worth.quantity.description == "1.62345678")
        #expect(worth.value.description == "100390.7196826314")
        var sum = worth.profit
        sum.add(worth.cost)
        #expect(sum == worth.value)
        sum = worth.today
        sum.add(worth.dayBefore)
        #expect(sum == worth.value)
        #expect(worth.cost.description == "7530.925308405" && worth.dayBefore.description == "97407.4068")
    }

    @Test("a sold lot has a negative value, and profits from a lower price")
    func sold() throws {
        let worth = try #require(Self.worth(Holdings(lots: [Self.lot("-2", at: "62000")])))
        #expect(worth.value.description == "-123675.26" && worth.profit.description == "324.74")
    }

    @Test("a symbol without lots has no worth")
    func none() {
        #expect(Self.worth(Holdings(lots: [Self.lot("1", at: "1", "X:B")])) == nil)
    }

    @Test(
        "a rate converts value, cost and profit in both directions, and without its price they stay in their currency",
        arguments: [
            ("EUR", "USDT", "1.25", "EUR", "49470.104"), ("USDT", "EUR", "0.8", "EUR", "49470.104"),
            ("EUR", "USDT", nil, "USDT", "61837.63"), ("EUR", "USDT", "0", "USDT", "61837.63"),
        ] as [(String, String, String?, String, String)]
    )
    func rates(_ base: String, _ quote: String, _ price: String?, _ currency: String, _ value: String) throws {
        let rate = CurrencyRate(symbol: "X:R", base: base, quote: quote)
        let holdings = Holdings(lots: [Self.lot("1", at: "61837.63")], rates: [rate], currency: "EUR")
        let worth = try #require(Self.worth(holdings, rate: price))
        #expect(worth.currency == currency && worth.value.description == value && worth.profit.description == "0")
    }

    @Test("a quotient without an end is rounded to 18 digits")
    func rounded() throws {
        let rate = CurrencyRate(symbol: "X:R", base: "EUR", quote: "USDT")
        let holdings = Holdings(lots: [Self.lot("1", at: "1")], rates: [rate], currency: "EUR")
        let worth = try #require(
            holdings.worth(of: "X:A", price: sampleDecimal("2"), before: sampleDecimal("1")) { _ in sampleDecimal("3") }
        )
        #expect(worth.value.description == "0.666666666666666667" && worth.cost.description == "0.333333333333333333")
    }

    @Test("amounts beyond 38 digits are not known, and not smaller")
    func huge() throws {
        let holdings = Holdings(lots: [
            Self.lot("999999999999999999e300", at: "1"), Self.lot("0.000000000000000001", at: "1"),
        ])
        let worth = try #require(Self.worth(holdings))
        #expect(!worth.value.isWhole && !worth.profit.isWhole)
    }

    @Test(
        "numbers are rounded half to even",
        arguments: [
            ("1.005", "1"), ("1.015", "1.02"), ("1.025", "1.02"), ("-1.025", "-1.02"), ("-1.0251", "-1.03"), ("7", "7"),
            ("1e-30", "0"), ("0.0051", "0.01"), ("99.999", "100"), ("1e17", "1e17"),
        ]
    )
    func halves(_ text: String, _ expected: String) {
        #expect(sampleDecimal(text).rounded(fractionDigits: 2) == sampleDecimal(expected))
    }
}

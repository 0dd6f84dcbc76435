import Market
import Testing
import TickertapeTesting

/// `portfolio.js` and the sums of `decimal.js`, run by node beside the program's own.
@Suite(
    "The page's holdings",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PagePortfolioTests {
    private static let numbers = [
        "0", "1", "-1", "2", "3", "7", "-0.5", "0.12345678", "61837.63", "61000.5", "123456789012345678",
        "-99999.999999",
        "0.000000000000000001", "1e3",
    ]

    @Test("products, quotients and roundings are those of the program")
    func sums() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { divide, multiply, rounded, subtract } from "./decimal.js";
            const numbers = \(Self.numbers);
            for (const a of numbers) {
                for (const b of numbers) console.log(multiply(a, b), divide(a, b), rounded(multiply(a, b), 2), subtract(a, b));
            }
            """
        )
        var expected: [String] = []
        for a in Self.numbers.map(sampleDecimal) {
            for b in Self.numbers.map(sampleDecimal) {
                var product = ExactSum()
                product.add(a, times: b)
                var difference = ExactSum(b.negated)
                difference.add(a)
                let quotient = ExactSum(a).divided(by: ExactSum(b)) ?? .zero
                let rounded = product.decimal.map { "\($0.rounded(fractionDigits: 2))" } ?? "?"
                expected.append("\(product) \(quotient) \(rounded) \(difference)")
            }
        }
        #expect(lines.count == expected.count)
        for (line, words) in zip(lines, expected) {
            let (seen, wanted) = (line.split(separator: " "), words.split(separator: " "))
            for (one, other) in zip(seen, wanted) where other != "?" && !other.contains("e") {
                #expect(one == other, "\(line) is not \(words)")
            }
        }
    }

    @Test("have the program's values, profits, weights and sums, in the currency of a rate once it has a price")
    func worths() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { Portfolio, profitOf, todayOf, weightOf } from "./portfolio.js";
            const lot = (symbol, quantity, cost, currency) => ({ symbol, quantity, cost, currency });
            const lots = [lot("A", "0.25", "61000.50", "USDT"), lot("A", "0.1", "58200", "USDT"), lot("B", "-3", "2100", "USDT")];
            const prices = { A: { now: "61837.63", before: "60000" }, B: { now: "2000", before: "2500" } };
            const of = (known) => (name) => known[name] ?? null;
            const show = (worth) => console.log(worth === null ? "null"
                : [worth.value, worth.currency, profitOf(worth), todayOf(worth)].join(" "));
            const own = new Portfolio({ currency: null, lots, rates: [], groups: [] });
            show(own.worth("A", of(prices)));
            show(own.worth("B", of({})));
            show(own.worth("C", of(prices)));
            console.log(own.totals(["A", "B"], of(prices)).map(({ value, currency }) => value + currency).join());
            console.log(weightOf(own.worth("A", of(prices)), own.whole(of(prices))), own.whole(of({ A: prices.A })));
            const rates = [{ symbol: "R", base: "EUR", quote: "USDT" }];
            const euro = new Portfolio({ currency: "EUR", lots: lots.slice(0, 1), rates });
            show(euro.worth("A", of(prices)));
            show(euro.worth("A", of({ ...prices, R: { now: "1.25", before: "1" } })));
            show(euro.worth("A", of({ ...prices, R: { now: "0", before: "1" } })));
            for (const answer of [null, {}, { lots: 5, rates: "x" }, { lots: [null, { symbol: "A" }], groups: [1] }]) {
                const none = new Portfolio(answer);
                console.log(none.lots.size, none.groups.length, none.totals(["A"], of(prices)).length);
            }
            """
        )
        #expect(
            lines == [
                "21643.1705 USDT 573.0455 643.1705", "null", "null", "15643.1705USDT", "138.4 null",
                "15459.4075 USDT 209.2825 459.4075", "12367.526 EUR 167.426 367.526",
                "15459.4075 USDT 209.2825 459.4075", "0 0 0", "0 0 0", "0 0 0", "0 0 0",
            ]
        )
    }
}

import Testing
import TickertapeTesting

/// `market.js` and `words.js`, run by node.
@Suite(
    "The page's handling of filled trades and of the ids of gaps",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageFilledTests {
    private static let start = """
        import { Market } from "./market.js";
        const market = new Market();
        const status = { state: "live", source: "live" };
        market.take({ type: "hello", epoch: 7, seq: null, time: 1_000_000, status, symbols: [] }, 0);
        market.choose("A");
        const trade = (seq, price, time, more = {}) => market.take(
            { type: "trade", symbol: "A", seq, price, size: "1", time, received: time * 1000, ...more }, seq * 100);
        const gap = (missing) => market.take(
            { type: "gap", from: 1000, to: 5000, reason: "lost", nextSeq: 4, epoch: 7, symbol: "A", missing }, 0);
        const tape = () => market.tape.map((row) => row.text ?? row.price);

        """

    @Test("a filled trade counts, and is no price, no sign of life and no point of the chart")
    func counted() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                trade(1, "5", 1000, { id: "3" });
                trade(2, "9", 900, { id: "1", filled: true });
                trade(3, "1", 901, { id: "2", filled: true });
                const symbol = market.symbol;
                console.log(symbol.price, symbol.time, symbol.arrival, market.newestArrival, symbol.direction);
                console.log(symbol.open, symbol.high, symbol.low, symbol.volume, symbol.trades, symbol.newestSeq);
                console.log(symbol.series.buckets.length, symbol.series.buckets[0].high);
                trade(4, "6", 1100);
                console.log(symbol.price, symbol.arrival, tape().join(" | "));
                """
        )
        #expect(
            lines == [
                "5 1000 100 100 0", "5 9 1 3 3 3", "1 5", "6 400 6 | 2 missing trades were filled in | 5",
            ]
        )
    }

    @Test("a filled trade before any other is no price, either")
    func first() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                trade(1, "3", 900, { filled: true });
                console.log(market.symbol.price, market.symbol.open, market.symbol.high, market.symbol.state);
                trade(2, "4", 1000);
                console.log(market.symbol.price, market.symbol.open, market.symbol.low, market.symbol.state);
                """
        )
        #expect(lines == ["null null 3 null", "4 4 3 live"])
    }

    @Test("a gap says how many trades are missing where the relay knows it, and nothing else is taken for a number")
    func missing() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                gap({ first: "3735684463", last: "3735685666", count: "1204" });
                gap({ first: "7", last: "7", count: "1" });
                gap({ first: "0", last: "18446744073709551615", count: "18446744073709551615" });
                for (const other of [undefined, null, "5", { count: 5 }, { count: "<b>" }, { count: "" }]) gap(other);
                for (const line of tape().reverse()) console.log(line);
                """
        )
        #expect(
            lines == [
                "gap of 4 s, 1,204 trades missing: lost", "gap of 4 s, 1 trade missing: lost",
                "gap of 4 s, 18,446,744,073,709,551,615 trades missing: lost",
            ] + [String](repeating: "gap of 4 s: lost", count: 6)
        )
    }
}

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

    @Test("a filled trade counts, and is no price and no sign of life")
    func counted() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                trade(1, "5", 1000, { id: "3" });
                trade(2, "9", 900, { id: "1", filled: true });
                trade(3, "1", 901, { id: "2", filled: true });
                const symbol = market.symbol;
                console.log(symbol.price, symbol.time, symbol.arrival, market.newestArrival, symbol.direction);
                console.log(symbol.open, symbol.high, symbol.low, symbol.volume, symbol.trades, symbol.newestSeq);
                trade(4, "6", 1100);
                console.log(symbol.price, symbol.arrival, tape().join(" | "));
                """
        )
        #expect(
            lines == [
                "5 1000 100 100 0", "5 9 1 3 3 3", "6 400 6 | 2 missing trades were filled in | 5",
            ]
        )
    }

    @Test("the band of a filled gap goes; that of a lost one stays with its number and words")
    func settled() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const settled = (from, to, lost, reason = null) => market.take(
                    { type: "settled", symbol: "A", from, to, missing: { first: "2", last: "4", count: "3" }, lost, reason }, 0);
                const bands = () => market.symbol.gaps.all.map(({ from, to, lost }) => `${from}-${to}:${lost}`).join();
                trade(1, "5", 900, { id: "1" });
                gap({ first: "2", last: "4", count: "3" });
                market.take({ type: "gap", from: 4000, to: 8000, reason: "lost", nextSeq: 4, epoch: 7, symbol: "A" }, 0);
                trade(2, "6", 8000, { id: "5" });
                trade(3, "9", 3000, { id: "3", filled: true });
                console.log(bands());
                settled(1000, 5000, []);
                console.log(bands());
                settled(1000, 5000, [{ first: "2", last: "2", count: "1" }]);
                settled(4000, 8000, [{ first: "2", last: "1205", count: "1204" }], "the venue has them no more");
                console.log(bands(), "|", tape().filter((text) => text.startsWith("gap")).join(" | "));
                settled(100, 200, [{ first: "2", last: "2", count: "1" }], "gone");
                console.log(market.tape[0].text);
                settled(4000, 8000, []);
                console.log(`${bands()}.`);
                market.take({ type: "gap", from: 8000, to: 9000, reason: "lost", nextSeq: 5, epoch: 7 }, 0);
                console.log(bands());
                market.take({ type: "settled", symbol: "A", from: 8000, to: 9000, lost: [], reason: null }, 0);
                console.log(`${bands()}.`, market.tape[0].text);
                """
        )
        #expect(
            lines == [
                "1000-8000:0", "4000-8000:0",
                "4000-8000:1204 | gap of 4 s, 1,204 trades lost for good: the venue has them no more | "
                    + "gap of 4 s, 1 trade lost for good", "gap, 1 trade lost for good: gone", ".",
                "8000-9000:0", ". gap of 1 s, nothing was missing",
            ]
        )
    }

    @Test("what was settled while the page was away, or before it was opened, is known from /v1/status")
    func reported() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                import { reportedGaps } from "./past.js";
                const missing = { first: "2", last: "4", count: "3" };
                const lost = [{ first: "2", last: "2", count: "1" }];
                const one = (from, settled) => ({ from, to: from + 500, reason: "r", symbol: "A", missing, ...settled });
                const outcome = (from, lost, symbol = "A") => ({ settled: [{ symbol, from, to: from + 500, missing, lost }] });
                const newest = [one(4000), one(3000, outcome(3000, lost)), one(2000, outcome(2000, [])),
                    { from: 1000, to: 1500, reason: "r", ...outcome(1000, [], "B") }, one(0, { settled: 7 })];
                const answer = { gaps: { newest } };
                console.log(reportedGaps(answer, "A").map(({ from, lost }) => `${from}:${lost}`).join());
                console.log(reportedGaps(answer, "B").map(({ from }) => from).join() + ".");
                trade(1, "5", 1000);
                for (const from of [2000, 3000, 4000]) market.take({ type: "gap", ...one(from), nextSeq: 4, epoch: 7 }, 0);
                market.takeOutcomes(answer);
                console.log(market.symbol.gaps.all.map(({ from, lost }) => `${from}:${lost}`).join());
                market.takeOutcomes(null);
                market.takeOutcomes({ gaps: { newest: [null, { settled: [{}] }] } });
                """
        )
        #expect(lines == ["0:0,1000:0,3000:1,4000:0", ".", "3000:1,4000:0"])
    }

    @Test("the exchange's own 24 hours are kept beside the session's figures, and are shown for five minutes")
    func days() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                trade(1, "5", 1000);
                const day = { open: "4.25", high: "9", low: "3", last: "5", change: "0.75", volume: "12" };
                market.take({ type: "venueDay", symbol: "A", ...day, received: 1_000_000_000 }, 0);
                market.take({ type: "venueDay", symbol: "B", ...day, received: 1_000_000_000 }, 0);
                const symbol = market.symbol;
                console.log(symbol.open, symbol.high, symbol.low, symbol.volume, symbol.decimals, market.symbols.size);
                console.log(market.day(symbol, 0).open, market.day(symbol, 299_000).volume, market.day(symbol, 300_000));
                const base = (now) => Object.values(market.base(symbol, now)).join();
                console.log(base(0), base(300_000));
                market.take({ type: "symbol", symbol: "A", state: "released" }, 0);
                console.log(market.day(symbol, 0), market.day(null, 0), base(0));
                """
        )
        #expect(
            lines == [
                "5 5 5 1 2 1", "4.25 12 null", "4.25,24h 5,session",
                "null null 5,session",
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

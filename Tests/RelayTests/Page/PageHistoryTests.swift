import Testing
import TickertapeTesting

/// `history.js`, `trend.js` and `market.js`, run by node.
@Suite(
    "The page's loading of bars, and its symbols",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageHistoryTests {
    private static let start = """
        import { BarHistory } from "./history.js";
        const s = 30_000_000 * 60_000;
        const bar = (second) => ({ start: s + second * 1000, open: "1", high: "3", low: "1", close: "2", volume: "7", incomplete: false });
        const asked = [];
        const sent = [];
        const history = new BarHistory({
            ask: (target) => new Promise((answer) => asked.push({ target: target.replace(String(s), "S"), answer })),
            send: ({ type, symbol, bars }) => sent.push(`${type} ${symbol} ${bars}`), changed: () => {},
        });
        const turn = () => new Promise((done) => setImmediate(done));
        const answer = async (value) => {
            const { target, answer } = asked.shift();
            console.log(target);
            answer(value);
            await turn();
        };
        const want = (seconds, now = 0) => console.log(history.want("1s", s + seconds * 1000, now) || "all");

        """

    @Test("asks for the newest bars, then for earlier ones as one goes back, until there are none")
    func paging() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                history.choose("A:B");
                console.log(sent.join(", "));
                want(-10);
                want(-10);
                await answer({ bars: Array.from({ length: 1000 }, (_, at) => bar(at)) });
                want(0);
                want(-3000);
                await answer({ bars: Array.from({ length: 6000 }, (_, at) => bar(at - 6000)) });
                want(-3000);
                want(-6001);
                await answer({ bars: [] });
                want(-6001);
                console.log(asked.length, history.series("1s").bars.length);
                """
        )
        #expect(
            lines == [
                "subscribe A:B 1s, subscribe A:B 1m, subscribe A:B 5m, subscribe A:B 1h", "loading", "loading",
                "/v1/bars/A%3AB?width=1s&limit=1000", "all", "loading", "/v1/bars/A%3AB?width=1s&limit=6000&to=S",
                "all",
                "loading", "/v1/bars/A%3AB?width=1s&limit=1000&to=\(30_000_000 * 60_000 - 6_000_000)", "start",
                "0 7000",
            ]
        )
    }

    @Test("asks again after a failure, loads what came without a connection, and drops other symbols' answers")
    func failures() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                history.choose("A");
                want(0, performance.now());
                await answer(null);
                want(0, performance.now());
                want(0, performance.now() + 3_001);
                await answer({ bars: [bar(0), bar(1), null, { start: "x" }] });
                want(0);
                history.take({ ...bar(2), symbol: "A", width: "1s" });
                history.take({ ...bar(3), symbol: "B", width: "1s" });
                history.take({ ...bar(3), symbol: "A", width: "2s" });
                console.log(history.series("1s").bars.length, history.series("1m").bars.length);
                history.connected();
                want(0);
                await answer({ bars: [bar(1), bar(2), bar(3)] });
                console.log(history.series("1s").bars.length, sent.length);
                want(-1);
                history.connected();
                want(0);
                history.choose("B");
                await answer({ bars: [bar(9)] });
                console.log(history.series("1s").bars.length, sent.slice(-5)[0]);
                """
        )
        let newest = "/v1/bars/A?width=1s&limit=1000"
        #expect(
            lines == [
                "loading", newest, "failed", "loading", newest, "all", "3 0", "loading", newest, "4 8", "start",
                "loading",
                newest, "0 unsubscribe A all",
            ]
        )
    }

    @Test("are in the order of the settings, and a wrong one has what was meant")
    func symbols() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { Market } from "./market.js";
            import { freshness, isRefused, symbolWords } from "./words.js";
            const market = new Market();
            const symbols = ["C", "B", "A"].map((symbol) => ({ symbol, price: "1", size: "1", time: 1, received: 1, seq: 1, trades: 1, age: 0 }));
            market.take({ type: "hello", epoch: 1, seq: 1, status: { source: "live" }, symbols: [...symbols, { symbol: "D", state: "asked" }] }, 0);
            market.takeSymbols({ symbols: [{ symbol: "A" }, { symbol: "nowhere" }, { symbol: "B" }, 7, { symbol: 9 }] });
            market.add("btcusdt");
            console.log([...market.symbols.keys()].join(), market.symbols.get("btcusdt").state);
            market.take({ type: "symbol", symbol: "btcusdt", state: "no-such-symbol", reason: "Invalid symbol btcusdt" }, 0);
            market.takeSymbols({ symbols: [{ symbol: "btcusdt", meant: "BINANCE:BTCUSDT" }, { symbol: "D", meant: 5 }] });
            const wrong = market.symbols.get("btcusdt");
            console.log(symbolWords(wrong), wrong.meant, isRefused(wrong), market.symbols.get("D").meant, freshness(wrong, { level: "good" }));
            market.takeSymbols(null);
            market.choose(null);
            console.log(market.symbol, market.symbols.size);
            """
        )
        #expect(
            lines == [
                "A,B,C,D,btcusdt asked", "no such symbol BINANCE:BTCUSDT true null none",
                "null 5",
            ]
        )
    }

    @Test("have a trend of the last hour, one price a minute, bounded whatever comes")
    func trend() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { Trend } from "./trend.js";
            const trend = new Trend();
            const say = () => console.log(trend.minutes.map(({ start, price }) => `${start / 60_000}:${price}`).join(" "));
            trend.add(60_000 * 100, "1");
            trend.add(60_000 * 100 + 5, "2");
            trend.add(60_000 * 101, "3");
            trend.add(60_000 * 100.5, "4");
            say();
            trend.takeEarlier([{ start: 60_000 * 20, close: "9" }, { start: 60_000 * 98, close: "8" }, { start: 60_000 * 101, close: "7" }, null, { start: "x" }, { start: 60_000, close: 4 }]);
            say();
            trend.takeEarlier(undefined);
            trend.add(NaN, "1");
            trend.add(60_000, "x");
            for (let minute = 102; minute < 1000; minute += 1) trend.add(60_000 * minute, "5");
            console.log(trend.minutes.length);
            trend.add(60_000 * 5000, "6");
            say();
            trend.add(60_000 * 10, "7");
            say();
            """
        )
        #expect(
            lines == ["100:2 101:4", "98:8 100:2 101:4", "60", "5000:6", "10:7"]
        )
    }
}

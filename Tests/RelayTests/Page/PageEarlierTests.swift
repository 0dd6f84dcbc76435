import Testing
import TickertapeTesting

/// `earlier.js`, `changes.js` and `trend.js`, run by node.
@Suite(
    "What the page's rows know from before it was opened",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageEarlierTests {
    /// A market with the symbol `A`, at 30,000,000 minutes after 1970. Requests are printed with minutes from then.
    private static let start = """
        import { Earlier } from "./earlier.js";
        import { Market } from "./market.js";
        const minute = 60_000;
        const wall = 30_000_000 * minute;
        const day = 1440;
        const market = new Market();
        const status = { state: "live", source: "live" };
        market.take({ type: "hello", epoch: 7, seq: null, time: wall, status, symbols: [{ symbol: "C", state: "asked" }] }, 0);
        const trade = (symbol, seq, price, at) => market.take(
            { type: "trade", symbol, seq, price, size: "1", time: wall + at, received: (wall + at) * 1000 }, at);
        const bar = (minutes, close, incomplete = false) => ({ start: wall + minutes * minute, close, incomplete });
        const asked = [];
        let isOpen = true;
        let shown = 0;
        const earlier = new Earlier(market, {
            ask: (target) => new Promise((answer) => asked.push({ target, answer })),
            isOpen: () => isOpen, changed: () => { shown += 1; },
        });
        const turn = () => new Promise((done) => setImmediate(done));
        const short = (target) => target.replace(/(from|to)=([0-9]+)/g, (_, name, at) => `${name}=${(at - wall) / minute}`);
        const answer = async (bars) => {
            const { target, answer } = asked.shift();
            console.log(short(target));
            answer(bars === null ? null : { bars });
            await turn();
        };
        const base = (name, now) => Object.values(market.base(market.symbols.get(name), now)).join();
        const trend = (name) => market.symbols.get(name).trend.minutes
            .map(({ start, price }) => `${(start - wall) / minute}:${price}`).join(" ");
        // In minutes, too.
        const picture = (name) => market.symbols.get(name).trend.shown
            .map(({ start, price }) => `${((start - wall) / minute).toFixed(1)}:${price}`).join(" ");
        let now = 0;
        Object.defineProperty(performance, "now", { value: () => now });
        const tick = async (at) => {
            now = at;
            earlier.tick(at);
            await turn();
        };

        """

    @Test("each symbol is asked for as it comes, one request after another, and not again within a minute")
    func asked() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                earlier.connected();
                trade("A", 1, "5", 1_000);
                await tick(1_000);
                await tick(1_250);
                console.log(asked.length);
                await answer([bar(-2, "3"), bar(-1, "4"), bar(0, "9")]);
                // So short a time is shown in parts of 10 s, from the relay's bars of a second.
                await answer([bar(-0.5, "2"), bar(-0.4, "1"), bar(0, "9")]);
                await answer([]);
                console.log(picture("A"));
                console.log(asked.length, trend("A"), shown);
                // One that is added later.
                trade("B", 2, "7", 30_000);
                await tick(30_000);
                await answer(null);
                await answer(null);
                await tick(60_000);
                console.log(asked.length, `${trend("B")}.`);
                await tick(90_000);
                await answer([bar(-1, "6")]);
                await answer([]);
                await answer([]);
                await tick(91_000);
                console.log(asked.length, trend("B"));
                // Minutes passed without a connection.
                isOpen = false;
                earlier.connected();
                trade("A", 3, "8", 200_000);
                await tick(200_000);
                console.log(asked.length);
                isOpen = true;
                await tick(200_250);
                await answer([bar(0, "6"), bar(2, "7"), bar(3, "1")]);
                await answer([bar(2, "7")]);
                await answer([]);
                console.log(asked.length, trend("A"));
                trade("A", 4, "9", 500_000);
                console.log(picture("A"));
                """
        )
        let around = "width=1m&from=-1446&to=-1379&limit=67"
        #expect(
            lines == [
                "1", "/v1/bars/A?width=1m&limit=60", "/v1/bars/A?width=1s&limit=600", "/v1/bars/A?\(around)",
                "-0.5:1 0.0:5", "0 -2:3 -1:4 0:5 2",
                "/v1/bars/B?width=1m&limit=60", "/v1/bars/B?\(around)", "0 0:7.",
                "/v1/bars/B?width=1m&limit=60", "/v1/bars/B?width=1s&limit=600",
                "/v1/bars/B?\(around.replacing("1446", with: "1445").replacing("1379", with: "1378"))",
                "0 -1:6 0:7", "0", "/v1/bars/A?width=1m&limit=60", "/v1/bars/A?width=1s&limit=600",
                "/v1/bars/B?width=1m&limit=60", "0 -2:3 -1:4 0:6 2:7 3:8",
                // From ten minutes on it is shown in minutes.
                "-2.0:3 -1.0:4 0.0:6 2.0:7 3.0:8 8.0:9",
            ]
        )
    }

    @Test(
        "a change is counted from the relay's price of 24 hours ago, asked for once an hour, else from the first"
    )
    func dayAgo() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                earlier.connected();
                trade("A", 1, "5", 0);
                console.log(base("A", 0));
                await tick(0);
                await answer([]);
                await answer([bar(-day - 4, "1"), bar(-day + 7, "2"), bar(-day + 8, "3", true), bar(-day + 9, "4"), null,
                    { start: wall - day * minute + 7 * minute, close: 5 }, bar(-day + 59, "6")]);
                // The price of a minute holds for five minutes without a trade. Where trades may be missing, it is unknown.
                const minutes = [0, 0.9, 1, 2, 7, 7.1, 8.1, 9.1, 13.9, 14, 59.5];
                for (const at of minutes) console.log(at, base("A", at * minute));
                await tick(59 * minute);
                console.log(asked.length);
                await tick(61 * minute);
                await answer([]);
                console.log(base("A", 61 * minute), asked.length);
                """
        )
        let session = "5,session"
        #expect(
            lines == [
                session, "/v1/bars/A?width=1m&limit=60", "/v1/bars/A?width=1m&from=-1446&to=-1379&limit=67",
                "0 1,24h", "0.9 1,24h", "1 1,24h", "2 \(session)", "7 \(session)",
                "7.1 2,24h", "8.1 \(session)", "9.1 4,24h", "13.9 4,24h",
                "14 4,24h", "59.5 6,24h", "0",
                "/v1/bars/A?width=1m&from=-1385&to=-1318&limit=67", "\(session) 0",
            ]
        )
    }

    @Test("the exchange's own price of 24 hours ago comes first, and then the relay is not asked for it")
    func venueDay() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                earlier.connected();
                trade("A", 1, "5", 0);
                market.take({ type: "venueDay", symbol: "A", open: "4.25", last: "5", received: wall * 1000 }, 0);
                await tick(0);
                await answer([]);
                console.log(base("A", 0), asked.length);
                await tick(6 * minute);
                await answer([bar(-day + 6, "9")]);
                console.log(base("A", 6.5 * minute));
                market.take({ type: "venueDay", symbol: "A", open: "4.5", last: "5", received: (wall + 7 * minute) * 1000 }, 7 * minute);
                console.log(base("A", 7 * minute));
                """
        )
        #expect(
            lines == [
                "/v1/bars/A?width=1m&limit=60", "4.25,24h 0",
                "/v1/bars/A?width=1m&from=-1440&to=-1373&limit=67", "9,24h", "4.5,24h",
            ]
        )
    }

    @Test("24 hours ago is by the clock of the trades, which in an old recording is not that of the wall")
    func replay() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                earlier.connected();
                market.take({ type: "trade", symbol: "A", seq: 1, price: "5", size: "1", time: wall - day * minute,
                    received: wall * 1000 }, 0);
                await tick(0);
                await answer([]);
                await answer([bar(-day, "5")]);
                console.log(base("A", 0));
                """
        )
        #expect(
            lines == [
                "/v1/bars/A?width=1m&limit=60", "/v1/bars/A?width=1m&from=-2886&to=-2819&limit=67",
                "5,session",
            ]
        )
    }
}

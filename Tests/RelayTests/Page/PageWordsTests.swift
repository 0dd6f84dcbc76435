import Testing
import TickertapeTesting

/// `words.js` and `market.js`, run by node.
@Suite(
    "The page's words for sources other than the market",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageWordsTests {
    private static let start = """
        import { freshness, marks, stateWords } from "./words.js";
        import { Market } from "./market.js";
        const status = (state, source, more) => ({
            type: "status", state, since: 1000, reason: null, source, file: null, speed: 1, certificateChecked: true, ...more,
        });
        const replay = (paused) => ({ type: "replay", start: 0, end: 9, at: 5, speed: 1, paused });
        const fresh = (state, source, paused = false, more = {}) => {
            const market = new Market();
            market.take({ type: "pong", time: 0 }, 0);
            market.take(status(state, source, more), 0);
            if (source !== "live") market.take(replay(paused), 0);
            const price = { symbol: "A", price: "1", size: "1", time: 1, received: 1000, seq: 1, trades: 1 };
            market.take({ type: "price", ...price }, 500);
            market.choose("A");
            return market;
        };
        const relay = { state: "open" };

        """

    @Test("are Playing, Paused and Ended, never Live nor in its colour, and the title names the source")
    func words() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                for (const source of ["live", "replay", "demo", "simulated"]) {
                    for (const [state, paused] of [["live", false], ["live", true], ["ended", true]]) {
                        const words = stateWords(fresh(state, source, paused), relay, 600);
                        console.log(source, words.level, words.word, words.title ?? "-");
                    }
                }
                console.log(marks(status("live", "simulated", { seed: "7", speed: 2 })).join());
                """
        )
        #expect(
            lines == [
                "live good Live -", "live good Live -", "live idle Ended -",
                "replay played Playing -", "replay warning Paused -", "replay idle Ended -",
                "demo played Playing Demo", "demo warning Paused -", "demo idle Ended -",
                "simulated played Playing Simulated", "simulated warning Paused -", "simulated idle Ended -",
                "Simulated at 2x · seed 7",
            ]
        )
    }

    @Test("say of the demo how to see the live market, as its relay says it")
    func demo() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                for (const source of ["demo", "live", "replay"]) {
                    console.log(stateWords(fresh("live", source, false, { reason: "start with --from venue" }), relay, 600).detail || "-");
                }
                """
        )
        #expect(lines == ["start with --from venue", "-", "-"])
    }

    @Test("an edge that is stale says why")
    func stale() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                for (const reason of ["no ingest has sent anything", undefined]) {
                    console.log(stateWords(fresh("stale", "live", false, { reason }), relay, 6500).detail);
                }
                """
        )
        #expect(lines == ["no trade for 6 s: no ingest has sent anything", "no trade for 6 s"])
    }

    @Test("show no volume without one from the relay, and start none in the middle of a session")
    func volume() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const market = fresh("live", "live", false);
                const say = () => console.log(market.symbol.volume, market.symbol.trades);
                const trade = (seq) => market.take({ type: "trade", symbol: "A", price: "1", size: "2", time: seq, received: 1000, seq }, 500);
                const price = { type: "price", symbol: "A", price: "1", size: "1", time: 9, received: 1000 };
                market.take({ ...price, seq: 2, trades: 2, volume: "5" }, 500);
                say();
                trade(3);
                say();
                market.take({ ...price, seq: 4, trades: 4, volume: null }, 500);
                say();
                trade(5);
                say();
                market.take({ type: "trade", symbol: "B", price: "1", size: "2", time: 1, received: 1000, seq: 6 }, 500);
                market.choose("B");
                say();
                """
        )
        #expect(lines == ["5 2", "7 3", "null 4", "null 5", "2 1"])
    }

    @Test("no price of a paused or ended replay is late or old, or ages after the end")
    func ages() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                for (const [state, paused] of [["live", false], ["live", true], ["ended", true]]) {
                    const market = fresh(state, "replay", paused);
                    for (const now of [1600, 3_600_000]) {
                        console.log(freshness(market.symbol, stateWords(market, relay, now)), market.age(market.symbol.arrival, now));
                    }
                }
                """
        )
        #expect(
            lines == ["fresh 1100", "late 3599500", "fresh 1100", "fresh 3599500", "fresh 500", "fresh 500"]
        )
    }

    @Test("treat a moved replay as no gap")
    func moves() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const market = fresh("live", "replay");
                const gap = { type: "gap", from: 1000, to: 9000, reason: "the replay was moved", nextSeq: 2, epoch: 1 };
                market.take({ ...gap, cause: "seek" }, 9000);
                console.log(market.symbol.gaps.all.length, market.tape[0].text);
                market.take({ ...gap, from: 10_000, to: 12_000, reason: "lost", cause: "lost" }, 9000);
                console.log(market.symbol.gaps.all.length, market.tape[0].text);
                """
        )
        #expect(lines == ["0 the replay was moved", "1 gap of 2 s: lost"])
    }

    @Test("are said to a screen reader when they change, and the selected price every 12 s")
    func announced() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { Announcer } from "./announcer.js";
            const heard = [];
            const announcer = new Announcer((text) => heard.push(text));
            const live = { word: "Live", detail: "", level: "good" };
            const late = { word: "Late", detail: "no trade for 4 s", level: "warning" };
            let price = 60_000;
            // A price every 100 ms.
            const play = (words, from, to) => {
                for (let now = from; now < to; now += 100) {
                    const before = heard.length;
                    announcer.take(words, { name: "A", price: String(price += 1), decimals: 2 }, now);
                    if (heard.length > before) console.log(now, heard.at(-1));
                }
            };
            play(live, 500, 40_000);
            play(late, 40_000, 60_000);
            play(live, 60_000, 61_000);
            play(late, 61_000, 62_000);
            play(live, 62_000, 70_000);
            announcer.take(live, { name: "A", price: String(price), decimals: 2 }, 90_000);
            announcer.take(live, { name: "A", price: String(price), decimals: 2 }, 110_000);
            announcer.take(live, null, 130_000);
            console.log(heard.length);
            """
        )
        #expect(
            lines == [
                "500 Live", "12000 A 60,116.00", "24000 A 60,236.00", "36000 A 60,356.00",
                "40000 Late, no trade for 4 s",
                "60000 Live", "60100 A 60,597.00", "8",
            ]
        )
    }
}

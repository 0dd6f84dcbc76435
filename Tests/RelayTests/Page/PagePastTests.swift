import Foundation
import Page
import Testing
import TickertapeTesting

let pageNode = ["/usr/bin/node", "/usr/local/bin/node"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// The page's files, run by node.
@Suite(
    "The page's handling of history, replays and numbers",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PagePastTests {
    /// Returns the output of a script that can use the exports of these files.
    func printed(_ script: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for file in PageFiles.all where file.path.hasSuffix(".js") {
            let name = String(file.path.dropFirst("/page/".count))
            _ = try folder.write(String(decoding: file.bytes, as: UTF8.self), to: name)
        }
        _ = try folder.write(#"{"type":"module"}"#, to: "package.json")
        let path = try folder.write(script, to: "script.js")
        let program = try RunningProgram(try #require(pageNode), [path])
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        return program.output.split(separator: "\n").map(String.init)
    }

    @Test("adds only this run's trades to the tape, since earlier runs number theirs separately")
    func earlierRun() async throws {
        let lines = try await self.printed(
            """
            import { Market } from "./market.js";
            const s = 30_000_000 * 60_000;
            const trade = (seq, at, epoch) => ({ ...epoch, seq, price: "2", size: "1", time: s + at, received: (s + at) * 1000 });
            const market = new Market();
            market.take({ type: "hello", epoch: 2, seq: 5, status: { source: "live" }, symbols: [] }, 0);
            market.choose("A");
            market.take({ ...trade(1, 60_000), type: "snapshot", symbol: "A", age: 0, trades: 1 }, 0);
            market.expectHistory("A");
            market.take({ ...trade(2, 61_000), type: "trade", symbol: "A" }, 0);
            const old = [trade(900, 0, { epoch: 1 }), trade(901, 1_000, { epoch: 1 })];
            market.takeHistory("A", { epoch: 2, trades: [...old, trade(1, 60_000)] });
            console.log(...market.tape.filter((row) => row.kind === "trade").map((row) => row.seq));
            """
        )
        #expect(lines == ["2 1"])
    }

    @Test("shows no lateness during a pause of a replay, and counts the silence on when it is resumed")
    func paused() async throws {
        let lines = try await self.printed(
            """
            import { Market } from "./market.js";
            import { stateWords } from "./words.js";
            const market = new Market();
            const say = (now) => {
                const { word, detail, level } = stateWords(market, { state: "open" }, now);
                console.log(word, detail, level);
            };
            const replay = (paused) => ({ type: "replay", start: 0, end: 9, at: 5, percent: 50, speed: 1, paused });
            const trade = { symbol: "A", price: "2", size: "1", time: 300, received: 345000, seq: 5, trades: 1 };
            const status = { state: "live", source: "replay", since: 0 };
            market.take({ type: "hello", epoch: 1, seq: 5, time: 0, status, replay: replay(false), symbols: [] }, 0);
            market.take({ ...trade, type: "price" }, 0);
            say(1_000);
            say(9_000);
            market.take(replay(true), 1_000);
            say(60_000);
            market.take(replay(false), 61_000);
            say(63_000);
            say(70_000);
            market.take({ type: "hello", epoch: 1, seq: 5, time: 0, status, replay: replay(true), symbols: [] }, 71_000);
            say(90_000);
            // It was late before the pause.
            for (const state of ["late", "stale"]) {
                market.take({ type: "status", ...status, state }, 91_000);
                say(92_000);
            }
            market.take({ type: "status", ...status }, 93_000);
            market.take(replay(false), 100_000);
            say(101_000);
            // Several pauses.
            for (let at = 110_000; at < 1_110_000; at += 10_000) {
                market.take(replay(true), at);
                market.take(replay(false), at + 10_000);
            }
            say(1_110_000);
            // The pause has lasted for an hour when the page is opened.
            const other = new Market();
            const symbols = [{ ...trade, age: 3_600_000 }];
            other.take({ type: "hello", epoch: 1, seq: 5, time: 0, status, replay: replay(true), symbols }, 0);
            other.take(replay(false), 10_000);
            console.log(stateWords(other, { state: "open" }, 11_000).word, other.silence(11_000));
            """
        )
        #expect(
            lines == [
                "Playing  played", "Late no trade for 9 s warning", "Paused  warning", "Playing  played",
                "Late no trade for 10 s warning", "Paused  warning", "Paused  warning", "Paused  warning",
                "Late no trade for 12 s warning", "Late no trade for 21 s warning", "Playing 1000",
            ]
        )
    }

    @Test("writes all prices of a symbol with the decimals of the longest, and removes no digit")
    func decimals() async throws {
        let lines = try await self.printed(
            """
            import { change, grouped } from "./decimal.js";
            import { Market } from "./market.js";
            console.log(grouped("61837.6", 2), grouped("61837.625", 2), grouped("7", 0), grouped("7", 1), grouped("-", 2), grouped(null, 2));
            console.log(change("2.5", "2", 3).text, change("2", "2", 1).text, change("1.9999", "2", 2).text);
            const market = new Market();
            market.choose("A");
            const trade = (seq, price) => market.take({ type: "trade", symbol: "A", seq, price, size: "1", time: seq, received: seq * 1000 }, 0);
            trade(1, "100.5");
            trade(2, "100.25");
            trade(3, "101");
            console.log(grouped(market.symbol.price, market.symbol.decimals), grouped(market.symbol.open, market.symbol.decimals));
            """
        )
        #expect(
            lines == ["61,837.60 61,837.625 7 7.0 - –", "+0.500 ±0.0 −0.0001", "101.00 100.50"]
        )
    }

    @Test("shows the price of a trade with a future time, and does not take later trades for late")
    func ahead() async throws {
        let lines = try await self.printed(
            """
            import { Market } from "./market.js";
            const market = new Market();
            const trade = (symbol, seq, price, time, more) => {
                const received = 1_000_000 * seq;
                market.take({ type: "trade", symbol, seq, price, size: "1", time, received, ...more }, 0);
                const { price: shown, time: at } = market.symbols.get(symbol);
                console.log(shown, at);
            };
            trade("A", 1, "100", 900);
            trade("A", 2, "105", 8_900, { ahead: true });
            trade("A", 3, "101", 2_900);
            trade("B", 4, "5", 12_000, { ahead: true });
            trade("B", 5, "6", 3_990);
            trade("B", 6, "7", 3_980);
            """
        )
        #expect(lines == ["100 900", "105 900", "101 2900", "5 4000", "6 3990", "6 3990"])
    }

    @Test("subtracts all pauses of a replay from an age, including those before the page was opened")
    func pauses() async throws {
        let lines = try await self.printed(
            """
            import { Pauses } from "./pauses.js";
            const one = new Pauses();
            one.take(false, 10);
            one.take(true, 100, -Infinity);
            one.take(true, 150);
            one.take(false, 200);
            one.take(true, 300);
            console.log(one.after(50), one.after(180), one.after(250));
            one.take(false, 340);
            console.log(one.after(50), one.after(250), one.after(400));
            const many = new Pauses();
            for (let at = 0; at < 100_000; at += 100) {
                many.take(true, at);
                many.take(false, at + 10);
            }
            console.log(many.after(0), many.past.length);
            """
        )
        #expect(lines == ["150 20 0", "190 40 0", "10000 32"])
    }
}

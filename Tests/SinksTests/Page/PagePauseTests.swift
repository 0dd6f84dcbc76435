import Foundation
import Page
import Testing
import TickertapeTesting

private let node = ["/usr/bin/node", "/usr/local/bin/node"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// The page's files as node runs them.
@Suite(
    "The page's words",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: node != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PagePauseTests {
    /// What a script prints that can use what these files export.
    private func printed(_ script: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for file in PageFiles.all where file.path.hasSuffix(".js") {
            let name = String(file.path.dropFirst("/page/".count))
            _ = try folder.write(String(decoding: file.bytes, as: UTF8.self), to: name)
        }
        _ = try folder.write(#"{"type":"module"}"#, to: "package.json")
        let path = try folder.write(script, to: "script.js")
        let program = try RunningProgram(try #require(node), [path])
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        return program.output.split(separator: "\n").map(String.init)
    }

    @Test("of a replay that stands still says no word of late, and begins its silence anew when it goes on")
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
            """
        )
        #expect(
            lines == [
                "Playing  good", "Late no trade for 9 s warning", "Paused  good", "Playing  good",
                "Late no trade for 9 s warning", "Paused  good",
            ]
        )
    }
}

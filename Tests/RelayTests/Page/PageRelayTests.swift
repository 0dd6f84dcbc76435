import Testing
import TickertapeTesting

/// `relay.js`, run by node with a WebSocket that the test plays.
@Suite(
    "The page's connection",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageRelayTests {
    private static let start = """
        import { RelayConnection } from "./relay.js";
        let socket = null;
        globalThis.location = { protocol: "http:", host: "a:1" };
        globalThis.WebSocket = class {
            static OPEN = 1;
            constructor() { socket = this; }
            send() {}
            close() { this.isShut = true; }
        };
        let now = 0;
        Object.defineProperty(performance, "now", { value: () => now });
        const seen = [];
        let asked = 0;
        const message = ({ type, seq }, at) => seen.push(`${type}${seq ?? ""}@${at}`);
        const waits = { message, changed: () => {}, interrupted: () => {}, waiting: () => { asked += 1; } };
        const said = () => { console.log(`${seen.splice(0).join(" ")}.`, asked); };
        const get = (at, value) => {
            now = at;
            socket.onmessage({ data: typeof value === "string" ? value : JSON.stringify(value) });
        };
        const trade = (seq) => ({ type: "trade", seq });

        """

    @Test("handles the greeting at once, and other messages in their order when they are taken, with their arrivals")
    func waiting() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const relay = new RelayConnection(waits);
                relay.connect();
                get(1, { type: "hello" });
                said();
                for (let at = 2; at < 5; at += 1) get(at, trade(at));
                said();
                relay.take();
                said();
                get(6, trade(6));
                relay.tick(7);
                said();
                for (let at = 0; at < 256; at += 1) get(10, trade(at));
                console.log(seen.length, seen.at(-1), asked);
                // A connection without the hook waits for nothing.
                const { waiting, ...none } = waits;
                const other = new RelayConnection(none);
                other.connect();
                get(20, { type: "hello" });
                seen.length = 0;
                get(21, trade(1));
                said();
                """
        )
        #expect(
            lines == [
                "hello@1. 0", ". 3", "trade2@2 trade3@3 trade4@4. 3", "trade6@6. 4", "256 trade255@10 259",
                "trade1@21. 259",
            ]
        )
    }

    @Test("handles what waits before it notices an end, and nothing behind a message that ends the connection")
    func ends() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const relay = new RelayConnection(waits);
                const open = () => {
                    relay.connect();
                    get(now + 1, { type: "hello" });
                    seen.length = 0;
                };
                open();
                get(10, trade(1));
                socket.onclose({ code: 1006, reason: "" });
                said();
                console.log(relay.state, relay.reason);
                open();
                get(20, trade(2));
                get(21, "{");
                get(22, trade(3));
                relay.take();
                said();
                console.log(relay.state, relay.reason, relay.attempt, socket.isShut);
                open();
                get(30, trade(4));
                get(31, "{");
                socket.onclose({ code: 1006, reason: "" });
                said();
                console.log(relay.state, relay.reason, relay.attempt);
                """
        )
        #expect(
            lines == [
                "trade1@10. 1", "waiting the connection was lost", "trade2@20. 4",
                "waiting the relay sent invalid JSON 2 true", "trade4@30. 6",
                "waiting the relay sent invalid JSON 3",
            ]
        )
    }
}

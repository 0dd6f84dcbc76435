// Runs the JavaScript client for kit.py: prints its events, one JSON object a line, until standard input ends.
// usage: node driver.mjs URL OPTIONS_JSON
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Tickertape } from "../javascript/tickertape.mjs";

/** The class of the package ws, also where Debian's node-ws puts it; without that the class of node 22. */
function webSocket() {
    for (const name of ["ws", "/usr/share/nodejs/ws"]) {
        try {
            return createRequire(import.meta.url)(name);
        } catch (error) {
            if (error.code !== "MODULE_NOT_FOUND") throw error;
        }
    }
    return globalThis.WebSocket;
}

/** Prints an event; a BigInt becomes a number. */
function print(event) {
    const text = JSON.stringify(event, (_, value) => (typeof value === "bigint" ? `\u0000${value}\u0000` : value));
    process.stdout.write(`${text.replace(/"\\u0000(-?\d+)\\u0000"/g, "$1")}\n`);
}

const options = JSON.parse(process.argv[3] ?? "{}", (_, value) => value ?? undefined);
const client = new Tickertape(process.argv[2], { WebSocket: webSocket(), ...options });
client.start((event) => {
    print(event);
    if (event.event === "failed") process.exitCode = 3;
    if (event.event === "failed") process.stdin.destroy();
});

const end = async () => {
    await client.close();
    process.exit();
};
process.on("SIGTERM", end);
createInterface({ input: process.stdin }).on("close", end).on("line", (line) => {
    const { do: what, symbol, symbols } = JSON.parse(line);
    if (what === "age") print({ event: "age", symbol, ms: client.age(symbol) });
    if (what === "subscribe") client.subscribe(...symbols);
    if (what === "unsubscribe") client.unsubscribe(...symbols);
});

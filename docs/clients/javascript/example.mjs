// Prints the prices of symbols, and where trades may be missing. usage: node example.mjs URL SYMBOL...
import { createRequire } from "node:module";
import { Tickertape } from "./tickertape.mjs";

// Node 22 and browsers have a WebSocket; on node 18 and 20 a package has one.
const WebSocket = globalThis.WebSocket ?? createRequire(import.meta.url)("ws");
const [url, ...symbols] = process.argv.slice(2);
for await (const event of new Tickertape(url, { symbols, WebSocket })) {
    if (event.event === "price") console.log(event.symbol, event.price);
    if (event.event === "gap") console.log("gap:", event.reason);
}

// The page at /: the reference client of /v1/stream. This file connects the parts of the others.

import { Earlier } from "./earlier.js";
import { Finding } from "./finding.js";
import { BarHistory } from "./history.js";
import { Holdings } from "./holdings.js";
import { offerKeys } from "./keys.js";
import { Market } from "./market.js";
import { offerTheme, offerZone } from "./preferences.js";
import { RelayConnection } from "./relay.js";
import { Room } from "./room.js";
import { Screen } from "./screen.js";
import { Search } from "./search.js";
import { Selection } from "./selection.js";
import { offerToken } from "./token.js";
import { isRefused, isWrong } from "./words.js";

const historyLength = 200;

const market = new Market();
const relay = new RelayConnection({
    message: received,
    changed: () => {
        screen?.ask();
        room.update();
    },
    interrupted: () => {},
    waiting: () => screen.ask(),
});
let screen = null;
let takeZone = null;
const history = new BarHistory({
    ask: (target) => ask(target, 10_000), send: (request) => relay.send(request), changed: () => screen.pane.ask(),
});
const earlier = new Earlier(market, {
    ask: (target) => ask(target, 10_000), isOpen: () => relay.state === "open", changed: () => screen.ask(),
});
const holdings = new Holdings(market);
const room = new Room(relay);
const selection = new Selection(market, relay, {
    chosen: (name) => {
        if (name === null) history.choose(null);
        else room.choose(name);
        screen.ask();
    },
    loaded: (name) => {
        history.choose(name);
        fetchHistory(name);
    },
    asked: () => screen.ask(),
    refused: fetchMeant,
});
screen = new Screen(market, relay, history, holdings, {
    remove: (name) => {
        selection.remove(name);
        screen.ask();
    },
    missing: (now) => selection.missing(now),
});

// Messages

function received(message, now) {
    if (message.type === "bar") return history.take(message);
    const since = message.type === "hello" ? market.since : null;
    market.take(message, now);
    const symbol = market.symbols.get(message.symbol);
    switch (message.type) {
    case "hello":
        begin(since);
        break;
    case "error":
        // A wrong symbol says so in its row.
        if (!isRefused({ state: message.code })) document.getElementById("add-note").textContent = String(message.msg ?? "");
        break;
    case "trade":
        if (symbol === market.symbol && message.filled !== true && message.ahead !== true) history.touch(message);
        break;
    case "symbol":
        if (symbol !== undefined && isWrong(symbol)) selection.refuse(symbol);
        else selection.chooseFirst();
        break;
    case "snapshot": case "price":
        selection.arrived(message.symbol);
        break;
    }
    screen.ask();
}

/** Subscribes to what the page shows: every symbol with its newest price, the chosen one with every trade. */
function begin(since) {
    const isFirst = market.chosen === null;
    earlier.connected();
    if (!isFirst) {
        // First, so that its missed trades precede the newest prices of all symbols.
        const request = { type: "subscribe", symbol: market.chosen, delivery: "all" };
        if (since !== null) request.since = since;
        market.isCatchingUp = since !== null;
        relay.send(request);
        history.connected();
        if (since === null) fetchHistory(market.chosen);
        room.choose(market.chosen);
    }
    // Without a symbol and a delivery, the request changes no existing subscription.
    relay.send({ type: "subscribe" });
    for (const symbol of market.symbols.values()) {
        if (symbol.isOurs && symbol.name !== market.chosen) relay.send({ type: "subscribe", symbol: symbol.name });
    }
    if (isFirst) selection.wantNamed();
    ask("/v1/holdings", 10_000).then((answer) => {
        holdings.take(answer);
        if (answer !== null) takeZone(answer.timeZone ?? null);
        screen.ask();
    });
    ask("/v1/status", 10_000).then((status) => {
        room.offer(status);
        market.takeOutcomes(status);
        market.takeSymbols(status);
        selection.isArranged = true;
        selection.chooseFirst();
        screen.ask();
    });
}

/** Loads the history of a symbol: the relay's stored trades for the tape, and the gaps. */
async function fetchHistory(name) {
    // A symbol that never traded has no history.
    if ((market.symbols.get(name)?.seq ?? null) === null) return;
    market.expectHistory(name);
    const [trades, status] = await Promise.all([
        ask(`/v1/trades/${encodeURIComponent(name)}?limit=${historyLength}`, 10_000),
        // The trades wait for the gaps only briefly.
        ask("/v1/status", 2_500),
    ]);
    market.takeHistory(name, trades, status);
    screen.ask();
}

/** Loads what was probably meant by wrong symbols. */
async function fetchMeant() {
    market.takeSymbols(await ask("/v1/status", 10_000));
    screen.ask();
}

/** Returns the relay's response within `limit` ms, or null; without it the chart begins later. */
async function ask(target, limit) {
    // In the order in which they came: what is older than the request, the rest, and then the answer.
    relay.take();
    const answer = await answered(target, limit);
    relay.take();
    return answer;
}

async function answered(target, limit) {
    try {
        const response = await fetch(target, {
            headers: relay.token === null ? {} : { Authorization: `Bearer ${relay.token}` },
            signal: AbortSignal.timeout(limit),
        });
        return response.ok ? await response.json() : null;
    } catch {
        return null;
    }
}

// Time

document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
});
document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    relay.tick(performance.now());
    relay.wake();
    screen.ask();
});
window.addEventListener("online", () => relay.wake());
window.addEventListener("pageshow", () => relay.wake());
setInterval(() => {
    const now = performance.now();
    relay.tick(now);
    room.tick(now);
    if (!document.hidden) earlier.tick(now);
    screen.tick(now);
}, 250);

takeZone = offerZone(screen);
offerTheme(screen);
offerToken(relay);
relay.connect();
const finding = new Finding(relay);
new Search(() => finding.search);
offerKeys();

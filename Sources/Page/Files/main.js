// The page at /: the reference client of /v1/stream. This file connects the parts of the others.

import { Finding } from "./finding.js";
import { BarHistory } from "./history.js";
import { Holdings } from "./holdings.js";
import { Market } from "./market.js";
import { RelayConnection } from "./relay.js";
import { Room } from "./room.js";
import { addressOf } from "./rows.js";
import { Screen } from "./screen.js";
import { isRefused } from "./words.js";
import { useZone } from "./zone.js";

const tokenKey = "tickertape.token";
const themeKey = "tickertape.theme";
const zoneKey = "tickertape.zone";
const historyLength = 200;
const mostTrends = 64;

const market = new Market();
const relay = new RelayConnection({
    message: received,
    changed: () => {
        screen?.ask();
        room.update();
    },
    interrupted: () => {},
});
let screen = null;
const history = new BarHistory({
    ask: (target) => ask(target, 10_000), send: (request) => relay.send(request), changed: () => screen.pane.ask(),
});
const holdings = new Holdings(market);
screen = new Screen(market, relay, history, holdings, { remove });
const room = new Room(relay);
/** The symbol that is selected once the market is known to have it; null for none. */
let wanted = null;
/** Whether the order of the settings is known, of which the first symbol is selected. */
let isArranged = false;

// The chosen symbol

function hashSymbol() {
    try {
        return decodeURIComponent(location.hash.slice(1)).trim();
    } catch {
        return ""; // the hash is not UTF-8
    }
}

/**
 * Selects a symbol if the relay has it. Another one is asked for first: it is selected with its first price, and never if
 * the market does not know it.
 */
function want(name) {
    wanted = null;
    if (name === "" || name === market.chosen) return;
    const symbol = market.symbols.get(name);
    if (symbol !== undefined && !isWrong(symbol)) return choose(name);
    wanted = name;
    if (symbol === undefined && market.add(name) === null) wanted = null; // the limit of symbols is reached
    else if (relay.state === "open") relay.send({ type: "subscribe", symbol: name });
    screen.ask();
}

const isWrong = (symbol) => isRefused(symbol) && symbol.price === null;

/** Shows another symbol with every trade; the previous one continues with its newest price. */
function choose(name) {
    const before = market.chosen;
    if (name === before) return;
    market.choose(name);
    if (location.hash !== addressOf(name)) window.history.replaceState(null, "", addressOf(name));
    if (relay.state === "open") {
        // Naming a released symbol would subscribe to it again.
        if (before !== null && !["released", undefined].includes(market.symbols.get(before)?.state)) {
            relay.send({ type: "subscribe", symbol: before, delivery: "latest" });
        }
        relay.send({ type: "subscribe", symbol: name, delivery: "all" });
        history.choose(name);
        fetchHistory(name);
    }
    room.choose(name);
    screen.ask();
}

/** Selects the first symbol of the settings that is not wrong, if none is selected. */
function chooseFirst() {
    if (market.chosen !== null || !isArranged) return;
    const first = [...market.symbols.values()].find((symbol) => symbol.name !== wanted && !isWrong(symbol));
    if (first !== undefined) choose(first.name);
}

/** Leaves a symbol that turns out to be wrong; its row says why. */
function refuse(symbol) {
    if (symbol.name === wanted) wanted = null;
    if (symbol.name === market.chosen) {
        market.choose(null);
        history.choose(null);
        chooseFirst();
    }
    const address = market.chosen === null ? location.pathname : addressOf(market.chosen);
    if (hashSymbol() === symbol.name) window.history.replaceState(null, "", address);
    // The status has what was probably meant.
    ask("/v1/status", 10_000).then((status) => {
        market.takeSymbols(status);
        screen.ask();
    });
}

function remove(name) {
    if (name === market.chosen) return;
    if (name === wanted) wanted = null;
    relay.send({ type: "unsubscribe", symbol: name });
    market.forget(name);
    screen.ask();
}

window.addEventListener("hashchange", () => want(hashSymbol()));

document.getElementById("add-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("add");
    const name = field.value.trim();
    const note = document.getElementById("add-note");
    note.textContent = "";
    if (name === "") return;
    if (new TextEncoder().encode(name).length > 64) {
        note.textContent = "A symbol has 64 bytes at most.";
        return;
    }
    field.value = "";
    want(name);
});

// Messages

function received(message, now) {
    if (message.type === "bar") return history.take(message);
    const since = market.since;
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
        if (symbol !== undefined && isWrong(symbol)) refuse(symbol);
        else chooseFirst();
        break;
    case "snapshot": case "price":
        if (message.symbol === wanted) want(wanted);
        // The page was opened before there was any symbol.
        else chooseFirst();
        break;
    }
    screen.ask();
}

/** Subscribes to what the page shows: every symbol with its newest price, the chosen one with every trade. */
function begin(since) {
    const named = market.chosen === null ? hashSymbol() : "";
    if (market.chosen !== null) {
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
    want(named);
    ask("/v1/holdings", 10_000).then((answer) => {
        holdings.take(answer);
        screen.ask();
    });
    ask("/v1/status", 10_000).then((status) => {
        room.offer(status);
        market.takeOutcomes(status);
        market.takeSymbols(status);
        isArranged = true;
        chooseFirst();
        screen.ask();
        fetchTrends();
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

/** Loads the last hour of each symbol for its row, one after another. */
async function fetchTrends() {
    for (const { name, seq, trend } of [...market.symbols.values()].slice(0, mostTrends)) {
        if (seq === null || relay.state !== "open") continue;
        const answer = await ask(`/v1/bars/${encodeURIComponent(name)}?width=1m&limit=60`, 10_000);
        trend.takeEarlier(answer?.bars);
        screen.ask();
    }
}

/** Returns the relay's response within `limit` ms, or null; without it the chart begins later. */
async function ask(target, limit) {
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

// The token, stored for this tab only

try {
    relay.token = sessionStorage.getItem(tokenKey);
} catch {
    // A browser without storage asks for the token again.
}

document.getElementById("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("token");
    const token = field.value.trim();
    if (token === "") return;
    field.value = "";
    try {
        sessionStorage.setItem(tokenKey, token);
    } catch {
        // As above.
    }
    relay.useToken(token);
});

// Colours

const themes = ["auto", "light", "dark"];
const glyphs = { auto: "◐", light: "○", dark: "●" };
const themeButton = document.getElementById("theme");

function showTheme() {
    const theme = document.documentElement.dataset.theme;
    const word = theme[0].toUpperCase() + theme.slice(1);
    document.getElementById("theme-glyph").textContent = glyphs[theme];
    document.getElementById("theme-word").textContent = word;
    themeButton.setAttribute("aria-label", `Colours: ${theme === "auto" ? "as the system" : theme}`);
    screen.readColours();
}

themeButton.addEventListener("click", () => {
    const theme = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
    document.documentElement.dataset.theme = theme;
    try {
        localStorage.setItem(themeKey, theme);
    } catch {
        // Without storage the theme lasts for this visit.
    }
    showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);

// The zone of the times

const zoneChoice = document.getElementById("zone");
zoneChoice.options[0].textContent = `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone ?? "this browser's"})`;

function showZone() {
    useZone(zoneChoice.value);
    screen.readZone();
}

try {
    if (localStorage.getItem(zoneKey) === "utc") zoneChoice.value = "utc";
} catch {
    // Without storage the times are the browser's.
}
zoneChoice.addEventListener("change", () => {
    try {
        localStorage.setItem(zoneKey, zoneChoice.value);
    } catch {
        // As above.
    }
    showZone();
});

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
    screen.tick(now);
}, 250);

showZone();
showTheme();
relay.connect();
new Finding(relay);

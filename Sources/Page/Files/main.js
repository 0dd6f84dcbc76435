// The page at /: the reference client of /v1/stream. This file connects the parts of the others.

import { Finding } from "./finding.js";
import { Market } from "./market.js";
import { RelayConnection } from "./relay.js";
import { Room } from "./room.js";
import { Screen } from "./screen.js";

const tokenKey = "tickertape.token";
const themeKey = "tickertape.theme";
const historyLength = 2000;
// The chart's data for the time before those trades: bars of a second, and before them bars of a minute.
const earlierBars = ["width=1s&limit=600", "width=1m&limit=120"];

const market = new Market();
const relay = new RelayConnection({
    message: received,
    changed: () => {
        screen?.ask();
        room.update();
    },
    interrupted: (lastMessageAt) => { lostAt = lastMessageAt; },
});
/** When the last open connection received its last message; null when no interruption must be marked. */
let lostAt = null;
let screen = null;
screen = new Screen(market, relay, { remove });
const room = new Room(relay);

// The chosen symbol

function hashSymbol() {
    try {
        return decodeURIComponent(location.hash.slice(1)).trim();
    } catch {
        return ""; // the hash is not UTF-8
    }
}

/** Shows another symbol with every trade; the previous one continues with its newest price. */
function choose(name) {
    if (name === "" || name === market.chosen) return;
    const before = market.chosen;
    const isNew = !market.symbols.has(name);
    const symbol = market.choose(name);
    if (symbol === null) return; // the limit of symbols is reached
    if (isNew) {
        symbol.isOurs = true;
        symbol.state = "asked";
    }
    if (relay.state === "open") {
        // Naming a released symbol would subscribe to it again.
        if (before !== null && market.symbols.get(before)?.state !== "released") {
            relay.send({ type: "subscribe", symbol: before, delivery: "latest" });
        }
        relay.send({ type: "subscribe", symbol: name, delivery: "all" });
        fetchHistory(name);
    }
    room.choose(name);
    screen.ask();
}

function remove(name) {
    if (name === market.chosen) return;
    relay.send({ type: "unsubscribe", symbol: name });
    market.forget(name);
    screen.ask();
}

window.addEventListener("hashchange", () => choose(hashSymbol()));

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
    location.hash = encodeURIComponent(name).replaceAll("%3A", ":");
});

// Messages

function received(message, now) {
    const since = market.since;
    if (message.type === "hello" && lostAt !== null) {
        const wall = market.wall(now);
        // For other symbols only the newest price arrives again, so their lines get a gap. The trades of the chosen one
        // are resent.
        market.missed(wall - (now - lostAt), wall, market.chosen);
        lostAt = null;
    }
    market.take(message, now);
    switch (message.type) {
    case "hello":
        begin(since);
        break;
    case "error":
        document.getElementById("add-note").textContent = String(message.msg ?? "");
        break;
    case "snapshot": case "price": case "trade": case "symbol":
        // The page was opened before there was any symbol.
        if (market.chosen === null && hashSymbol() === "") choose(message.symbol);
        break;
    }
    screen.ask();
}

/** Subscribes to what the page shows: every symbol with its newest price, the chosen one with every trade. */
function begin(since) {
    ask("/v1/status", 10_000).then((status) => {
        room.offer(status);
        market.takeOutcomes(status);
        screen.ask();
    });
    if (market.chosen === null) {
        const name = hashSymbol() || [...market.symbols.keys()].sort()[0];
        if (name !== undefined) {
            const isNew = !market.symbols.has(name);
            const symbol = market.choose(name);
            if (symbol !== null && isNew) symbol.isOurs = true;
        }
    }
    if (market.chosen !== null) {
        // First, so that its missed trades precede the newest prices of all symbols.
        const request = { type: "subscribe", symbol: market.chosen, delivery: "all" };
        if (since !== null) request.since = since;
        market.isCatchingUp = since !== null;
        relay.send(request);
        if (since === null) fetchHistory(market.chosen);
        room.choose(market.chosen);
    }
    // Without a symbol and a delivery, the request changes no existing subscription.
    relay.send({ type: "subscribe" });
    for (const symbol of market.symbols.values()) {
        if (symbol.isOurs && symbol.name !== market.chosen) relay.send({ type: "subscribe", symbol: symbol.name });
    }
}

/**
 * Loads the history of a symbol: the relay's stored trades for the tape and the chart, its bars and gaps for the chart.
 */
async function fetchHistory(name) {
    // A symbol that never traded has no history.
    if ((market.symbols.get(name)?.seq ?? null) === null) return;
    market.expectHistory(name);
    const place = encodeURIComponent(name);
    const [trades, status, ...bars] = await Promise.all([
        ask(`/v1/trades/${place}?limit=${historyLength}`, 10_000),
        // The trades wait for the gaps and bars only briefly.
        ask("/v1/status", 2_500),
        ...earlierBars.map((query) => ask(`/v1/bars/${place}?${query}`, 2_500)),
    ]);
    market.takeHistory(name, trades, bars, status);
    screen.ask();
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
    screen.chart.readColours();
    screen.ask();
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

showTheme();
relay.connect();
new Finding(relay);

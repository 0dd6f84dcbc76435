// The state from the relay's messages: the status of the feed, the newest figures of each symbol, and the tape of the
// chosen one.

import { changeBase, newestDay } from "./changes.js";
import { reportedGaps, reportedOutcomes } from "./past.js";
import { Pauses } from "./pauses.js";
import { SymbolFigures } from "./symbol.js";
import { Tape } from "./tape.js";
import { lostCount } from "./words.js";

const mostSymbols = 500;
// A trade whose time is farther from its arrival than this is of an old recording, ms.
const foreignAfter = 3_600_000;

export class Market {
    constructor() {
        this.symbols = new Map();
        this.status = null;
        this.version = null;
        this.epoch = null;
        this.chosen = null;
        this.tapeOfChosen = new Tape();
        // When the newest trade of any symbol arrived, by `performance.now()`.
        this.newestArrival = null;
        // The position of a replay, if it is one, and its pauses.
        this.replay = null;
        this.pauses = new Pauses();
        // The relay's wall clock minus `performance.now()`, ms.
        this.clockOffset = null;
        this.isCatchingUp = false;
        // The run of the arriving trades' numbers: while catching up it can be an earlier one.
        this.runOfTrades = null;
        this.historyOf = null;
    }

    /** Returns the relay's wall clock, ms since 1970. */
    wall(now) { return this.clockOffset === null ? Date.now() : now + this.clockOffset; }

    /**
     * Returns the end of the time that has passed on the chart, whose bars are of the exchange's clock. For an old
     * recording that clock is elsewhere, and stands between two trades.
     */
    chartTime(symbol, now) {
        if (symbol.time === null || symbol.arrival === null) return this.wall(now);
        const isForeign = Math.abs(symbol.time - this.wall(symbol.arrival)) > foreignAfter;
        return isForeign || this.status?.state === "ended" ? symbol.time : this.wall(now);
    }

    /** The newest trades of the chosen symbol with notes between them, the newest first. */
    get tape() { return this.tapeOfChosen.rows; }

    get symbol() { return this.symbols.get(this.chosen) ?? null; }

    /** The position to resume from after an interruption, or null. */
    get since() {
        const seq = this.symbol?.newestSeq ?? null;
        return this.epoch === null || seq === null ? null : `${this.epoch}:${seq}`;
    }

    /** Selects a symbol; null for none. */
    choose(name) {
        this.chosen = name;
        this.tapeOfChosen = new Tape();
        return this.#entry(name);
    }

    /** Adds a symbol that the user asks for; returns null if there are too many. */
    add(name) {
        const symbol = this.#entry(name);
        if (symbol === null) return null;
        symbol.isOurs = true;
        symbol.state ??= "asked";
        return symbol;
    }

    /** Puts the symbols in this order; others follow in the order in which they came. */
    arrange(names) {
        const known = names.filter((name) => this.symbols.has(name));
        this.symbols = new Map([...known, ...this.symbols.keys()].map((name) => [name, this.symbols.get(name)]));
    }

    /** Takes from `/v1/status` the order of the symbols, and what was probably meant by wrong ones. */
    takeSymbols(answer) {
        const list = (Array.isArray(answer?.symbols) ? answer.symbols : []).filter((each) => typeof each?.symbol === "string");
        this.arrange(list.map((each) => each.symbol));
        for (const { symbol, meant } of list) {
            const entry = this.symbols.get(symbol);
            if (entry !== undefined) entry.meant = typeof meant === "string" ? meant : null;
        }
    }

    /** Removes a symbol; returns whether it was known. */
    forget(name) { return this.symbols.delete(name); }

    /** Handles one message; `now` is `performance.now()` at its arrival. */
    take(message, now) {
        switch (message.type) {
        case "hello": return this.#hello(message, now);
        case "status": this.status = message; return;
        case "replay": return this.#replay(message, now);
        case "snapshot": return this.#summary(message, now, typeof message.age === "number" ? message.age : null);
        case "price": case "trades": return this.#summary(message, now, null);
        case "trade": return this.#trade(message, now);
        case "symbol": return this.#symbolState(message);
        case "gap": return this.#gap(message);
        case "settled": return this.#settled(message);
        case "venueDay": return this.#venueDay(message);
        case "skipped":
            return this.tapeOfChosen.noteSkipped(message);
        case "resumed":
            this.isCatchingUp = false;
            this.runOfTrades = this.epoch;
            if (message.complete && message.trades > 0) this.tapeOfChosen.noteCaughtUp(message);
            return;
        case "pong": this.#setClock(message.time, now); return;
        default: return; // newer relays may send more
        }
    }

    #setClock(time, now) { if (Number.isFinite(time)) this.clockOffset = time - now; }

    #hello(message, now) {
        this.#setClock(message.time, now);
        const before = this.epoch;
        const isNewRun = before !== null && before !== message.epoch;
        this.epoch = message.epoch ?? null;
        this.version = message.version ?? null;
        this.status = message.status ?? this.status;
        // A replay that was paused before this page opened was paused for the whole time without messages.
        this.#replay(message.replay ?? null, now, this.newestArrival === null ? -Infinity : now);
        this.isCatchingUp = false;
        this.runOfTrades = this.epoch;
        if (isNewRun) {
            // Numbers of another run do not compare with this one's. The figures begin again, even for symbols without
            // a trade yet. Trades of the previous run may still arrive for the chosen symbol.
            for (const symbol of this.symbols.values()) {
                symbol.restart();
                if (symbol.name !== this.chosen || this.epoch === null) symbol.newestSeq = null;
            }
            this.runOfTrades = this.epoch === null ? null : before;
        }
        for (const each of message.symbols ?? []) {
            const symbol = this.#entry(each.symbol);
            if (symbol === null) continue;
            if (each.state !== undefined) symbol.state = each.state;
            if (typeof each.price === "string") {
                const newest = symbol.newestSeq;
                this.#figures(symbol, each, now, each.age ?? null);
                // The figures contain all trades up to the number in the greeting, including those resent to catch up.
                symbol.countedSeq = message.seq ?? each.seq;
                if (newest !== null) symbol.newestSeq = newest;
            }
        }
    }

    #replay(position, now, since = now) {
        this.replay = position;
        this.pauses.take(position?.paused === true, now, since);
    }

    /** Returns the time without a trade, ms. A paused replay sends none, so its pauses do not count. */
    silence(now) {
        if (this.newestArrival === null) return null;
        if (this.replay?.paused === true) return 0;
        return now - this.newestArrival - this.pauses.after(this.newestArrival);
    }

    /** Returns the age of an arrival, ms; after the end of a replay it stays at its value at the end. */
    age(arrival, now) {
        const since = this.status?.state === "ended" ? this.wall(now) - this.status.since : 0;
        return Math.max(0, now - Math.max(0, since) - arrival);
    }

    #summary(message, now, age) {
        const symbol = this.#entry(message.symbol);
        if (symbol === null || typeof message.price !== "string") return;
        const isNews = symbol.seq === null || symbol.seq !== message.seq;
        this.#figures(symbol, message, now, age);
        symbol.countedSeq = Math.max(symbol.countedSeq ?? 0, message.seq);
        if (symbol.state === "asked" || symbol.state === null) symbol.state = "live";
        if (isNews) symbol.trend.add(message.time, message.price);
    }

    #figures(symbol, message, now, age) {
        symbol.take(message);
        this.#arrived(symbol, age === null ? now : now - Math.max(0, age));
    }

    #trade(message, now) {
        const symbol = this.#entry(message.symbol);
        if (symbol === null || typeof message.price !== "string") return;
        if (symbol.newestSeq !== null && message.seq <= symbol.newestSeq) return; // received before
        symbol.newestSeq = message.seq;
        symbol.seen(message.price);
        const isFilled = message.filled === true;
        if (this.runOfTrades === this.epoch) symbol.count(message, isFilled);
        // A filled trade was missing and came after newer ones: it counts, but it is no price and no sign of life.
        if (isFilled) {
            if (symbol.name === this.chosen) this.tapeOfChosen.noteFilled(message.seq);
            return;
        }
        symbol.takeTrade(message);
        const age = this.isCatchingUp ? this.wall(now) - message.received / 1000 : 0;
        this.#arrived(symbol, now - Math.max(0, age));
        if (symbol.state === "asked" || symbol.state === null) symbol.state = "live";
        if (message.ahead !== true) symbol.trend.add(message.time, message.price);
        if (symbol.name === this.chosen) this.tapeOfChosen.trade(message);
    }

    #arrived(symbol, at) {
        symbol.arrival = Math.max(symbol.arrival ?? -Infinity, at);
        this.newestArrival = Math.max(this.newestArrival ?? -Infinity, at);
    }

    #symbolState(message) {
        const symbol = this.#entry(message.symbol);
        if (symbol === null) return;
        symbol.state = message.state;
        if (message.state === "released") symbol.day = null;
        symbol.reason = message.reason ?? null;
    }

    #gap(message) {
        if (this.epoch === null && Number.isFinite(message.epoch)) this.epoch = this.runOfTrades = message.epoch;
        if (this.isCatchingUp && Number.isFinite(message.epoch) && message.epoch !== this.runOfTrades) {
            this.runOfTrades = message.epoch;
            if (this.symbol !== null) this.symbol.newestSeq = message.nextSeq - 1;
        }
        for (const symbol of this.symbols.values()) {
            // After a move or a restart of a replay nothing is missing, and no trade is late in comparison with the
            // earlier ones.
            if (message.cause === "seek") {
                symbol.isMoved = true;
                continue;
            }
            // Where the relay does not know the beginning, the gap begins at the last price seen here.
            const from = message.from ?? symbol.time ?? message.to;
            if (message.symbol === undefined || message.symbol === symbol.name) symbol.gaps.add(from, message.to);
        }
        if (message.cause === "seek") return this.tapeOfChosen.noteMove(message);
        if (message.symbol === undefined || message.symbol === this.chosen) this.tapeOfChosen.noteGap(message);
    }

    /** Takes the outcome of a gap: its band goes if all trades have come, and else has their number. */
    #settled(message) {
        const symbol = this.symbols.get(message.symbol);
        if (symbol === undefined) return;
        const lost = lostCount(message.lost);
        symbol.settle({ from: message.from, to: message.to, lost });
        if (symbol.name === this.chosen) this.tapeOfChosen.noteSettled(message, lost);
    }

    /** Takes the outcomes of `/v1/status`: those that were decided while this page had no connection. */
    takeOutcomes(answer) {
        for (const outcome of reportedOutcomes(answer)) {
            this.symbols.get(outcome.symbol)?.settle(outcome);
        }
    }

    #venueDay(message) {
        const symbol = this.symbols.get(message.symbol);
        if (symbol === undefined) return;
        for (const price of [message.open, message.high, message.low, message.last]) {
            if (typeof price === "string") symbol.seen(price);
        }
        symbol.day = message;
    }

    /** Returns the venue's own figures of a symbol's last 24 hours, or null without any that are new enough. */
    day(symbol, now) { return newestDay(symbol, this.wall(now)); }

    /** Returns from which price a symbol's change is counted, see `changeBase`. */
    base(symbol, now) { return changeBase(symbol, this.day(symbol, now), this.chartTime(symbol, now)); }

    // The history

    /** Records that the history of a symbol is on its way. */
    expectHistory(name) {
        this.historyOf = name;
        this.#entry(name);
    }

    /** Takes the answers of `/v1/trades/SYMBOL` and `/v1/status`: trades for the tape, gaps for the chart. */
    takeHistory(name, answer, statusAnswer = null) {
        const symbol = this.symbols.get(name);
        if (this.historyOf !== name || symbol === undefined) return;
        this.historyOf = null;
        symbol.takeGaps(reportedGaps(statusAnswer, name));
        if (this.epoch === null && Number.isFinite(answer?.epoch)) this.epoch = this.runOfTrades = answer.epoch;
        if (answer === null || answer.epoch !== this.epoch || !Array.isArray(answer.trades)) return;
        // Trades with an `epoch` belong to an earlier run, whose numbers do not compare with these. A filled trade is
        // older than the trades around it.
        const past = answer.trades.filter((trade) => trade.epoch === undefined && trade.filled !== true);
        if (name !== this.chosen) return;
        for (const trade of past) symbol.seen(trade.price);
        this.tapeOfChosen.addEarlier(past);
    }

    #entry(name) {
        if (typeof name !== "string" || name === "") return null;
        const known = this.symbols.get(name);
        if (known !== undefined) return known;
        if (this.symbols.size >= mostSymbols) return null;
        const symbol = new SymbolFigures(name);
        this.symbols.set(name, symbol);
        return symbol;
    }
}

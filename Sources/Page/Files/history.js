// Loads the bars of the chosen symbol as far as the chart shows them, and keeps them up to date: `/v1/bars/SYMBOL` for
// what has passed, and the messages `bar` of `/v1/stream` for what comes.

import { BarSeries, widths } from "./bars.js";

const usual = 1000;
const largest = 10_000; // of one answer (docs/http.md)
const retryAfter = 3000; // ms
const spare = 2000; // bars that are kept before the chart's left edge

export class BarHistory {
    /**
     * @param ask(target) gives the relay's answer, or null
     * @param send(request) sends a request to `/v1/stream`
     * @param changed() is called when there are other bars to draw
     */
    constructor({ ask, send, changed }) {
        this.ask = ask;
        this.send = send;
        this.changed = changed;
        this.name = null;
        // The width of the bars on the chart; null before the first picture.
        this.shown = null;
        this.rows = new Map();
        this.#clear();
    }

    #clear() {
        for (const [name, width] of Object.entries(widths)) {
            // isFresh: the newest bars are there, or follow by the stream; isAtStart: the relay has no earlier ones; from:
            // the chart's left edge, when it showed them last.
            this.rows.set(name, { series: new BarSeries(width), isFresh: false, isLoading: false, isAtStart: false, failedAt: -Infinity, from: Infinity });
        }
    }

    /** Turns to another symbol; null for none. */
    choose(name) {
        if (name === this.name) return;
        if (this.name !== null) this.send({ type: "unsubscribe", symbol: this.name, bars: "all" });
        this.name = name;
        this.#clear();
        this.#subscribe();
    }

    /** Must be called for each new connection: bars may have come while there was none. */
    connected() {
        for (const row of this.rows.values()) Object.assign(row, { isFresh: false, isAtStart: false, failedAt: -Infinity });
        this.#subscribe();
    }

    #subscribe() {
        if (this.name === null) return;
        for (const bars of Object.keys(widths)) this.send({ type: "subscribe", symbol: this.name, bars });
    }

    series(width) { return this.rows.get(width).series; }

    /** Takes a message `bar`. */
    take(message) {
        if (message.symbol !== this.name || !this.rows.has(message.width)) return;
        const row = this.rows.get(message.width);
        row.series.take(message);
        this.#forget(message.width, row);
        this.changed();
    }

    /** Forgets bars that the chart has left behind, so that a page that is open for days does not grow. Who goes back loads them again. */
    #forget(width, row) {
        const { series } = row;
        if (row.isLoading || series.isEmpty) return;
        const from = width === this.shown ? row.from : Infinity;
        if (series.forget(Math.min(from, series.end) - spare * series.width)) row.isAtStart = false;
    }

    /** Takes a trade into the bars that are shown, see `BarSeries.touch`; the relay's bars of the others soon follow. */
    touch(trade) { this.rows.get(this.shown)?.series.touch(trade); }

    /**
     * Loads what is missing of a width from a time on, one answer at a time: first the newest bars, then earlier ones.
     * @returns what to say at the left edge: loading, start (there are no earlier bars), full (there are more than the
     *     page holds), failed; empty while everything is there
     */
    want(width, from, now) {
        const row = this.rows.get(width);
        const { series } = row;
        row.from = from;
        const isShort = !row.isFresh || series.isEmpty || series.start > from;
        if (!isShort) return "";
        if (row.isLoading) return "loading";
        if (row.isFresh && (row.isAtStart || series.isFull)) return series.isFull ? "full" : "start";
        if (now - row.failedAt < retryAfter) return "failed";
        if (this.name !== null) this.#load(width, row, from);
        return "loading";
    }

    async #load(width, row, from) {
        const { name } = this;
        const { series } = row;
        const isNewest = !row.isFresh || series.isEmpty;
        // Twice what is missing, so that the next step back finds its bars.
        const limit = isNewest ? usual : Math.min(largest, Math.max(usual, Math.ceil((series.start - from) / series.width) * 2));
        const { stamp } = series;
        row.isLoading = true;
        const answer = await this.ask(`/v1/bars/${encodeURIComponent(name)}?width=${width}&limit=${limit}${isNewest ? "" : `&to=${series.start}`}`);
        row.isLoading = false;
        if (name !== this.name || this.rows.get(width) !== row) return;
        if (Array.isArray(answer?.bars)) {
            const before = series.start;
            series.takeAnswer(answer.bars, stamp, isNewest);
            row.isFresh = true;
            row.isAtStart = answer.bars.length < limit || (!isNewest && series.start === before);
        } else {
            row.failedAt = performance.now();
        }
        this.changed();
    }
}

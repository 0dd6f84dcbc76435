// The pane with the chart: which part of the bars it shows, and how. Its buttons, its input and its texts meet here.

import { widths } from "./bars.js";
import { Chart } from "./chart.js";
import { barWords, chartWords } from "./chart-words.js";
import { scaled, shifted } from "./prices.js";
import { ChartTools } from "./tools.js";
import { ChartInput } from "./touch.js";
import * as viewport from "./viewport.js";

const wordsEvery = 10_000; // ms between two descriptions of the chart
const shortest = 60_000; // ms of the view at first
const notes = {
    loading: "loading …", failed: "the relay does not answer", start: "the relay has no earlier bars",
    full: "more bars than this page holds: choose wider ones",
};

export class ChartPane {
    /**
     * @param market the state of the symbols
     * @param history the bars of the chosen one
     * @param isOpen() whether the relay can be asked
     */
    constructor(market, history, isOpen) {
        this.market = market;
        this.history = history;
        this.isOpen = isOpen;
        this.find = (id) => document.getElementById(id);
        this.tools = new ChartTools({
            changed: () => this.#force(), followPrices: () => this.#setPrices(null), range: (range) => this.#setRange(range), now: () => this.#toNow(),
        });
        this.name = null;
        this.view = null;
        // The newest time of the chart in the last picture, ms.
        this.now = 0;
        // The start of the bar under the crosshair, ms; whether a tap or a key put it there, so that it stays.
        this.cross = null;
        this.isPinned = false;
        this.drawn = { width: null, gaps: [], cross: null, key: "" };
        // The picture whose bar the values above the chart are of.
        this.written = "";
        // The limits of the prices that the user chose; null while they follow the bars.
        this.prices = null;
        this.isAsked = this.isStale = false;
        this.wordsAt = -Infinity;
        this.chart = new Chart(this.find("chart"), () => this.#force());
        this.input = new ChartInput(this.find("chart-touch"), this.#actions());
    }

    /** Asks for a picture with the next frame; repeated requests before it are one. */
    ask() {
        this.isStale = true;
        if (this.isAsked) return;
        this.isAsked = true;
        requestAnimationFrame(() => {
            this.isAsked = false;
            if (this.isStale) this.paint(performance.now());
        });
    }

    readColours() {
        this.chart.readColours();
        this.#force();
    }

    /** Whether the chart follows a mouse or fingers now. */
    get isDragged() { return this.input.isDragging; }

    #force() {
        this.drawn.key = this.written = "";
        this.ask();
    }

    get #span() { return viewport.spanOf(this.view); }

    get #series() { return this.history.series(this.drawn.width ?? "1m"); }

    /** Returns the time at a distance from the left side, px. */
    #time(at) { return this.view.from + (at / this.chart.plot.right) * this.#span; }

    #show(view) {
        const { series, isAtStart } = this.history.rows.get(this.drawn.width ?? "1m");
        this.view = viewport.bounded(view, isAtStart ? series.start : null, this.now);
        this.ask();
    }

    // What the user does

    #actions() {
        const guarded = (action) => (...all) => (this.view === null ? undefined : action(...all));
        const actions = {
            axis: () => this.chart.plot.right,
            scale: (factor) => this.#setPrices(scaled(this.#limits, factor)),
            followPrices: () => this.#setPrices(null),
            pan: (by, up = 0) => {
                if (this.prices !== null && up !== 0) this.#setPrices(shifted(this.prices, up / this.chart.plot.height));
                if (this.tools.range === "all") this.tools.setRange(null);
                this.#show(viewport.moved(this.view, (by / this.chart.plot.right) * this.#span));
            },
            zoom: (at, factor) => {
                this.tools.setRange(null);
                const usual = this.cross ?? (viewport.isFollowing(this.view, this.now) ? this.now : (this.view.from + this.view.to) / 2);
                this.#show(viewport.zoomed(this.view, at === null ? usual : this.#time(at), factor));
            },
            cross: (at, isPinned = false) => {
                if (at === null && !isPinned && this.isPinned) return;
                const bar = at === null ? undefined : this.#series.bars[this.#series.nearest(this.#time(at))];
                // A second tap on the same bar takes the crosshair away.
                const isSame = isPinned && this.isPinned && bar?.start === this.cross;
                this.isPinned = isPinned && !isSame;
                this.cross = isSame ? null : bar?.start ?? null;
                this.ask();
            },
            step: (count) => this.#step(count),
            page: (way) => this.#show(viewport.moved(this.view, way * this.#span * 0.9)),
            edge: (way) => {
                if (way > 0) return this.#toNow();
                if (!this.#series.isEmpty) this.#show({ from: this.#series.start, to: this.#series.start + this.#span });
            },
            reset: () => {
                this.tools.setRange(this.tools.lastRange);
                this.#setPrices(null);
                this.#toNow();
                this.#setRange(this.tools.range);
            },
            fullScreen: () => this.tools.toggleFullScreen(),
            leave: () => {
                if (this.cross === null) this.tools.leaveFullScreen();
                this.cross = null;
                this.isPinned = false;
                this.ask();
            },
        };
        return Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, guarded(action)]));
    }

    get #limits() { return this.prices ?? this.chart.plot.limits; }

    #setPrices(limits) {
        if (limits !== null && !(limits.low < limits.high)) return; // there is no price yet
        this.prices = limits;
        this.#force();
    }

    /** Moves the crosshair by bars, and the view with it; a screen reader hears the bar. */
    #step(count) {
        const { bars, width } = this.#series;
        if (bars.length === 0) return;
        const isNew = this.cross === null;
        const place = isNew ? this.#series.nearest(Math.min(this.now, this.view.to)) : this.#series.nearest(this.cross + width / 2) + count;
        const bar = bars[Math.max(0, Math.min(place, bars.length - 1))];
        this.cross = bar.start;
        this.isPinned = true;
        const edge = this.#span * 0.05;
        const left = Math.min(0, bar.start - edge - this.view.from);
        const right = Math.max(0, bar.start + width + edge - this.view.to);
        if (place < bars.length - 1 && left + right !== 0) this.#show(viewport.moved(this.view, left + right));
        this.find("chart-said").textContent = barWords(bar, width, this.market.symbol?.decimals ?? 0);
        this.ask();
    }

    #toNow() {
        this.view = viewport.newest(this.#span, this.now);
        this.cross = null;
        this.isPinned = false;
        this.ask();
    }

    #setRange(range) {
        if (this.view === null) return;
        const span = viewport.ranges[range];
        if (span !== null) this.view = viewport.newest(span, this.now);
        this.ask();
    }

    // The picture

    /** Returns the view of everything that the relay has. Finer bars find the begin of a short history. */
    #everything(now) {
        let begin = now - viewport.widest;
        for (const [width, reach] of [["1h", viewport.widest], ["1m", 86_400_000], ["1s", 900_000]]) {
            if (now - begin > reach) continue;
            this.history.want(width, begin, performance.now());
            begin = Math.max(begin, this.history.series(width).start ?? begin);
        }
        if (begin === now - viewport.widest) return this.view;
        const span = Math.max(viewport.narrowest, now - begin);
        return { from: begin - span * 0.02, to: now + span * 0.04 };
    }

    /** Returns the view at first: the range, or what there is of it, so that the chart of a new program is not empty. */
    #filled(now) {
        const { series, isAtStart } = this.history.rows.get("1s");
        const span = viewport.ranges[this.tools.range];
        const length = isAtStart && !series.isEmpty ? (now - series.start) * 1.08 : span;
        return viewport.newest(Math.min(span, Math.max(shortest, length)), now);
    }

    #follow(symbol, now) {
        const wall = this.market.chartTime(symbol, now);
        if (symbol.name !== this.name || this.view === null) {
            this.name = symbol.name;
            this.view = viewport.newest(viewport.ranges[this.tools.range] ?? viewport.ranges["5m"], wall);
            this.cross = this.prices = null;
            this.isPinned = false;
            this.drawn = { width: null, gaps: [], cross: null, key: "" };
        } else {
            this.view = viewport.followed(this.view, this.now, wall);
        }
        this.now = wall;
        if (this.tools.range === "all") this.view = this.#everything(wall);
        else if (this.tools.range !== null && !this.tools.isRangeChosen && viewport.isFollowing(this.view, wall)) this.view = this.#filled(wall);
    }

    /**
     * Draws what has changed since the last picture.
     *
     * @param hasTexts whether to write the values of the newest bar, too; those of the bar under the crosshair always are
     */
    paint(now, hasTexts = false) {
        this.isStale = false;
        const symbol = this.market.symbol;
        if (symbol !== null && symbol.price !== null) this.#follow(symbol, now);
        if (this.view === null || symbol === null) {
            this.view ??= viewport.newest(viewport.ranges["5m"], this.market.wall(now));
            this.now = this.market.wall(now);
        }
        const wanted = this.tools.width === "auto" ? viewport.widthFor(this.#span, this.chart.plot.right, widths) : this.tools.width;
        const canAsk = symbol !== null && symbol.price !== null && this.isOpen();
        const state = canAsk ? this.history.want(wanted, this.view.from, now) : "";
        // Until the bars of another width are there, those of the last picture stay.
        const width = this.history.series(wanted).isEmpty && this.drawn.width !== null ? this.drawn.width : wanted;
        const series = this.history.series(width);
        this.history.shown = width;
        const fresh = document.body.dataset.freshness;
        const pixel = this.#span / this.chart.plot.right;
        const key = [Math.floor(this.view.from / pixel), pixel, width, series.version, symbol?.price, symbol?.gaps.all.length,
            this.cross, fresh, state, symbol?.decimals].join();
        if (key !== this.drawn.key) this.#draw(symbol, series, width, state, key, fresh === "old");
        if (this.written !== key && (hasTexts || this.cross !== null)) {
            this.written = key;
            this.tools.showBar(series.bars[this.drawn.cross ?? series.bars.length - 1], series.width, symbol?.decimals ?? 0);
        }
        this.#words(symbol, series, now);
    }

    #draw(symbol, series, width, state, key, isFaint) {
        const { view, tools } = this;
        const first = series.place(view.from);
        const end = series.place(view.to);
        // With the bars beside the view, so that a line goes on to its edges.
        const columns = series.pyramid.columns(Math.max(0, first - 1), Math.min(series.bars.length, end + 1), this.chart.plot.right);
        const gaps = series.gaps(symbol?.gaps.all ?? [], view.from, view.to);
        const nearest = this.cross === null ? -1 : series.nearest(this.cross + series.width / 2);
        const cross = nearest < 0 ? null : nearest;
        const isBehind = series.isEmpty || series.start > view.from;
        const note = symbol === null || symbol.price === null ? "no prices yet" : isBehind ? notes[state] ?? "" : "";
        const decimals = symbol?.decimals ?? 0;
        this.chart.paint({
            series, view, columns, gaps, cross, note, decimals, isFaint, kind: tools.kind, isLogarithmic: tools.isLogarithmic,
            hasVolume: tools.hasVolume, prices: this.prices, last: symbol?.price ?? null, now: this.now,
        });
        this.drawn = { width, gaps, cross, key };
        tools.showState(viewport.isFollowing(view, this.now), this.prices === null, tools.width === "auto" ? series.width : null);
    }

    /** Describes the chart to screen readers, a change of the symbol or of its gaps at once. */
    #words(symbol, series, now) {
        const subject = symbol === null ? "" : `${symbol.name} ${series.start} ${this.drawn.gaps.map((gap) => gap.lost).join()}`;
        if (now - this.wordsAt < wordsEvery && this.wordsOf === subject) return;
        this.wordsAt = series.isEmpty ? -Infinity : now;
        this.wordsOf = subject;
        const words = chartWords(symbol, series, this.view, this.drawn.gaps, this.now);
        if (this.chart.canvas.getAttribute("aria-label") !== words) this.chart.canvas.setAttribute("aria-label", words);
    }
}

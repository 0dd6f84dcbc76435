// The bars of one symbol and width: loaded from `/v1/bars/SYMBOL`, continued by the messages `bar` of `/v1/stream`, and
// between two of these by the trades. The values stay the relay's texts. Numbers beside them only place a bar on the
// chart.

import { add, compare } from "./decimal.js";
import { merged } from "./gaps.js";
import { Pyramid } from "./pyramid.js";

/** The widths of bars that the relay has, the finest first; ms. */
export const widths = { "1s": 1_000, "1m": 60_000, "5m": 300_000, "1h": 3_600_000 };

const most = 100_000;
const mostHoles = 4096;
// A gap of arrivals makes bars incomplete that end up to this much before it (docs/history.md), ms.
const lag = 2_000;

/** Returns the relay's bar for the chart; null unless it has a start and four prices. */
function read(raw, stamp) {
    const texts = [raw?.open, raw?.high, raw?.low, raw?.close];
    const [first, high, low, last] = texts.map((text) => (typeof text === "string" && text !== "" ? Number(text) : NaN));
    if (!Number.isSafeInteger(raw?.start) || ![first, high, low, last].every(Number.isFinite)) return null;
    const volume = typeof raw.volume === "string" ? raw.volume : null;
    return {
        start: raw.start, first, high, low, last, volume: Number(volume) || 0, incomplete: raw.incomplete === true,
        texts: { open: raw.open, high: raw.high, low: raw.low, close: raw.close, volume }, stamp, isOurs: false,
    };
}

export class BarSeries {
    constructor(width) {
        this.width = width;
        // Grows with each message, so that an answer does not replace what came after its request.
        this.stamp = 0;
        // Grows with each change.
        this.version = 0;
        this.#replace([]);
    }

    get isEmpty() { return this.bars.length === 0; }

    /** The start of the oldest bar, ms; null without one. */
    get start() { return this.bars[0]?.start ?? null; }

    /** The end of the newest bar, ms; null without one. */
    get end() { return this.isEmpty ? null : this.bars[this.bars.length - 1].start + this.width; }

    get isFull() { return this.bars.length >= most; }

    /** Returns the place of the first bar that ends after a time; the number of bars if none does. */
    place(time) {
        let [low, high] = [0, this.bars.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.bars[middle].start + this.width > time) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    /** Returns the place of the bar that is nearest to a time; -1 without bars. */
    nearest(time) {
        const after = Math.min(this.place(time), this.bars.length - 1);
        if (after < 1) return after;
        const distance = (place) => Math.abs(this.bars[place].start + this.width / 2 - time);
        return distance(after - 1) < distance(after) ? after - 1 : after;
    }

    /** Takes one bar of the stream: a new one, or a known one that has changed. */
    take(raw) {
        const bar = read(raw, this.stamp += 1);
        if (bar !== null) this.#put(bar);
    }

    #put(bar) {
        this.version += 1;
        const bars = this.bars;
        const place = this.place(bar.start);
        const known = bars[place];
        if (known?.start === bar.start) {
            if (known.incomplete !== bar.incomplete) this.knownHoles = null;
            bars[place] = bar;
            this.pyramid.update(place);
        } else if (place === bars.length) {
            bars.push(bar);
            this.#extendHoles();
            // A part is removed at a time, so that the pyramid is rarely built anew.
            if (bars.length > most * 1.05) this.#replace(bars.slice(-most));
            else this.pyramid.update(place);
        } else {
            const all = bars.slice();
            all.splice(place, 0, bar);
            this.#replace(all);
        }
    }

    /** Forgets the bars that end before a time, if they are a hundredth of all: the pyramid is built anew. @returns whether it did */
    forget(before) {
        const place = this.place(before);
        if (place * 100 <= this.bars.length) return false;
        this.#replace(this.bars.slice(place));
        return true;
    }

    #replace(bars) {
        this.version += 1;
        this.bars = bars;
        this.pyramid = new Pyramid(bars);
        this.knownHoles = null;
    }

    /**
     * Takes bars of an answer, in order.
     *
     * @param stamp the stamp at the time of the request: bars that came later are newer than the answer
     * @param isNewest whether these are the newest bars. If they do not reach back to the known ones, what is between is
     *     unknown, and the known ones are dropped.
     */
    takeAnswer(list, stamp, isNewest = false) {
        const fresh = list.map((raw) => read(raw, stamp)).filter((bar, place, all) => bar !== null && !(bar.start <= all[place - 1]?.start));
        if (fresh.length === 0) return;
        const known = isNewest && this.end < fresh[0].start ? this.bars.filter((bar) => bar.start > fresh[0].start) : this.bars;
        const all = [];
        let next = 0;
        for (const bar of fresh) {
            while (next < known.length && known[next].start < bar.start) all.push(known[next++]);
            const same = known[next]?.start === bar.start ? known[next++] : null;
            all.push(same !== null && !same.isOurs && same.stamp > stamp ? same : bar);
        }
        for (; next < known.length; next += 1) all.push(known[next]);
        this.#replace(all.slice(-most));
    }

    /**
     * Takes a trade until the relay's bar with it comes, at most a second later: it moves the newest bar or begins the
     * next one. The volume of a bar of the relay stays until then, because it may count the trade already.
     */
    touch({ time, price, size }) {
        const value = typeof price === "string" ? Number(price) : NaN;
        const start = Math.floor(time / this.width) * this.width;
        const last = this.bars[this.bars.length - 1];
        if (!Number.isFinite(value) || !Number.isSafeInteger(start) || last === undefined || start < last.start) return;
        const texts = { open: price, high: price, low: price, close: price, volume: size };
        const bar = { start, first: value, high: value, low: value, last: value, volume: Number(size) || 0, incomplete: false, texts, stamp: this.stamp, isOurs: true };
        if (start === last.start) {
            Object.assign(bar, last, { low: Math.min(last.low, value), high: Math.max(last.high, value), last: value });
            bar.texts = { ...last.texts, close: price };
            if (last.isOurs) bar.texts.volume = add(last.texts.volume, size);
            bar.volume = Number(bar.texts.volume) || 0;
            if (compare(price, last.texts.high) > 0) bar.texts.high = price;
            if (compare(price, last.texts.low) < 0) bar.texts.low = price;
        }
        this.#put(bar);
    }

    /**
     * Returns the times without bars in which trades may be missing: [{from, to, lost, sides}] in order. Between two
     * complete bars there is none, because a time without trades has no bar. `sides` has the starts of the incomplete ones.
     */
    holes() {
        if (this.knownHoles === null) {
            this.knownHoles = [];
            for (let place = 1; place < this.bars.length; place += 1) this.#addHole(place);
        }
        return this.knownHoles;
    }

    #extendHoles() { if (this.knownHoles !== null) this.#addHole(this.bars.length - 1); }

    #addHole(place) {
        const bar = this.bars[place];
        const before = this.bars[place - 1];
        if (before === undefined) return;
        const from = before.start + this.width;
        if (from >= bar.start || !(before.incomplete || bar.incomplete)) return;
        const sides = [before, bar].filter((side) => side.incomplete).map((side) => side.start);
        this.knownHoles.push({ from, to: bar.start, lost: 0n, sides });
        if (this.knownHoles.length > mostHoles) this.knownHoles.shift();
    }

    /**
     * Returns the holes and the reported gaps that touch a time, in order and without overlaps. Where a reported gap
     * explains why a bar is incomplete, it is more precise than the hole beside that bar.
     */
    gaps(reported, from, to) {
        const touches = (gap) => gap.to > from && gap.from < to;
        const isExplained = (start) => reported.some((gap) => gap.from < start + this.width + lag && gap.to > start - lag);
        const holes = this.holes().filter((hole) => touches(hole) && !hole.sides.every(isExplained));
        return merged([...holes, ...reported.filter(touches)]);
    }
}

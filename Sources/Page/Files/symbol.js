// The newest figures of one symbol.

import { DayAgo } from "./changes.js";
import { add, compare, decimals } from "./decimal.js";
import { Gaps } from "./gaps.js";
import { Trend } from "./trend.js";

const mostOutcomes = 64;
// The relay's rule: a trade that is older than its symbol's newest by up to this does not become the price. ms
const reorderWindow = 10_000;

export class SymbolFigures {
    constructor(name) {
        Object.assign(this, {
            name, price: null, size: null, time: null, seq: null, open: null, high: null, low: null, volume: null,
            trades: null, arrival: null, state: null, reason: null, direction: 0, decimals: 0, isOurs: false,
            // The number of the newest trade received, and of the newest trade in the figures.
            newestSeq: null, countedSeq: null,
            // Whether the replay was moved: no trade is late in comparison with those before.
            isMoved: false,
            gaps: new Gaps(), outcomes: [], trend: new Trend(), day: null, dayAgo: new DayAgo(),
            meant: null,
        });
    }

    setPrice(price) {
        this.seen(price);
        if (this.price !== null && this.price !== price) this.direction = compare(price, this.price);
        this.price = price;
    }

    /** All prices of a symbol are shown with as many decimals as the longest one seen. */
    seen(price) { this.decimals = Math.max(this.decimals, decimals(price)); }

    /** Takes the figures of a message that has them all. */
    take(message) {
        this.setPrice(message.price);
        for (const key of ["size", "open", "high", "low", "volume"]) {
            if (typeof message[key] === "string") this[key] = message[key];
        }
        // A sum that the relay cannot represent is null; the previous one must not stay.
        if (message.volume === null) this.volume = null;
        for (const price of [this.open, this.high, this.low]) this.seen(price);
        this.time = message.time;
        this.trades = message.trades;
        this.seq = message.seq;
        this.newestSeq = Math.max(this.newestSeq ?? 0, message.seq);
    }

    /** Counts a trade in open, high, low, volume and trades, unless they contain it. */
    count({ seq, price, size }, isFilled) {
        if (this.countedSeq !== null && seq <= this.countedSeq) return;
        this.countedSeq = seq;
        if (!isFilled) this.open ??= price;
        this.high ??= price;
        this.low ??= price;
        if (compare(price, this.high) > 0) this.high = price;
        if (compare(price, this.low) < 0) this.low = price;
        if (compare(size, "0") > 0) {
            const before = this.volume ?? (this.trades > 0 ? null : "0");
            this.volume = before === null ? null : add(before, size);
            this.trades = (this.trades ?? 0) + 1;
        }
    }

    /** Takes a trade as the price, unless a newer one is there. */
    takeTrade({ price, size, time, seq, received, ahead }) {
        const lateness = (this.time ?? time) - time;
        const isAhead = ahead === true;
        if (!isAhead && !this.isMoved && lateness > 0 && lateness <= reorderWindow) return;
        // A trade whose time is ahead of its arrival must not make the following trades count as late.
        this.isMoved = isAhead && (this.isMoved || this.time === null);
        this.setPrice(price);
        this.size = size;
        if (!isAhead || this.time === null) this.time = isAhead ? received / 1000 : time;
        this.seq = seq;
    }

    /** Begins the figures of another run. */
    restart() {
        this.countedSeq = null;
        this.open = this.high = this.low = this.volume = this.trades = null;
    }

    /** Records the outcome of a gap: its band goes if all trades have come, and else has their number. */
    settle({ from, to, lost }) {
        this.outcomes.push({ from, to, lost });
        if (this.outcomes.length > mostOutcomes) this.outcomes.shift();
        this.gaps.settle(from, to, lost);
    }

    /** Takes the gaps that the relay reports, except what was decided while its answer was on its way. */
    takeGaps(gaps) {
        for (const gap of gaps) this.gaps.add(gap.from, gap.to, gap.lost);
        for (const { from, to, lost } of this.outcomes) this.gaps.settle(from, to, lost);
    }
}

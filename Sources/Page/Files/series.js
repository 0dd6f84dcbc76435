// One symbol's session for the chart: a bounded number of buckets of equal width, each with its lowest, highest and
// last price. When they are full, each two become one, so that the whole session always fits.

const most = 2048;
const narrowest = 250; // ms
const mostGaps = 256;

export class Series {
    constructor() {
        this.width = narrowest;
        this.buckets = [];
        // The gaps as they were reported: {from, to, lost}, see `gaps`.
        this.reported = [];
        this.merged = null;
    }

    /**
     * The times in which trades may be missing: {from, to, lost} in ms, in order; gaps that touch are one. `lost` is the
     * number of trades that are lost for good, a BigInt. A gap of no length is a move of a replay.
     */
    get gaps() { return (this.merged ??= merged(this.reported)); }

    get isEmpty() { return this.buckets.length === 0; }

    /** The start of the first bucket, ms; null without buckets. */
    get start() { return this.isEmpty ? null : this.buckets[0].start; }

    /** The end of the last bucket, ms; null without buckets. */
    get end() { return this.isEmpty ? null : this.buckets[this.buckets.length - 1].start + this.width; }

    /** Adds a price at a time (ms). Only the chart converts a price to a floating-point number. */
    add(time, text) {
        const price = Number(text);
        if (!Number.isFinite(price) || !Number.isFinite(time)) return;
        const last = this.buckets[this.buckets.length - 1];
        // After a clock that went back, prices are added to the last bucket.
        const start = Math.max(Math.floor(time / this.width) * this.width, last?.start ?? -Infinity);
        if (last !== undefined && last.start === start) {
            last.low = Math.min(last.low, price);
            last.high = Math.max(last.high, price);
            last.close = price;
            return;
        }
        this.buckets.push({ start, low: price, high: price, close: price });
        if (this.buckets.length > most) this.#widen();
    }

    /** Records that a replay was moved: nothing is missing, and no line leads to the next price. */
    addMove(at) {
        if (!Number.isFinite(at)) return;
        const last = this.gaps[this.gaps.length - 1];
        if (last !== undefined && at <= last.to) return;
        this.#push({ from: at, to: at, lost: 0n });
    }

    /** The number of gaps without the moves. */
    get gapCount() { return this.gaps.filter((gap) => gap.to > gap.from).length; }

    #push(gap) {
        this.reported.push(gap);
        this.merged = null;
        if (this.reported.length > mostGaps) this.reported.shift();
    }

    addGap(from, to, lost = 0n) { if (to > from) this.#push({ from, to, lost }); }

    /** Records that all trades of a gap have come, or that this many are lost for good. */
    settle(from, to, lost) {
        this.reported = this.reported
            .map((gap) => (gap.from === from && gap.to === to ? { ...gap, lost } : gap))
            .filter((gap) => gap.from !== from || gap.to !== to || gap.from === gap.to || lost > 0n);
        this.merged = null;
    }

    /** Adds a price of a time that has passed, within the session. */
    fill(time, text) {
        const price = Number(text);
        if (!Number.isFinite(price) || !(time >= this.start) || !(time < this.end)) return;
        const start = Math.floor(time / this.width) * this.width;
        const place = this.buckets.findLastIndex((bucket) => bucket.start <= start);
        const bucket = this.buckets[place];
        if (bucket?.start === start) {
            bucket.low = Math.min(bucket.low, price);
            bucket.high = Math.max(bucket.high, price);
            return;
        }
        this.buckets.splice(place + 1, 0, { start, low: price, high: price, close: price });
        if (this.buckets.length > most) this.#widen();
    }

    /** Returns the buckets in stretches without a gap; no line may connect two stretches. */
    stretches() {
        const stretches = [];
        let stretch = [];
        let next = 0;
        for (const bucket of this.buckets) {
            // Within a gap no two buckets belong together.
            let isBroken = next > 0 && this.gaps[next - 1].to > bucket.start;
            // A gap precedes the first bucket that begins after the start of the gap.
            while (next < this.gaps.length && this.gaps[next].from <= bucket.start) {
                isBroken = true;
                next += 1;
            }
            if (isBroken && stretch.length > 0) {
                stretches.push(stretch);
                stretch = [];
            }
            stretch.push(bucket);
        }
        if (stretch.length > 0) stretches.push(stretch);
        return stretches;
    }

    #widen() {
        this.width *= 2;
        const merged = [];
        for (const bucket of this.buckets) {
            const start = Math.floor(bucket.start / this.width) * this.width;
            const last = merged[merged.length - 1];
            if (last !== undefined && last.start === start) {
                last.low = Math.min(last.low, bucket.low);
                last.high = Math.max(last.high, bucket.high);
                last.close = bucket.close;
            } else {
                merged.push({ start, low: bucket.low, high: bucket.high, close: bucket.close });
            }
        }
        this.buckets = merged;
    }
}

/** Returns gaps in order, with those that touch as one. */
function merged(gaps) {
    const all = [];
    for (const gap of [...gaps].sort((one, other) => one.from - other.from)) {
        const last = all[all.length - 1];
        if (last === undefined || gap.from > last.to) {
            all.push({ ...gap });
        } else {
            last.to = Math.max(last.to, gap.to);
            last.lost += gap.lost;
        }
    }
    return all;
}

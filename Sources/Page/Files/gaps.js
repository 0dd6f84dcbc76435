// The gaps of one symbol: the times in which trades may be missing, as the relay reports and settles them.

const most = 256;

export class Gaps {
    constructor() {
        // As they were reported: {from, to, lost}, see `all`.
        this.reported = [];
        this.merged = null;
    }

    /**
     * The gaps in ms, in order: {from, to, lost}; those that touch are one. `lost` is the number of trades that are lost
     * for good, a BigInt.
     */
    get all() { return (this.merged ??= merged(this.reported)); }

    add(from, to, lost = 0n) {
        if (!(to > from) || this.reported.some((gap) => gap.from === from && gap.to === to)) return;
        this.reported.push({ from, to, lost });
        if (this.reported.length > most) this.reported.shift();
        this.merged = null;
    }

    /** Records that all trades of a gap have come, or that this many are lost for good. */
    settle(from, to, lost) {
        this.reported = this.reported
            .map((gap) => (gap.from === from && gap.to === to ? { ...gap, lost } : gap))
            .filter((gap) => gap.from !== from || gap.to !== to || lost > 0n);
        this.merged = null;
    }
}

/** Returns gaps in order, with those that touch as one. */
export function merged(gaps) {
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

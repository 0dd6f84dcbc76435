// Summaries of a list of bars in blocks of 2, 4, 8 and so on, so that a day of seconds is drawn by reading about two
// blocks a pixel. A change of one bar changes one block of each level.

export class Pyramid {
    /** @param bars the list of {low, high, volume, incomplete}, which the caller changes and then reports here */
    constructor(bars) {
        this.bars = bars;
        // levels[k] has blocks of 2^(k+1) bars.
        this.levels = [];
        // The objects of the newest columns.
        this.known = [];
        for (let index = 0; index < bars.length; index += 2) this.#update(index, bars.length <= index + 2);
    }

    /** Takes a bar that was changed or appended. */
    update(index) { this.#update(index, true); }

    #update(index, isLast) {
        let place = index;
        let count = this.bars.length;
        for (let level = 0; count > 1; level += 1) {
            place >>= 1;
            count = (count + 1) >> 1;
            const blocks = this.levels[level] ??= [];
            this.#summarize(blocks[place] ??= { low: 0, high: 0, volume: 0, incomplete: false }, level, place);
            // While the pyramid is built, a block is summarized once its second half is there.
            if (!isLast && (place & 1) === 0) return;
        }
    }

    /** Writes into a known block: a trade changes one of each level, and a new object for each would soon be garbage. */
    #summarize(block, level, place) {
        const below = level === 0 ? this.bars : this.levels[level - 1];
        const one = below[place * 2];
        const other = below[place * 2 + 1];
        block.low = other === undefined ? one.low : Math.min(one.low, other.low);
        block.high = other === undefined ? one.high : Math.max(one.high, other.high);
        block.volume = other === undefined ? one.volume : one.volume + other.volume;
        block.incomplete = one.incomplete || other?.incomplete === true;
    }

    /**
     * Returns the bars from `first` to before `end` as at most about `most` columns, in order: {first, last, low, high,
     * volume, incomplete}, of which `first` and `last` are places of bars. `volume` is the sum of a column's bars. They
     * are good until the next call.
     */
    columns(first, end, most) {
        const level = Math.max(0, Math.ceil(Math.log2((end - first) / Math.max(1, most))));
        const columns = [];
        if (level === 0) {
            for (let place = first; place < end; place += 1) {
                columns.push(this.#column(columns.length, place, place, this.bars[place]));
            }
            return columns;
        }
        const size = 2 ** level;
        for (let place = Math.floor(first / size); place * size < end; place += 1) {
            const block = this.levels[level - 1]?.[place];
            if (block === undefined) break;
            const last = Math.min((place + 1) * size, this.bars.length) - 1;
            columns.push(this.#column(columns.length, place * size, last, block));
        }
        return columns;
    }

    /** Writes into a known object: each picture has up to thousands, which would soon be garbage. */
    #column(index, first, last, { low, high, volume, incomplete }) {
        const column = this.known[index] ??= { first, last, low, high, volume, incomplete };
        column.first = first;
        column.last = last;
        column.low = low;
        column.high = high;
        column.volume = volume;
        column.incomplete = incomplete;
        return column;
    }
}

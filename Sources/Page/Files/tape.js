// The tape of one symbol: its newest trades with notes between them.

import { compare, grouped } from "./decimal.js";

const most = 200;

/** Returns a trade as a row; `before` is the row of the trade before it. */
function row({ seq, time, price, size }, before) {
    const direction = before === undefined ? 0 : compare(price, before.price) || before.direction;
    return { kind: "trade", seq, time, price, size, direction };
}

export class Tape {
    constructor() {
        // The newest first.
        this.rows = [];
    }

    #add(entry) {
        this.rows.unshift(entry);
        if (this.rows.length > most) this.rows.length = most;
    }

    trade(message) { this.#add(row(message, this.rows.find(({ kind }) => kind === "trade"))); }

    /** @param gap {from, to, words} of the gap that the note is about */
    note(text, seq, gap = null) { this.#add({ kind: "note", text, seq, gap }); }

    /** Notes a filled trade; those that follow each other are one note. */
    noteFilled(seq) {
        const filled = (this.rows[0]?.filled ?? 0) + 1;
        if (filled > 1) this.rows.shift();
        const count = filled === 1 ? "1 missing trade was" : `${grouped(String(filled))} missing trades were`;
        this.#add({ kind: "note", text: `${count} filled in`, seq, filled });
    }

    /** Appends the outcome of a gap to its note; returns whether there is one. */
    settle(from, to, text) {
        const place = this.rows.findIndex(({ gap }) => gap?.from === from && gap.to === to);
        if (place < 0) return false;
        const known = this.rows[place];
        this.rows[place] = { ...known, text: `${known.gap.words}, ${text}` };
        return true;
    }

    /** Adds earlier trades, the oldest first, below those that are there. */
    addEarlier(trades) {
        const oldest = this.rows.findLast(({ kind }) => kind === "trade")?.seq ?? Infinity;
        let last;
        const rows = [];
        for (const trade of trades.slice(-most)) {
            last = row(trade, last);
            if (last.seq < oldest) rows.unshift(last);
        }
        this.rows = this.rows.concat(rows).slice(0, most);
    }
}

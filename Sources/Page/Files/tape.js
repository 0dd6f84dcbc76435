// The tape of one symbol: its newest trades with notes between them.

import { compare, grouped } from "./decimal.js";
import { missingWords, settledWords } from "./words.js";

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
    #note(text, seq = null, gap = null) { this.#add({ kind: "note", text, seq, gap }); }

    noteSkipped({ trades, to }) { this.#note(`${trades} trades left out: this page was too slow`, to ?? null); }

    noteCaughtUp({ trades, to }) { this.#note(`caught up: ${trades} trades`, to); }

    noteMove({ reason }) { this.#note(reason ?? "the replay was moved"); }

    /** Notes a gap, unless it is proven that nothing is missing. */
    noteGap({ from, to, overlap, missing, reason }) {
        if (overlap > 0) return;
        const words = `gap${typeof from === "number" ? ` of ${Math.max(0, Math.round((to - from) / 1000))} s` : ""}`;
        this.#note(`${words}${missingWords(missing)}: ${reason ?? "trades may be missing"}`, null, { from, to, words });
    }

    /** Adds the outcome of a gap to its note; without a note, lost trades get one. */
    noteSettled({ from, to, missing, reason }, lost) {
        const text = settledWords(missing, lost, reason);
        const place = this.rows.findIndex(({ gap }) => gap?.from === from && gap.to === to);
        if (place >= 0) this.rows[place] = { ...this.rows[place], text: `${this.rows[place].gap.words}, ${text}` };
        else if (lost > 0n) this.#note(`gap, ${text}`);
    }

    /** Notes a filled trade; those that follow each other are one note. */
    noteFilled(seq) {
        const filled = (this.rows[0]?.filled ?? 0) + 1;
        if (filled > 1) this.rows.shift();
        const count = filled === 1 ? "1 missing trade was" : `${grouped(String(filled))} missing trades were`;
        this.#add({ kind: "note", text: `${count} filled in`, seq, filled });
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

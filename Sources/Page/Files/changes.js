// From which price a symbol's change is counted: that of 24 hours ago where the exchange publishes it or the relay's
// history has it, else the session's first.

import { parse } from "./decimal.js";

const minute = 60_000;
const day = 86_400_000;
// The longest time between a moment and the minute of the last trade before it, at which that trade's price is the one
// of the moment: as on the screen of the terminal (`HistoryStore.price`), ms.
const reach = 300_000;
// The exchange's figures of the last 24 hours are shown for this long, ms.
const dayGoodFor = 300_000;
// One answer has the minutes of the time from which changes are counted for this long, ms.
const ahead = 3_600_000;

/** The prices of a symbol around the time that was 24 hours ago. */
export class DayAgo {
    constructor() {
        // The bars of a minute, in order: {start, close, incomplete}; and the time that the relay was asked for.
        this.minutes = [];
        this.span = { from: 0, to: 0 };
    }

    /** Returns whether the relay was asked for the prices of 24 hours before a time, ms. */
    covers(time) { return spanOf(time).from >= this.span.from && time - day < this.span.to; }

    /** Returns the query for them, for `take`: {span, target}. */
    query(name, time) {
        const span = spanOf(time);
        const limit = (span.to - span.from) / minute;
        return { span, target: `/v1/bars/${encodeURIComponent(name)}?width=1m&from=${span.from}&to=${span.to}&limit=${limit}` };
    }

    take(span, bars) {
        this.span = span;
        this.minutes = (Array.isArray(bars) ? bars : [])
            .filter((bar) => Number.isSafeInteger(bar?.start) && parse(bar.close) !== null)
            .map(({ start, close, incomplete }) => ({ start, close, incomplete: incomplete === true }));
    }

    /** Returns the price of 24 hours before a time; null if it is unknown, or if trades of its minute may be missing. */
    price(time) {
        const at = time - day;
        const bar = this.minutes.findLast(({ start }) => start < at);
        return bar === undefined || bar.incomplete || bar.start + minute <= at - reach ? null : bar.close;
    }
}

/** Returns the starts of the minutes that `DayAgo.price` needs from a time on, {from, to} in ms. */
function spanOf(time) {
    const from = Math.floor((time - day - reach) / minute) * minute - minute;
    return { from, to: from + 2 * minute + reach + ahead };
}

/** Returns the exchange's own figures of a symbol's last 24 hours; null without any that are new enough. */
export function newestDay(symbol, wall) {
    const figures = symbol?.day ?? null;
    return figures !== null && wall - figures.received / 1000 < dayGoodFor ? figures : null;
}

/**
 * Returns the base of a symbol's change: {price, word}.
 * @param venueDay the exchange's own figures of the last 24 hours, or null
 * @param time the time of the symbol's chart, ms
 */
export function changeBase(symbol, venueDay, time) {
    const price = typeof venueDay?.open === "string" ? venueDay.open : symbol.dayAgo.price(time);
    if (price !== null) return { price, word: "24h" };
    return { price: symbol.open, word: "session" };
}

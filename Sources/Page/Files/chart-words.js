// The chart in words, for screen readers.

import { grouped } from "./decimal.js";
import { span } from "./words.js";
import { clock, date, moment, zoneName } from "./zone.js";

const barNames = { 1_000: "1 s", 60_000: "1 m", 300_000: "5 m", 3_600_000: "1 h" };

/** Returns the name of a width of bars: 1 s. */
export const widthName = (width) => barNames[width] ?? "";

/** Returns the time of a bar: a second of today without the date, a longer bar without seconds. */
export function barTime({ start }, width) {
    if (width >= 60_000) return moment(start);
    return date(start) === date(Date.now()) ? clock(start) : `${date(start)} ${clock(start)}`;
}

/** Returns one bar in a sentence, with the relay's own numbers. */
export function barWords({ start, incomplete, texts }, width, decimals) {
    const { open, high, low, close, volume } = texts;
    const prices = [["close", close], ["open", open], ["high", high], ["low", low]]
        .map(([word, text]) => `${word} ${grouped(text, decimals)}`);
    return `${barTime({ start }, width)} ${zoneName(start)}: ${prices.join(", ")}, volume ${volume === null ? "unknown" : grouped(volume)}`
        + (incomplete ? ", incomplete" : "");
}

/** Returns what the chart shows in one sentence: the lowest and the highest price of the view, and its gaps. */
export function chartWords(symbol, series, view, gaps, now) {
    if (symbol === null || symbol.price === null || series.isEmpty) return "Chart: no prices yet";
    const { bars } = series;
    const first = series.place(view.from);
    const end = Math.min(bars.length, series.place(Math.min(view.to, now)) + 1);
    let low = null;
    let high = null;
    let incomplete = 0;
    for (let place = first; place < end; place += 1) {
        const bar = bars[place];
        if (low === null || bar.low < low.low) low = bar;
        if (high === null || bar.high > high.high) high = bar;
        if (bar.incomplete) incomplete += 1;
    }
    const price = (text) => grouped(text, symbol.decimals);
    const length = span(Math.min(view.to, now) - Math.max(view.from, bars[0].start));
    const range = low === null ? "" : `, lowest ${price(low.texts.low)}, highest ${price(high.texts.high)}`;
    const lost = gaps.filter((gap) => gap.lost > 0n).length;
    const ending = lost === 0 ? "" : lost === gaps.length ? " with lost trades" : ` (${lost} with lost trades)`;
    const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
    return `Chart of ${symbol.name} over ${length} in bars of ${widthName(series.width)}: now ${price(symbol.price)}${range}, `
        + (incomplete === 0 ? "" : `${count(incomplete, "incomplete bar")}, `)
        + (gaps.length === 0 ? "no gaps" : `${count(gaps.length, "gap")}${ending}`);
}


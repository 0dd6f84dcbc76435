// The lines and labels of the chart's axes.

import { grouped, write } from "./decimal.js";
import { clock, date, offset } from "./zone.js";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const timeSteps = [1, 2, 5, 10, 15, 30].map((each) => each * second).concat(
    [1, 2, 5, 10, 15, 30].map((each) => each * minute), [1, 2, 3, 6, 12].map((each) => each * hour),
    [1, 2, 5, 10, 30, 90, 365].map((each) => each * day),
);
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns round prices between two prices, with exact texts, for an axis with room for `most` of them. */
export function priceLines(low, high, most, isLogarithmic = false) {
    // Over a small range even lines fit a logarithmic axis, too.
    return isLogarithmic && high / low > 4 ? decades(low, high, most) : even(low, high, most);
}

function line(digits, power, least) {
    const text = power < 0 ? write(digits, -power) : (digits * 10n ** BigInt(power)).toString();
    return { value: Number(text), text: grouped(text, least) };
}

/** Multiples of 1, 2 or 5 times a power of ten. */
function even(low, high, most) {
    const rough = (high - low) / Math.max(2, most);
    let power = Math.floor(Math.log10(rough));
    if (!Number.isFinite(power)) return [];
    let factor = [1, 2, 5].find((each) => each * 10 ** power >= rough);
    if (factor === undefined) {
        factor = 1;
        power += 1;
    }
    const step = factor * 10 ** power;
    const lines = [];
    for (let count = Math.ceil(low / step); count * step <= high && lines.length < 20; count += 1) {
        if (!Number.isSafeInteger(count)) break;
        lines.push(line(BigInt(count) * BigInt(factor), power, -power));
    }
    return lines;
}

/** 1, 2 and 5 times each power of ten; fewer where there is no room. */
function decades(low, high, most) {
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const each = (last - first) * 3 <= most * 1.5 ? [1n, 2n, 5n] : [1n];
    const apart = Math.max(1, Math.ceil((last - first) / Math.max(2, most)));
    const lines = [];
    for (let power = first; power <= last; power += apart) {
        for (const digit of each) lines.push(line(digit, power, 0));
    }
    return lines.filter(({ value }) => value >= low && value <= high);
}

/**
 * Returns round times between two times for an axis with room for `most` of them: {time, text, isDay}. A day begins
 * with its date, in the zone of the page.
 */
export function timeLines(from, to, most) {
    const rough = (to - from) / Math.max(2, most);
    const step = timeSteps.find((each) => each >= rough) ?? 365 * day * Math.ceil(rough / (365 * day));
    const lines = [];
    const begin = from + offset(from);
    for (let local = Math.ceil(begin / step) * step; lines.length < 40; local += step) {
        // The offset may change within the view.
        const time = local - offset(local - offset(from));
        if (time > to) break;
        const of = clock(time);
        const isDay = of === "00:00:00" || step >= day;
        lines.push({ time, isDay, text: isDay ? dayText(time, step) : step < minute ? of : of.slice(0, 5) });
    }
    return lines;
}

function dayText(time, step) {
    const [year, month, number] = date(time).split("-");
    if (step >= 300 * day || (month === "01" && number === "01")) return year;
    return `${months[Number(month) - 1]} ${Number(number)}`;
}

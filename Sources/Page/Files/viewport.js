// The part of time that the chart shows, {from, to} in ms, and how it is moved. Functions of values only.

/** The ranges that are offered; null is everything. */
export const ranges = { "1m": 60_000, "5m": 300_000, "1h": 3_600_000, "1d": 86_400_000, all: null };

export const narrowest = 5_000;
export const widest = 20 * 365 * 86_400_000;
// The free part of the view behind the newest price, so that it does not stick to the edge.
const air = 0.04;
// Bars must be this wide to be chosen without being asked for, px. Narrower ones share a column.
const leastSpacing = 0.5;

export const spanOf = ({ from, to }) => to - from;

/** Returns the view of this length that ends at now. */
export function newest(span, now) {
    const to = now + span * air;
    return { from: to - span, to };
}

/** Returns whether the view shows now, and so moves with it. */
export const isFollowing = (view, now) => view.to >= now && view.from < now;

/** Returns a view that is longer by a factor, in which `at` (ms) stays where it is. */
export function zoomed(view, at, factor) {
    const span = spanOf(view);
    const length = Math.min(widest, Math.max(narrowest, span * factor));
    const share = (at - view.from) / span;
    return { from: at - length * share, to: at + length * (1 - share) };
}

export const moved = (view, by) => ({ from: view.from + by, to: view.to + by });

/**
 * Returns a view that still shows something: at most half of it lies after now, and at most nine tenths before the first
 * bar.
 *
 * @param oldest the start of the first bar, ms; null if there may be earlier ones
 */
export function bounded(view, oldest, now) {
    const span = spanOf(view);
    const latest = Math.min(view.to, now + span / 2);
    const to = oldest === null ? latest : Math.max(latest, Math.min(oldest + span / 10, now + span * air));
    return { from: to - span, to };
}

/** Returns the view after the time has gone on: one that showed now still does, at the same place. */
export function followed(view, before, now) { return isFollowing(view, before) ? moved(view, now - before) : view; }

/** Returns the finest width of bars that has room for each bar, of `widths` in the order from fine to coarse. */
export function widthFor(span, pixels, widths) {
    const names = Object.keys(widths);
    return names.find((name) => (widths[name] / span) * pixels >= leastSpacing) ?? names[names.length - 1];
}

// The part of the prices that the chart shows once the user has chosen it: {low, high, isLogarithmic}, floating point,
// because it only places a picture. Functions of values only.

// The length of the axis, as a share of its greater end.
const [narrowest, widest] = [1e-7, 1e3];

/** Returns limits of which both ends have moved on the axis, by shares of its length; the given ones beyond what can be shown. */
function between(limits, below, above) {
    const [to, from] = limits.isLogarithmic ? [Math.log, Math.exp] : [Number, Number];
    const [first, last] = [to(limits.low), to(limits.high)];
    const length = last - first;
    const [low, high] = [from(first + below * length), from(last + above * length)];
    const share = (high - low) / Math.max(Math.abs(low), Math.abs(high));
    return share >= narrowest && share <= widest && Number.isFinite(high) ? { ...limits, low, high } : limits;
}

/** Returns limits that are longer by a factor, around the same centre. */
export const scaled = (limits, factor) => between(limits, (1 - factor) / 2, (factor - 1) / 2);

/** Returns limits that have moved up by a share of their length. */
export const shifted = (limits, share) => between(limits, share, share);

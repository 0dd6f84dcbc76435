// The gaps and their outcomes from the relay's status (`/v1/status`).

import { lostCount } from "./words.js";

/**
 * Returns the gaps of a symbol from `/v1/status`, in order: `[{from, to, lost}]` in ms, without those whose trades have all
 * come; `lost` is the number of trades that are lost for good.
 */
export function reportedGaps(answer, name) {
    const newest = answer?.gaps?.newest;
    if (!Array.isArray(newest)) return [];
    return newest
        .filter((gap) => Number.isFinite(gap?.from) && Number.isFinite(gap.to) && (gap.symbol ?? name) === name)
        .map(({ from, to, settled }) => ({ from, to, outcome: outcomes(settled).find((one) => one.symbol === name) }))
        .filter(({ outcome }) => outcome === undefined || outcome.lost > 0n)
        .map(({ from, to, outcome }) => ({ from, to, lost: outcome?.lost ?? 0n }))
        .reverse();
}

/** Returns the outcomes of gaps from `/v1/status`: `[{symbol, from, to, lost}]`, `lost` as above. */
export function reportedOutcomes(answer) {
    const newest = answer?.gaps?.newest;
    return Array.isArray(newest) ? newest.flatMap((gap) => outcomes(gap?.settled)) : [];
}

function outcomes(settled) {
    return (Array.isArray(settled) ? settled : [])
        .map(({ symbol, from, to, lost }) => ({ symbol, from, to, lost: lostCount(lost) }));
}

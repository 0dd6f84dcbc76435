// The prices of the relay's bars (`/v1/bars/SYMBOL`) from before the first known trade.

import { lostCount } from "./words.js";

const widths = new Map([["1s", 1_000], ["1m", 60_000]]); // ms
const reach = 7_200_000; // ms
// The largest delay of the relay's clock behind the exchange's for one trade, ms.
const lag = 2_000;

/**
 * Returns the prices and the gaps before `begin` (ms), in order, from the finest bars of each time. A bar has its first
 * price at its beginning and the others at its end, because their times within the bar are unknown. An incomplete bar
 * has all prices at its end, because it may have begun there. The bar with the first known trade is left out, and shows
 * whether a trade may be missing before that.
 *
 * An incomplete bar contains a gap. A known gap in that time is more precise; otherwise the whole bar is the gap.
 *
 * @param answers the responses of `/v1/bars`, the finer width first; null for a failed one
 * @param known the known gaps, `[{from, to}]`
 * @returns `{prices: [{time, price}], gaps: [{from, to}], end}`; `end` is the end of the last bar, -Infinity without
 *     one
 */
export function earlier(answers, begin, known = []) {
    const [seconds = [], minutes = []] = answers.map((answer) => {
        const width = widths.get(answer?.width);
        if (width === undefined || !Array.isArray(answer.bars)) return [];
        return answer.bars
            .filter((bar) => Number.isFinite(bar?.start) && bar.start > begin - reach)
            .map((bar) => ({ ...bar, end: bar.start + width }));
    });
    const [fine, coarse] = [seconds, minutes].map((bars) => bars.filter((bar) => bar.end <= begin));
    // Where the fine bars begin within a complete coarse bar, the coarse one is used for its whole time.
    const first = fine[0]?.start;
    const around = coarse.find((bar) => bar.start < first && first < bar.end && !bar.incomplete);
    const exact = around === undefined ? fine : fine.filter((bar) => bar.start >= around.end);
    const bars = coarse.filter((bar) => bar.end <= (exact[0]?.start ?? begin)).concat(exact);
    const prices = [];
    const gaps = [];
    for (const [index, bar] of bars.entries()) {
        const before = bars[index - 1];
        if (before !== undefined && before.end < bar.start && (before.incomplete || bar.incomplete || isDoubtful(minutes, before.end, bar.start))) {
            gaps.push({ from: before.end, to: bar.start });
        }
        if (before !== undefined && bar.incomplete && !known.some((gap) => gap.from < bar.end + lag && gap.to > bar.start - lag)) {
            gaps.push({ from: bar.start, to: bar.end });
        }
        prices.push({ time: bar.incomplete ? bar.end - 1 : bar.start, price: bar.open });
        for (const price of [bar.low, bar.high, bar.close]) prices.push({ time: bar.end - 1, price });
    }
    const last = bars.at(-1);
    if (last === undefined) return { prices, gaps, end: -Infinity };
    if (last.end < begin && !isSeamless(last, seconds, minutes, begin)) gaps.push({ from: last.end, to: begin });
    return { prices, gaps, end: last.end };
}

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

/**
 * Returns whether something may be missing between two complete bars: a gap between two trades of a quiet symbol
 * touches no bar of a second, but does touch the bar of a minute.
 */
function isDoubtful(minutes, from, to) {
    return minutes.some((bar) => bar.incomplete && bar.start < to && bar.end > from);
}

/** Returns whether no trade can be missing between the last bar before `begin` and the trade at `begin`. */
function isSeamless(last, seconds, minutes, begin) {
    const reaching = seconds.filter((bar) => bar.start <= begin + lag && bar.end > begin - lag);
    if (reaching.length === 0) return !last.incomplete && last.end >= begin - lag;
    if (last.incomplete || reaching.some((bar) => bar.incomplete)) return false;
    // Adjacent bars leave no time for a gap.
    return reaching[0].start <= last.end || !isDoubtful(minutes, last.end, begin);
}

// What the relay's bars (`/v1/bars/SYMBOL`) say of the time before the first trade that is known.

const widths = new Map([["1s", 1_000], ["1m", 60_000]]); // ms
const reach = 7_200_000; // ms
// So much later than the exchange's clock may the relay's have a trade, ms.
const lag = 2_000;

/**
 * The prices and the gaps before `begin` (ms), in order: of the finest bars that are known of each time. A bar has its first
 * price at its beginning and the others at its end, for nobody knows when within it they were made; and one that lacks
 * something has all at its end, for it may have begun there. The bar in which the first known trade lies is left out, and
 * tells whether one may be missing before that.
 *
 * A bar that lacks something has a gap in it. Where one of the gaps that are known lies there, that says it better; else it
 * is the whole bar.
 *
 * @param answers what `/v1/bars` answered, the finer width first; null where it did not
 * @param known the gaps that are known, `[{from, to}]`
 * @returns `{prices: [{time, price}], gaps: [{from, to}], end}`; `end` is where the last bar ends, -Infinity without one
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
    // The fine ones begin within a coarse one, which then stands for its time if it is whole.
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

/** The gaps of a symbol that `/v1/status` knows, in order: `[{from, to}]` in ms. */
export function toldGaps(answer, name) {
    const newest = answer?.gaps?.newest;
    if (!Array.isArray(newest)) return [];
    return newest
        .filter((gap) => Number.isFinite(gap?.from) && Number.isFinite(gap.to) && (gap.symbol ?? name) === name)
        .map(({ from, to }) => ({ from, to }))
        .reverse();
}

/**
 * Whether something may be missing between two bars that are whole: a gap between two trades of a quiet symbol touches no
 * bar of a second, but the minute's.
 */
function isDoubtful(minutes, from, to) {
    return minutes.some((bar) => bar.incomplete && bar.start < to && bar.end > from);
}

/** Whether no trade can be missing between the last bar in front of `begin` and the trade there. */
function isSeamless(last, seconds, minutes, begin) {
    const reaching = seconds.filter((bar) => bar.start <= begin + lag && bar.end > begin - lag);
    if (reaching.length === 0) return !last.incomplete && last.end >= begin - lag;
    if (last.incomplete || reaching.some((bar) => bar.incomplete)) return false;
    // Where one stands behind the other there was no time for a gap.
    return reaching[0].start <= last.end || !isDoubtful(minutes, last.end, begin);
}

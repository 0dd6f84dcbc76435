// What the relay's bars (`/v1/bars/SYMBOL`) say of the time before the first trade that is known.

const widths = new Map([["1s", 1_000], ["1m", 60_000]]); // ms
const reach = 7_200_000; // ms
// So much later than the exchange's clock may the relay's have a trade, ms.
const lag = 2_000;

/**
 * The prices and the gaps before `begin` (ms), in order: of the finest bars that are known of each time. A bar has its first
 * price at its beginning and the others at its end, for nobody knows when within it they were made; and one that lacks
 * something has all at its end, for it may have begun there.
 *
 * @param answers what `/v1/bars` answered, the finer width first; null where it did not
 * @returns `{prices: [{time, price}], gaps: [{from, to}], end}`; `end` is where the last bar ends, -Infinity without one
 */
export function earlier(answers, begin) {
    const [fine = [], coarse = []] = answers.map((answer) => {
        const width = widths.get(answer?.width);
        if (width === undefined || !Array.isArray(answer.bars)) return [];
        return answer.bars
            .filter(({ start }) => Number.isFinite(start) && start > begin - reach && start + width <= begin)
            .map((bar) => ({ ...bar, end: bar.start + width }));
    });
    // The fine ones begin within a coarse one, which then stands for its time if it is whole.
    const first = fine[0]?.start;
    const around = coarse.find((bar) => bar.start < first && first < bar.end && !bar.incomplete);
    const exact = around === undefined ? fine : fine.filter((bar) => bar.start >= around.end);
    const bars = coarse.filter((bar) => bar.end <= (exact[0]?.start ?? begin)).concat(exact);
    const prices = [];
    const gaps = [];
    for (const [index, bar] of bars.entries()) {
        const before = bars[index - 1];
        // Where both are whole, nothing was traded between them.
        if (before !== undefined && before.end < bar.start && (before.incomplete || bar.incomplete)) {
            gaps.push({ from: before.end, to: bar.start });
        }
        prices.push({ time: bar.incomplete ? bar.end - 1 : bar.start, price: bar.open });
        for (const price of [bar.low, bar.high, bar.close]) prices.push({ time: bar.end - 1, price });
    }
    const end = bars.at(-1)?.end ?? -Infinity;
    if (bars.length > 0 && end < begin - lag) gaps.push({ from: end, to: begin });
    return { prices, gaps, end };
}

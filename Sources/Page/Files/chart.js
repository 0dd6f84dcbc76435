// The chart of a session on a canvas: the last price as steps, the range of each bucket behind it, and the gaps.

import { grouped, write } from "./decimal.js";
import { clock, span } from "./words.js";

const margin = { top: 10, right: 0, bottom: 22, left: 0 };

export class Chart {
    constructor(canvas, askToPaint) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.width = 0;
        this.height = 0;
        this.readColours();
        new ResizeObserver(() => { this.#measure(); askToPaint(); }).observe(canvas.parentElement);
        this.#measure();
    }

    /** Reads the colours from the style sheet; must be called when they change. */
    readColours() {
        const style = getComputedStyle(this.canvas);
        const colour = (name) => style.getPropertyValue(name).trim();
        this.colours = {
            line: colour("--accent"), span: colour("--accent-soft"), grid: colour("--line"), text: colour("--muted"),
            gap: colour("--gap"), paper: colour("--card"),
        };
        this.font = `11px ${style.fontFamily}`;
    }

    #measure() {
        const box = this.canvas.parentElement.getBoundingClientRect();
        const ratio = window.devicePixelRatio || 1;
        this.width = Math.max(1, Math.floor(box.width));
        this.height = Math.max(1, Math.floor(box.height));
        this.ratio = ratio;
        this.canvas.width = Math.round(this.width * ratio);
        this.canvas.height = Math.round(this.height * ratio);
    }

    /**
     * @param series the session of one symbol, or null
     * @param last the newest price as text
     * @param until the end of the time axis, ms
     * @param isFaint whether the prices are not current; then no line continues from the last price to the end of the
     *     axis
     * @param decimals the least number of decimals of the newest price
     */
    paint(series, last, until, isFaint, decimals = 0) {
        if ((window.devicePixelRatio || 1) !== this.ratio) this.#measure();
        const draw = this.context;
        draw.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        draw.clearRect(0, 0, this.width, this.height);
        draw.font = this.font;
        draw.globalAlpha = 1;
        if (series === null || series.isEmpty) {
            draw.fillStyle = this.colours.text;
            draw.textAlign = "center";
            draw.textBaseline = "middle";
            draw.fillText("no prices yet", this.width / 2, this.height / 2);
            return;
        }
        const buckets = series.buckets;
        const begin = buckets[0].start;
        const end = Math.max(until, buckets[buckets.length - 1].start + series.width, begin + 10_000);
        let low = Infinity;
        let high = -Infinity;
        for (const bucket of buckets) {
            if (bucket.low < low) low = bucket.low;
            if (bucket.high > high) high = bucket.high;
        }
        const air = (high - low) * 0.08 || Math.abs(high) * 0.0005 || 1;
        const scale = { low: low - air, high: high + air, step: steps(low - air, high + air, this.height / 56) };
        const longest = Math.max(...scale.step.map((line) => draw.measureText(line.text).width), draw.measureText(grouped(last ?? "", decimals)).width);
        const right = this.width - margin.right - longest - 10;
        const bottom = this.height - margin.bottom;
        const x = (time) => margin.left + ((time - begin) / (end - begin)) * (right - margin.left);
        const y = (price) => bottom - ((price - scale.low) / (scale.high - scale.low)) * (bottom - margin.top);

        this.#grid(scale.step, x, y, begin, end, right, bottom, last);
        this.#gaps(series.gaps, x, begin, end, bottom, right);
        draw.save();
        if (isFaint) draw.globalAlpha = 0.5;
        const stretches = series.stretches();
        stretches.forEach((stretch, index) => {
            this.#stretch(stretch, x, y, series.width, index === stretches.length - 1 && !isFaint ? Math.min(until, end) : null);
        });
        draw.restore();
        if (last !== null) this.#last(Number(last), grouped(last, decimals), y, right, isFaint ? this.colours.text : this.colours.line);
    }

    #grid(lines, x, y, begin, end, right, bottom, last) {
        const draw = this.context;
        draw.strokeStyle = this.colours.grid;
        draw.fillStyle = this.colours.text;
        draw.lineWidth = 1;
        draw.textAlign = "left";
        draw.textBaseline = "middle";
        const lastAt = last === null ? NaN : y(Number(last));
        for (const line of lines) {
            const at = Math.round(y(line.value)) + 0.5;
            draw.beginPath();
            draw.moveTo(margin.left, at);
            draw.lineTo(right, at);
            draw.stroke();
            // The label of the newest price takes this place.
            if (!(Math.abs(at - lastAt) < 14)) draw.fillText(line.text, right + 6, at);
        }
        draw.textBaseline = "alphabetic";
        const count = Math.max(2, Math.floor((right - margin.left) / 110));
        const step = niceTime((end - begin) / count);
        let free = -Infinity;
        for (let time = Math.ceil(begin / step) * step; time <= end; time += step) {
            const text = clock(time);
            const half = draw.measureText(text).width / 2;
            const at = Math.min(Math.max(x(time), margin.left + half), right - half);
            if (at - half < free) continue;
            draw.textAlign = "center";
            draw.fillText(text, at, this.height - 6);
            free = at + half + 12;
        }
    }

    /** Draws the bands of the gaps, and on top of each how many trades are lost for good. */
    #gaps(gaps, x, begin, end, bottom, right) {
        const draw = this.context;
        draw.textAlign = "center";
        draw.textBaseline = "top";
        let free = -Infinity;
        for (const gap of gaps) {
            if (gap.to <= begin || gap.from >= end || gap.to === gap.from) continue;
            const from = x(Math.max(gap.from, begin));
            const width = Math.max(2, x(Math.min(gap.to, end)) - from);
            draw.fillStyle = this.colours.gap;
            draw.fillRect(from, margin.top, width, bottom - margin.top);
            if (gap.lost === 0n) continue;
            const text = `${grouped(String(gap.lost))} lost`;
            const half = draw.measureText(text).width / 2;
            const at = Math.min(Math.max(from + width / 2, margin.left + half), right - half);
            if (at - half < free) continue;
            draw.fillStyle = this.colours.text;
            draw.fillText(text, at, margin.top + 2);
            free = at + half + 6;
        }
    }

    #stretch(stretch, x, y, width, until) {
        const draw = this.context;
        draw.strokeStyle = this.colours.span;
        draw.lineWidth = Math.max(1, x(stretch[0].start + width) - x(stretch[0].start));
        draw.lineCap = "butt";
        draw.beginPath();
        for (const bucket of stretch) {
            if (bucket.high === bucket.low) continue;
            const at = x(bucket.start + width / 2);
            draw.moveTo(at, y(bucket.low));
            draw.lineTo(at, y(bucket.high));
        }
        draw.stroke();
        draw.strokeStyle = this.colours.line;
        draw.lineWidth = 1.5;
        draw.lineJoin = "round";
        draw.beginPath();
        let price = stretch[0].close;
        draw.moveTo(x(stretch[0].start), y(price));
        for (const bucket of stretch) {
            // A price holds until the next one.
            draw.lineTo(x(bucket.start), y(price));
            price = bucket.close;
            draw.lineTo(x(bucket.start), y(price));
        }
        draw.lineTo(x(until ?? stretch[stretch.length - 1].start + width), y(price));
        draw.stroke();
    }

    #last(price, text, y, right, colour) {
        const draw = this.context;
        const at = y(price);
        draw.strokeStyle = colour;
        draw.lineWidth = 1;
        draw.setLineDash([2, 3]);
        draw.beginPath();
        draw.moveTo(margin.left, at);
        draw.lineTo(right, at);
        draw.stroke();
        draw.setLineDash([]);
        const width = draw.measureText(text).width + 8;
        draw.fillStyle = colour;
        draw.beginPath();
        draw.roundRect(right + 2, at - 9, width, 18, 4);
        draw.fill();
        draw.fillStyle = this.colours.paper;
        draw.textAlign = "left";
        draw.textBaseline = "middle";
        draw.fillText(text, right + 6, at + 0.5);
    }
}

/** Returns the chart in one sentence, for screen readers. */
export function chartWords(symbol, until) {
    if (symbol === null || symbol.series.isEmpty) return "Chart of the session: no prices yet";
    const series = symbol.series;
    const length = span(until - series.buckets[0].start);
    const gaps = series.gapCount;
    const lost = series.gaps.filter((gap) => gap.lost > 0n).length;
    const ending = lost === 0 ? "" : lost === gaps ? " with lost trades" : ` (${lost} with lost trades)`;
    // After a restart of the program its figures begin again, while the chart continues.
    const range = symbol.low === null ? "" : `lowest ${grouped(symbol.low, symbol.decimals)}, highest ${grouped(symbol.high, symbol.decimals)} in the session, `;
    return `Chart of ${symbol.name} over ${length}: now ${grouped(symbol.price, symbol.decimals)}, ${range}`
        + (gaps === 0 ? "no gaps" : `${gaps} gap${gaps === 1 ? "" : "s"}${ending}`);
}

/** Returns round prices between two prices: multiples of 1, 2 or 5 times a power of ten, with exact texts. */
function steps(low, high, most) {
    const rough = (high - low) / Math.max(2, most);
    const power = Math.floor(Math.log10(rough));
    const factor = [1, 2, 5, 10].find((each) => each * 10 ** power >= rough) ?? 10;
    const step = factor * 10 ** power;
    const lines = [];
    for (let count = Math.ceil(low / step); count * step <= high && lines.length < 20; count += 1) {
        const digits = BigInt(count) * BigInt(factor);
        const text = power < 0 ? write(digits, -power) : (digits * 10n ** BigInt(power)).toString();
        lines.push({ value: count * step, text: grouped(text, -power) });
    }
    return lines;
}

function niceTime(rough) {
    const second = 1000;
    const minute = 60 * second;
    const hour = 60 * minute;
    const nice = [1, 2, 5, 10, 15, 30].map((each) => each * second)
        .concat([1, 2, 5, 10, 15, 30].map((each) => each * minute), [1, 2, 3, 6, 12, 24].map((each) => each * hour));
    return nice.find((each) => each >= rough) ?? 24 * hour * Math.ceil(rough / (24 * hour));
}

// The chart on a canvas: its scale, axes, labels and crosshair; plot.js draws what is between the axes. It holds no state
// of the market: each picture is drawn from a scene.

import { priceLines, timeLines } from "./axes.js";
import { barTime } from "./chart-words.js";
import { grouped } from "./decimal.js";
import { drawPlot } from "./plot.js";

const margin = { top: 10, bottom: 22 };
const volumeShare = 0.18;
const mostLengths = 512;

export class Chart {
    constructor(canvas, askToPaint) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        // The place of the plot within the canvas, px, and the limits of its prices, of the last picture.
        this.plot = { right: 1, bottom: 1, height: 1, limits: { low: 0, high: 0, isLogarithmic: false } };
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
            gap: colour("--gap"), paper: colour("--card"), up: colour("--up"), down: colour("--down"), ink: colour("--ink"),
            volume: colour("--volume"), hatch: colour("--hatch"),
        };
        this.font = `11px ${style.fontFamily}`;
        this.hatches = new Map();
        this.lengths = new Map();
    }

    /** Returns the length of a label, px. The labels of the axes are the same in many pictures. */
    #length(text) {
        let length = this.lengths.get(text);
        if (length === undefined) {
            if (this.lengths.size >= mostLengths) this.lengths.clear();
            this.lengths.set(text, length = this.context.measureText(text).width);
        }
        return length;
    }

    #measure() {
        const box = this.canvas.parentElement.getBoundingClientRect();
        this.ratio = window.devicePixelRatio || 1;
        this.width = Math.max(1, Math.floor(box.width));
        this.height = Math.max(1, Math.floor(box.height));
        this.canvas.width = Math.round(this.width * this.ratio);
        this.canvas.height = Math.round(this.height * this.ratio);
    }

    /** Returns a pattern of diagonal lines of a colour: what it fills is incomplete. */
    #hatch(colour) {
        const known = this.hatches.get(colour);
        if (known !== undefined) return known;
        const size = Math.round(6 * this.ratio);
        const tile = Object.assign(document.createElement("canvas"), { width: size, height: size });
        const draw = tile.getContext("2d");
        draw.strokeStyle = colour;
        draw.lineWidth = 1.2 * this.ratio;
        draw.beginPath();
        for (const shift of [-size, 0, size]) {
            draw.moveTo(shift - 1, size + 1);
            draw.lineTo(shift + size + 1, -1);
        }
        draw.stroke();
        const pattern = this.context.createPattern(tile, "repeat");
        pattern?.setTransform?.(new DOMMatrix().scale(1 / this.ratio));
        this.hatches.set(colour, pattern ?? colour);
        return pattern ?? colour;
    }

    /**
     * @param scene series, view; columns: what of the series is in the view (`Pyramid`); gaps, in order; kind: candles,
     *     line or area; isLogarithmic; hasVolume; last: the newest price as text or null; decimals: the least number of
     *     decimals of a price; now: the end of the time that has passed, ms; isFaint: whether the prices are not current,
     *     and then no line continues from the last price to now; cross: the place of the bar under the crosshair, or
     *     null; note: a text at the left edge, or at the centre without bars; prices: the limits that the user chose, or
     *     null
     */
    paint(scene) {
        if ((window.devicePixelRatio || 1) !== this.ratio) {
            this.#measure();
            this.hatches.clear();
        }
        const draw = this.context;
        draw.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        draw.clearRect(0, 0, this.width, this.height);
        draw.font = this.font;
        draw.lineCap = "butt";
        draw.lineJoin = "round";
        const { columns, view } = scene;
        const shown = limits(scene);
        const { low, high, isLogarithmic } = shown;
        const bottom = this.height - margin.bottom;
        const floor = scene.hasVolume ? margin.top + (bottom - margin.top) * (1 - volumeShare) : bottom;
        const lines = low < high ? priceLines(low, high, (floor - margin.top) / 48, isLogarithmic) : [];
        const texts = [...lines.map((line) => line.text), grouped(scene.last ?? "", scene.decimals)];
        const longest = Math.max(...texts.map((text) => this.#length(text)));
        const right = Math.max(1, this.width - longest - 10);
        this.plot = { right, bottom, height: floor - margin.top, limits: shown };
        const span = view.to - view.from;
        const x = (time) => ((time - view.from) / span) * right;
        const onAxis = isLogarithmic ? Math.log : (price) => price;
        const [first, last] = [onAxis(low), onAxis(high)];
        const y = (price) => floor - ((onAxis(price) - first) / (last - first)) * (floor - margin.top);
        const place = { x, y, right, top: margin.top, bottom, floor, spacing: x(view.from + scene.series.width) };

        const lastAt = scene.last === null || columns.length === 0 ? NaN : y(Number(scene.last));
        this.#grid(lines, scene, place, lastAt);
        draw.save();
        draw.beginPath();
        draw.rect(0, 0, right, bottom);
        draw.clip();
        drawPlot({ draw, colours: this.colours, hatch: (colour) => this.#hatch(colour) }, scene, place);
        draw.restore();
        this.#note(scene, place);
        if (lastAt >= margin.top - 4 && lastAt <= floor + 4) {
            this.#priceLabel(grouped(scene.last, scene.decimals), lastAt, right, scene.isFaint ? this.colours.text : this.colours.line, [2, 3]);
        }
        if (scene.cross !== null) this.#crosshair(scene, place);
    }

    #grid(lines, { view }, { x, y, right, bottom }, lastAt) {
        const draw = this.context;
        draw.strokeStyle = this.colours.grid;
        draw.fillStyle = this.colours.text;
        draw.lineWidth = 1;
        draw.textAlign = "left";
        draw.textBaseline = "middle";
        draw.beginPath();
        for (const line of lines) {
            const at = Math.round(y(line.value)) + 0.5;
            draw.moveTo(0, at);
            draw.lineTo(right, at);
            // The label of the newest price takes this place.
            if (!(Math.abs(at - lastAt) < 14)) draw.fillText(line.text, right + 6, at);
        }
        draw.textBaseline = "alphabetic";
        draw.textAlign = "center";
        let free = -Infinity;
        for (const line of timeLines(view.from, view.to, right / 90)) {
            const at = Math.round(x(line.time)) + 0.5;
            draw.moveTo(at, margin.top);
            draw.lineTo(at, bottom);
            const half = this.#length(line.text) / 2;
            if (at - half < Math.max(free, 0) || at + half > this.width) continue;
            draw.fillStyle = line.isDay ? this.colours.ink : this.colours.text;
            draw.fillText(line.text, at, this.height - 6);
            free = at + half + 12;
        }
        draw.stroke();
    }

    /** Writes the note where it covers no bar, or not at all. */
    #note({ note, columns, series }, { x, right, floor }) {
        const draw = this.context;
        const room = columns.length === 0 ? Infinity : x(series.bars[columns[0].first].start);
        if (note === "" || draw.measureText(note).width + 12 > room) return;
        draw.fillStyle = this.colours.text;
        draw.textBaseline = "middle";
        draw.textAlign = columns.length === 0 ? "center" : "left";
        draw.fillText(note, columns.length === 0 ? right / 2 : 6, (margin.top + floor) / 2);
    }

    /** Draws a price at the axis with a line to it. */
    #priceLabel(text, at, right, colour, dashes) {
        const draw = this.context;
        draw.strokeStyle = colour;
        draw.lineWidth = 1;
        draw.setLineDash(dashes);
        draw.beginPath();
        draw.moveTo(0, Math.round(at) + 0.5);
        draw.lineTo(right, Math.round(at) + 0.5);
        draw.stroke();
        draw.setLineDash([]);
        const width = Math.min(this.#length(text) + 8, this.width - right - 2);
        this.#box(text, right + 2, at - 9, width, colour, this.colours.paper);
    }

    #box(text, left, top, width, ground, ink) {
        const draw = this.context;
        draw.fillStyle = ground;
        draw.beginPath();
        draw.roundRect(left, top, width, 18, 4);
        draw.fill();
        draw.fillStyle = ink;
        draw.textAlign = "left";
        draw.textBaseline = "middle";
        draw.fillText(text, left + 4, top + 9.5);
    }

    /** The crosshair stands on the close of a bar, so that its label is a price that was traded. */
    #crosshair({ series, cross, decimals }, { x, y, right, bottom, top, floor }) {
        const bar = series.bars[cross];
        if (bar === undefined) return;
        const draw = this.context;
        const at = Math.round(x(bar.start + series.width / 2)) + 0.5;
        if (at < 0 || at > right) return;
        draw.strokeStyle = this.colours.ink;
        draw.lineWidth = 1;
        draw.setLineDash([4, 3]);
        draw.beginPath();
        draw.moveTo(at, margin.top);
        draw.lineTo(at, bottom);
        draw.stroke();
        const level = y(bar.last);
        // The user's limits may leave it out.
        if (level >= top - 4 && level <= floor + 4) {
            this.#priceLabel(grouped(bar.texts.close, decimals), level, right, this.colours.ink, [4, 3]);
            draw.beginPath();
            draw.arc(at, level, 3, 0, 2 * Math.PI);
            draw.fillStyle = this.colours.ink;
            draw.fill();
        }
        const text = barTime(bar, series.width);
        const width = draw.measureText(text).width + 8;
        this.#box(text, Math.min(Math.max(0, at - width / 2), this.width - width), bottom + 2, width, this.colours.ink, this.colours.paper);
    }
}

/** Returns the lowest and the highest price of the axis, with some room, and whether it can be logarithmic. */
function limits({ columns, last, view, now, isLogarithmic, prices }) {
    if (prices !== null) return { low: prices.low, high: prices.high, isLogarithmic: isLogarithmic && prices.low > 0 };
    let low = Infinity;
    let high = -Infinity;
    for (const column of columns) {
        if (column.low < low) low = column.low;
        if (column.high > high) high = column.high;
    }
    if (last !== null && now >= view.from && now <= view.to && columns.length > 0) {
        low = Math.min(low, Number(last));
        high = Math.max(high, Number(last));
    }
    if (low > high) return { low: 0, high: 0, isLogarithmic: false };
    // Without a positive price there is no logarithm.
    if (isLogarithmic && low > 0) {
        const air = (high / low) ** 0.08 === 1 ? 1.0005 : (high / low) ** 0.08;
        return { low: low / air, high: high * air, isLogarithmic: true };
    }
    const air = (high - low) * 0.08 || Math.abs(high) * 0.0005 || 1;
    return { low: low - air, high: high + air, isLogarithmic: false };
}

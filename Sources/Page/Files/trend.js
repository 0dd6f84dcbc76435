// The small picture of a symbol's last hour in its row: one price a minute, at first one each 10 s. It is a picture only;
// no number is read from it.

const most = 60; // prices
const shortest = 600_000; // ms of the minutes; up to here the picture is of shorter parts

/** The closing prices of equally long parts of time with trades, in order: {start, price}. */
class Closes {
    constructor(length) {
        this.length = length; // ms
        this.all = [];
    }

    #start(time) { return Math.floor(time / this.length) * this.length; }

    /** Returns whether the price changes anything. */
    add(time, price) {
        const start = this.#start(time);
        if (!Number.isFinite(price) || !Number.isSafeInteger(start)) return false;
        const last = this.all.at(-1);
        // A replay that was moved back begins again.
        if (last !== undefined && start < last.start - this.length) this.all = [];
        if (last !== undefined && start <= last.start && this.all.length > 0) {
            if (last.price === price) return false;
            last.price = price;
        } else {
            this.all.push({ start, price });
        }
        while (this.all.length > most || this.all[0].start <= start - most * this.length) this.all.shift();
        return true;
    }

    /** Takes the relay's bars. They know more than this page, except of the newest part. */
    takeEarlier(bars) {
        const earlier = (Array.isArray(bars) ? bars : [])
            .map((bar) => ({ start: this.#start(bar?.start), price: typeof bar?.close === "string" ? Number(bar.close) : NaN }))
            .filter(({ start, price }) => Number.isSafeInteger(start) && Number.isFinite(price));
        const last = this.all.at(-1);
        const newest = last?.start ?? earlier.at(-1)?.start;
        const known = new Map([...this.all, ...earlier].map((each) => [each.start, each]));
        if (last !== undefined) known.set(newest, last);
        this.all = [...known.values()].sort((one, other) => one.start - other.start)
            .filter(({ start }) => start > newest - most * this.length && start <= newest).slice(-most);
    }
}

export class Trend {
    #minutes = new Closes(60_000);
    #tens = new Closes(10_000);

    constructor() { this.version = 0; }

    get minutes() { return this.#minutes.all; }

    /** Whether the time is too short for a picture of minutes. */
    get isShort() { return this.minutes.length === 0 || this.minutes.at(-1).start - this.minutes[0].start < shortest; }

    /** The prices of the picture. */
    get shown() { return this.isShort && this.#tens.all.length > 1 ? this.#tens.all : this.minutes; }

    add(time, text) {
        const price = typeof text === "string" ? Number(text) : NaN;
        const isChanged = [this.#minutes.add(time, price), this.#tens.add(time, price)].includes(true);
        if (isChanged) this.version += 1;
    }

    /** Takes the relay's bars of a minute. */
    takeEarlier(bars) {
        this.#minutes.takeEarlier(bars);
        this.version += 1;
    }

    /** Takes the relay's bars of a second. */
    takeSeconds(bars) {
        this.#tens.takeEarlier(bars);
        this.version += 1;
    }
}

/** Draws a trend over the whole canvas. */
export function drawTrend(canvas, { shown }, colour) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth || 64, canvas.clientHeight || 20];
    if (canvas.width !== Math.round(width * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
    }
    const draw = canvas.getContext("2d");
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, height);
    if (shown.length === 0) return;
    const prices = shown.map(({ price }) => price);
    const [low, high] = [Math.min(...prices), Math.max(...prices)];
    const end = shown[shown.length - 1].start;
    const length = Math.max(1, end - shown[0].start);
    const x = (start) => width - 1 - ((end - start) / length) * (width - 2);
    const y = (price) => (high === low ? height / 2 : height - 2 - ((price - low) / (high - low)) * (height - 4));
    draw.beginPath();
    draw.moveTo(x(shown[0].start), y(prices[0]));
    for (const { start, price } of shown) draw.lineTo(x(start), y(price));
    if (shown.length === 1) draw.lineTo(0, y(prices[0]));
    draw.strokeStyle = colour;
    draw.lineWidth = 1.2;
    draw.stroke();
}

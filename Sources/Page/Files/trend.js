// The small picture of a symbol's last hour in its row: one price a minute. It is a picture only; no number is read from it.

const minute = 60_000;
const most = 60;

export class Trend {
    constructor() {
        // The closing prices of the minutes with trades, in order: {start, price}.
        this.minutes = [];
        this.version = 0;
    }

    add(time, text) {
        const price = typeof text === "string" ? Number(text) : NaN;
        const start = Math.floor(time / minute) * minute;
        if (!Number.isFinite(price) || !Number.isSafeInteger(start)) return;
        const last = this.minutes[this.minutes.length - 1];
        // A replay that was moved back begins again.
        if (last !== undefined && start < last.start - minute) this.minutes = [];
        if (last !== undefined && start <= last.start && this.minutes.length > 0) {
            if (last.price === price) return;
            last.price = price;
        } else {
            this.minutes.push({ start, price });
        }
        while (this.minutes.length > most || this.minutes[0].start <= start - most * minute) this.minutes.shift();
        this.version += 1;
    }

    /** Takes the relay's bars of a minute. They know more than this page, except of the newest minute. */
    takeEarlier(bars) {
        const earlier = (Array.isArray(bars) ? bars : [])
            .map((bar) => ({ start: bar?.start, price: typeof bar?.close === "string" ? Number(bar.close) : NaN }))
            .filter(({ start, price }) => Number.isSafeInteger(start) && Number.isFinite(price));
        const last = this.minutes.at(-1);
        const newest = last?.start ?? earlier.at(-1)?.start;
        const known = new Map([...this.minutes, ...earlier].map((each) => [each.start, each]));
        if (last !== undefined) known.set(newest, last);
        this.minutes = [...known.values()].sort((one, other) => one.start - other.start)
            .filter(({ start }) => start > newest - most * minute && start <= newest).slice(-most);
        this.version += 1;
    }
}

/** Draws a trend over the whole canvas. */
export function drawTrend(canvas, { minutes }, colour) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth || 64, canvas.clientHeight || 20];
    if (canvas.width !== Math.round(width * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
    }
    const draw = canvas.getContext("2d");
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, height);
    if (minutes.length === 0) return;
    const prices = minutes.map(({ price }) => price);
    const [low, high] = [Math.min(...prices), Math.max(...prices)];
    const end = minutes[minutes.length - 1].start;
    const length = Math.max(minute, end - minutes[0].start);
    const x = (start) => width - 1 - ((end - start) / length) * (width - 2);
    const y = (price) => (high === low ? height / 2 : height - 2 - ((price - low) / (high - low)) * (height - 4));
    draw.beginPath();
    draw.moveTo(x(minutes[0].start), y(prices[0]));
    for (const { start, price } of minutes) draw.lineTo(x(start), y(price));
    if (minutes.length === 1) draw.lineTo(0, y(prices[0]));
    draw.strokeStyle = colour;
    draw.lineWidth = 1.2;
    draw.stroke();
}

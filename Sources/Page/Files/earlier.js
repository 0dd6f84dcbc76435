// Loads what the rows need from before the page was opened: the closing prices of the last hour, and the price of 24
// hours ago. Each symbol is asked for as it comes, with one request after another.

const pause = 60_000; // ms between two requests of a kind for one symbol
const trendLength = 60; // bars of a minute
const secondsLength = 600; // bars of a second, for a trend of few minutes

export class Earlier {
    /**
     * @param market the state of the symbols
     * @param ask(target) gives the relay's answer, or null
     * @param isOpen() whether the relay can be asked
     * @param changed() is called when there is more to show
     */
    constructor(market, { ask, isOpen, changed }) {
        this.market = market;
        this.ask = ask;
        this.isOpen = isOpen;
        this.changed = changed;
        this.isAsking = false;
        // The number of the connection: minutes may be missing that passed between two of them.
        this.connection = 0;
        // What was asked for, by symbol: trend: the connection whose last hour is there; trendAt, dayAt: when.
        this.asked = new WeakMap();
    }

    /** Must be called for each new connection. */
    connected() { this.connection += 1; }

    /** Asks for what is missing; must be called a few times a second. */
    async tick(now) {
        if (this.isAsking) return;
        this.isAsking = true;
        for (let load = this.#next(now); load !== null; load = this.#next(performance.now())) {
            await load();
            this.changed();
        }
        this.isAsking = false;
    }

    /** Returns the next load; null if nothing is missing or it was asked for just now. */
    #next(now) {
        if (!this.isOpen()) return null;
        for (const symbol of this.market.symbols.values()) {
            // A symbol that never traded has no history.
            if (symbol.seq === null) continue;
            let asked = this.asked.get(symbol);
            if (asked === undefined) this.asked.set(symbol, asked = { trend: null, trendAt: -Infinity, dayAt: -Infinity });
            if (asked.trend !== this.connection && now - asked.trendAt >= pause) {
                asked.trendAt = now;
                return () => this.#loadTrend(symbol, asked);
            }
            const time = this.market.chartTime(symbol, now);
            if (this.market.day(symbol, now) === null && !symbol.dayAgo.covers(time) && now - asked.dayAt >= pause) {
                asked.dayAt = now;
                return () => this.#loadDayAgo(symbol, time);
            }
        }
        return null;
    }

    async #loadTrend({ name, trend }, asked) {
        const { connection } = this;
        const answer = await this.ask(`/v1/bars/${encodeURIComponent(name)}?width=1m&limit=${trendLength}`);
        if (answer === null) return;
        asked.trend = connection;
        trend.takeEarlier(answer.bars);
        if (!trend.isShort || !(answer.bars?.length > 0)) return;
        const fine = await this.ask(`/v1/bars/${encodeURIComponent(name)}?width=1s&limit=${secondsLength}`);
        if (fine !== null) trend.takeSeconds(fine.bars);
    }

    async #loadDayAgo({ name, dayAgo }, time) {
        const { target, span } = dayAgo.query(name, time);
        const answer = await this.ask(target);
        if (answer !== null) dayAgo.take(span, answer.bars);
    }
}

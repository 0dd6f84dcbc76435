// What the relay's person holds (/v1/holdings), at the newest prices. Amounts are exact decimals; those that a rate converts
// are rounded half to even to 18 digits, as on the screen of the terminal.

import { add, compare, divide, multiply, rounded, subtract } from "./decimal.js";

const list = (value) => (Array.isArray(value) ? value : []);
const isTextual = (object, keys) => keys.every((key) => typeof object?.[key] === "string");

export class Portfolio {
    /** @param answer the JSON of `/v1/holdings`, or null */
    constructor(answer) {
        this.currency = typeof answer?.currency === "string" ? answer.currency : null;
        this.isHidden = answer?.hidden === true;
        this.rates = list(answer?.rates).filter((rate) => isTextual(rate, ["symbol", "base", "quote"]));
        this.groups = list(answer?.groups).filter((group) => isTextual(group, ["name"]) && Array.isArray(group.symbols));
        this.lots = new Map();
        for (const lot of list(answer?.lots)) {
            if (!isTextual(lot, ["symbol", "quantity", "cost", "currency"])) continue;
            this.lots.set(lot.symbol, [...(this.lots.get(lot.symbol) ?? []), lot]);
        }
    }

    /**
     * Returns the worth of a symbol's lots; null without lots or without a price.
     * @param priceOf returns {now, before} of a symbol: its price, and the one from which its change is counted; or null
     */
    worth(name, priceOf) {
        const lots = this.lots.get(name);
        const price = lots === undefined ? null : priceOf(name);
        if (price === null) return null;
        const sum = (part) => lots.reduce((all, lot) => add(all, multiply(lot.quantity, part(lot))), "0");
        const worth = {
            currency: lots[0].currency, quantity: sum(() => "1"), value: sum(() => price.now), cost: sum((lot) => lot.cost),
            before: sum(() => price.before),
        };
        const rate = this.#rate(worth.currency);
        const factor = rate === undefined ? null : priceOf(rate.symbol);
        if (factor === null || compare(factor.now, "0") <= 0) return worth;
        const isDirect = rate.base === worth.currency;
        for (const key of ["value", "cost", "before"]) {
            worth[key] = isDirect ? multiply(divide(worth[key], "1"), factor.now) : divide(worth[key], factor.now);
        }
        return { ...worth, currency: this.currency };
    }

    #rate(currency) {
        if (this.currency === null || this.currency === currency) return undefined;
        return this.rates.find(({ base, quote }) => (base === currency && quote === this.currency)
            || (base === this.currency && quote === currency));
    }

    /** Returns the sums of the known worths of these symbols, one for each currency. */
    totals(names, priceOf) {
        const totals = new Map();
        for (const name of names) {
            const worth = this.worth(name, priceOf);
            if (worth === null) continue;
            const total = totals.get(worth.currency) ?? { currency: worth.currency, value: "0", cost: "0", before: "0" };
            for (const key of ["value", "cost", "before"]) total[key] = add(total[key], worth[key]);
            totals.set(worth.currency, total);
        }
        return [...totals.values()];
    }

    /** Returns the value of all holdings; null unless all have a price and one currency, and their sum is positive. */
    whole(priceOf) {
        const names = [...this.lots.keys()];
        if (names.some((name) => priceOf(name) === null)) return null;
        const totals = this.totals(names, priceOf);
        return totals.length === 1 && compare(totals[0].value, "0") > 0 ? totals[0].value : null;
    }
}

/** Returns the share of a worth in the value of all holdings, in percent with one digit. */
export const weightOf = (worth, whole) => rounded(multiply(divide(worth.value, whole), "100"), 1);
export const profitOf = (worth) => subtract(worth.value, worth.cost);
export const todayOf = (worth) => subtract(worth.value, worth.before);

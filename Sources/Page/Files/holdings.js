// Groups of symbols as tabs, the order of the list, and the sums of the holdings.

import { change, compare, grouped, rounded } from "./decimal.js";
import { Portfolio, profitOf, todayOf, weightOf } from "./portfolio.js";
import { find, setData, setText } from "./texts.js";
import { freshness, isRefused } from "./words.js";

const hiddenKey = "tickertape.hidden";
const orderEvery = 1000; // ms between two orders of the list, so that rows can be read
const dots = "•••••";
// The orders that need holdings, and their names.
const heldOrders = { value: "By value", profit: "By profit" };
// The orders of the settings in which this page can list; others keep the order of the group.
const descending = {
    price: (market, symbol) => symbol.price,
    change: (market, symbol, now) => ratio(symbol.price, market.base(symbol, now)?.price),
    volume: (market, symbol) => symbol.volume,
};

function ratio(price, base) {
    const share = Number(price) / Number(base);
    return Number.isFinite(share) ? String(share) : null;
}

/** Returns an amount as it is shown: with two decimals, and with up to eight below one half. */
function shown(amount) {
    return grouped(rounded(amount, rounded(amount, 0) === "0" ? 8 : 2), 2);
}

export class Holdings {
    constructor(market) {
        this.market = market;
        this.portfolio = new Portfolio(null);
        this.open = null; // the index of the open group, or null
        this.orders = new Map();
        this.orderedAt = -Infinity;
        this.isHidden = null; // null: as the settings say
        try {
            const kept = localStorage.getItem(hiddenKey);
            if (kept !== null) this.isHidden = kept === "true";
        } catch {
            // Without storage the choice lasts for this visit.
        }
        this.totals = find("totals");
        find("sort").addEventListener("change", () => {
            this.orders.set(this.open, find("sort").value);
            this.orderedAt = -Infinity;
        });
        find("amounts").addEventListener("click", () => {
            this.isHidden = !this.hides;
            try {
                localStorage.setItem(hiddenKey, String(this.isHidden));
            } catch {
                // As above.
            }
            this.#showHidden();
        });
    }

    get hides() { return this.isHidden ?? this.portfolio.isHidden; }

    /** Takes the JSON of `/v1/holdings`, or null. */
    take(answer) {
        this.portfolio = new Portfolio(answer);
        const { groups, lots } = this.portfolio;
        if (this.open !== null && this.open >= groups.length) this.open = null;
        find("groups").hidden = groups.length === 0;
        find("groups").replaceChildren(...["All", ...groups.map(({ name }) => name)].map((name, place) => {
            const tab = Object.assign(document.createElement("button"), { type: "button", textContent: name });
            tab.addEventListener("click", () => this.#choose(place === 0 ? null : place - 1));
            return tab;
        }));
        find("amounts").hidden = lots.size === 0;
        for (const option of [...find("sort").options].filter(({ value }) => Object.hasOwn(heldOrders, value))) option.remove();
        if (lots.size > 0) find("sort").append(...Object.entries(heldOrders).map(([order, name]) => new Option(name, order)));
        this.#choose(this.open);
        this.#showHidden();
    }

    #choose(group) {
        this.open = group;
        [...find("groups").children].forEach((tab, place) => {
            tab.setAttribute("aria-pressed", String(place === (group === null ? 0 : group + 1)));
        });
        find("sort").value = this.#order;
        if (find("sort").value === "") find("sort").value = "watchlist";
        this.orderedAt = -Infinity;
    }

    #showHidden() {
        find("amounts").setAttribute("aria-pressed", String(this.hides));
    }

    get #order() { return this.orders.get(this.open) ?? this.portfolio.groups[this.open]?.order ?? "watchlist"; }

    /** Returns the names of the list from top to bottom, ordered anew at most once a second. */
    list(now) {
        const group = this.portfolio.groups[this.open];
        const all = group === undefined ? [...this.market.symbols.keys()] : group.symbols.filter((name) => this.market.symbols.has(name));
        const key = `${this.open} ${all.join("\n")}`;
        if (key === this.listKey && now - this.orderedAt < orderEvery) return this.listed;
        this.listKey = key;
        this.orderedAt = now;
        // An order chosen here is not reversed.
        const isReversed = !this.orders.has(this.open) && group?.reversed === true;
        const sorted = this.#sorted(all, now);
        this.listed = isReversed ? sorted.reverse() : sorted;
        return this.listed;
    }

    #sorted(names, now) {
        const order = this.#order;
        if (order === "symbol") return [...names].sort();
        const symbols = this.market.symbols;
        if (order === "age") {
            const arrival = (name) => symbols.get(name).arrival ?? -Infinity;
            return [...names].sort((a, b) => arrival(b) - arrival(a) || 0);
        }
        const amount = { value: (worth) => worth.value, profit: profitOf }[order];
        const of = descending[order];
        if (amount === undefined && of === undefined) return names;
        const keys = new Map(names.map((name) => {
            const worth = amount === undefined ? null : this.#worth(name, now);
            return [name, amount === undefined ? of(this.market, symbols.get(name), now) : worth === null ? null : amount(worth)];
        }));
        return [...names].sort((a, b) => {
            const [first, second] = [keys.get(a), keys.get(b)];
            if (first === null || second === null) return (first === null) - (second === null);
            return compare(second, first);
        });
    }

    #prices(now) {
        return (name) => {
            const symbol = this.market.symbols.get(name);
            if (symbol === undefined || symbol.price === null || isRefused(symbol)) return null;
            return { now: symbol.price, before: this.market.base(symbol, now)?.price ?? symbol.price };
        };
    }

    #worth(name, now) { return this.portfolio.worth(name, this.#prices(now)); }

    #amount(amount, isSigned = false) {
        if (this.hides) return dots;
        return `${isSigned && compare(amount, "0") > 0 ? "+" : ""}${shown(amount)}`.replace("-", "−");
    }

    /** Returns the holding of a symbol as parts of one line, [text, way]; empty without one. */
    rowParts(name, now) {
        if (!this.portfolio.lots.has(name)) return [];
        const worth = this.#worth(name, now);
        if (worth === null) return [];
        const quantity = this.hides ? dots : grouped(worth.quantity);
        if (this.wholeAt !== now) {
            this.wholeAt = now;
            this.whole = this.portfolio.whole(this.#prices(now));
        }
        const weight = this.whole === null ? null : weightOf(worth, this.whole);
        return [
            [`${quantity} = ${this.#amount(worth.value)} ${worth.currency}`, "none"],
            this.#gain(profitOf(worth), worth.value, worth.cost, ""), [weight === null ? "" : `${weight} %`, "none"],
        ].filter(([text]) => text !== "");
    }

    #gain(amount, value, before, label) {
        const moved = change(value, before);
        const percent = moved?.percent == null ? "" : ` (${moved.percent})`;
        const way = moved === null || moved.direction === 0 ? "none" : moved.direction > 0 ? "up" : "down";
        return [`${label}${this.#amount(amount, true)}${percent}`, way];
    }

    /** Shows the sums of the open group's holdings; one of an old price is as old. */
    paint(words, now) {
        const group = this.portfolio.groups[this.open];
        const held = [...this.portfolio.lots.keys()].filter((name) => group === undefined || group.symbols.includes(name));
        const prices = this.#prices(now);
        const priced = held.map((name) => this.market.symbols.get(name)).filter((symbol) => symbol?.price != null);
        const spans = new Set(priced.map((symbol) => this.market.base(symbol, now)?.word).filter((word) => word !== undefined));
        const isFresh = priced.every((symbol) => freshness(symbol, words) === "fresh");
        setData(this.totals, "freshness", String(isFresh));
        const lines = this.portfolio.totals(held, prices).map((total) => [
            [`${this.#amount(total.value)} ${total.currency}`, "none"],
            this.#gain(todayOf(total), total.value, total.before, `${[...spans].join("/")} `),
            this.#gain(profitOf(total), total.value, total.cost, "profit "),
        ]);
        const missing = held.filter((name) => this.#worth(name, now) === null).length;
        if (missing > 0) lines.push([[`${missing} of ${held.length} without a price`, "warning"]]);
        if (this.totals.hidden !== (lines.length === 0)) this.totals.hidden = lines.length === 0;
        showParts(this.totals, lines);
    }
}

/** Shows lines of [text, way] in an element, and changes only what differs. */
export function showParts(element, lines) {
    while (element.children.length > lines.length) element.lastChild.remove();
    while (element.children.length < lines.length) element.append(document.createElement("p"));
    lines.forEach((parts, place) => {
        const line = element.children[place];
        while (line.children.length > parts.length) line.lastChild.remove();
        while (line.children.length < parts.length) line.append(document.createElement("span"));
        parts.forEach(([text, way], index) => {
            setText(line.children[index], text);
            setData(line.children[index], "way", way);
        });
    });
}

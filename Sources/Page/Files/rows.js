// The list of symbols: price, change and the last hour in each row, in the order of the settings. A symbol that the market
// does not know says so in its row.

import { change, grouped } from "./decimal.js";
import { showParts } from "./holdings.js";
import { setData, setText } from "./texts.js";
import { drawTrend } from "./trend.js";
import { freshness, isWrong, meantOf, symbolWords } from "./words.js";

const trendEvery = 1000; // ms between two pictures of one trend

export const addressOf = (name) => `#${encodeURIComponent(name).replaceAll("%3A", ":")}`;

function part(tag, kind) { return Object.assign(document.createElement(tag), { className: kind }); }

export class Rows {
    /**
     * @param actions remove(name)
     * @param holdings the groups, their order, and the holding of each symbol
     */
    constructor(market, actions, holdings) {
        this.market = market;
        this.holdings = holdings;
        this.actions = actions;
        this.list = document.getElementById("symbols");
        this.rows = new Map();
        this.namesShown = "";
        this.filter = "";
        const field = document.getElementById("add");
        field.addEventListener("input", () => this.#search(field.value));
    }

    /** Shows only the rows with this text in their names, while it is typed. */
    #search(text) {
        this.filter = text.trim().toUpperCase();
        const all = [...this.rows];
        for (const [name, row] of all) row.item.hidden = !this.#fits(name);
        const fitting = all.filter(([name]) => this.#fits(name)).length;
        setText(document.getElementById("filter-note"), this.filter === "" ? "" : `${fitting} of ${all.length} symbols here fit`);
    }

    #fits(name) { return this.filter === "" || name.toUpperCase().includes(this.filter); }

    /** Draws the trends anew, in other colours. */
    readColours() { for (const row of this.rows.values()) row.trendShown = -1; }

    paint(words, now) {
        const names = this.holdings.list(now);
        const key = names.join("\n");
        if (this.namesShown !== key) {
            this.namesShown = key;
            const listed = new Set(names);
            for (const [name, row] of this.rows) {
                if (listed.has(name)) continue;
                row.item.remove();
                this.rows.delete(name);
            }
            this.list.append(...names.map((name) => (this.rows.get(name) ?? this.#row(name)).item));
        }
        for (const [name, row] of this.rows) this.#paintRow(row, this.market.symbols.get(name), words, now);
    }

    #paintRow(row, symbol, words, now) {
        const isChosen = symbol.name === this.market.chosen;
        const cannotBeShown = isWrong(symbol);
        if (isChosen !== row.isChosen) {
            row.isChosen = isChosen;
            if (isChosen) row.anchor.setAttribute("aria-current", "true");
            else row.anchor.removeAttribute("aria-current");
        }
        // A wrong symbol cannot be selected.
        if (cannotBeShown !== row.isWrong) {
            row.isWrong = cannotBeShown;
            if (cannotBeShown) row.anchor.removeAttribute("href");
            else row.anchor.href = addressOf(symbol.name);
            setData(row.item, "wrong", String(cannotBeShown));
            // Who asked for it must see why it does not come.
            if (cannotBeShown && symbol.isOurs) row.isToShow = true;
        }
        setText(row.note, symbolWords(symbol));
        const meant = meantOf(symbol);
        if (row.meant.hidden !== (meant === null)) row.meant.hidden = meant === null;
        if (row.isToShow) {
            row.isToShow = false;
            row.item.scrollIntoView({ block: "nearest" });
        }
        if (meant !== null && row.meantLink.textContent !== meant) {
            row.meantLink.textContent = meant;
            row.meantLink.href = addressOf(meant);
        }
        setText(row.price, symbol.price === null ? "" : grouped(symbol.price, symbol.decimals));
        const base = symbol.price === null ? null : this.market.base(symbol, now);
        const moved = base === null ? null : change(symbol.price, base.price);
        setText(row.change, moved?.percent == null ? "" : `${moved.percent} ${base.word}`);
        setData(row.change, "way", moved === null || moved.direction === 0 ? "none" : moved.direction > 0 ? "up" : "down");
        setData(row.item, "freshness", freshness(symbol, words));
        const held = this.holdings.rowParts(symbol.name, now);
        showParts(row.held, held.length === 0 ? [] : [held]);
        const stays = isChosen || !(symbol.isOurs || cannotBeShown);
        if (row.remove.hidden !== stays) row.remove.hidden = stays;
        // At first there is nothing to draw, and what comes must not wait for its turn.
        const hasTrend = symbol.trend.minutes.length > 0;
        if (hasTrend && row.trendShown !== symbol.trend.version && now - row.trendAt >= trendEvery && !row.item.hidden) {
            row.trendShown = symbol.trend.version;
            row.trendAt = now;
            drawTrend(row.trend, symbol.trend, getComputedStyle(row.trend).color);
        }
    }

    #row(name) {
        const item = document.createElement("li");
        const anchor = document.createElement("a");
        anchor.href = addressOf(name);
        const [label, note, price, moved, meant] = ["name", "note", "worth", "change", "meant"].map((kind) => part("span", kind));
        label.textContent = label.title = name;
        // A canvas says nothing to a screen reader; the price and its change stand beside it.
        const trend = part("canvas", "trend");
        trend.setAttribute("aria-hidden", "true");
        const held = part("div", "held");
        anchor.append(label, price, trend, moved, held, note);
        const meantLink = document.createElement("a");
        meant.append("did you mean ", meantLink, "?");
        meant.hidden = true;
        const remove = part("button", "quiet remove");
        remove.type = "button";
        remove.textContent = "×";
        remove.setAttribute("aria-label", `Remove ${name}`);
        remove.addEventListener("click", () => this.actions.remove(name));
        remove.hidden = true;
        item.append(anchor, remove, meant);
        item.hidden = !this.#fits(name);
        const row = {
            item, anchor, note, price, change: moved, trend, held, remove, meant, meantLink,
            isChosen: false, isWrong: false, isToShow: false,
            trendShown: -1, trendAt: -Infinity,
        };
        this.rows.set(name, row);
        return row;
    }
}

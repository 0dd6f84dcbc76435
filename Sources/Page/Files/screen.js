// The elements of the page and their contents.

import { Announcer } from "./announcer.js";
import { change, grouped } from "./decimal.js";
import { ChartPane } from "./pane.js";
import { addressOf, Rows } from "./rows.js";
import { find, setData, setText } from "./texts.js";
import { freshness, marks, meantOf, span, stateWords, symbolWords } from "./words.js";
import { clock, zoneName } from "./zone.js";

const tapeRows = 60;
const tapeBelowEvery = 1000; // ms between two changes of the tape's rows that are not in sight
const paintEvery = 100; // ms
const paintEveryInDrag = 300; // ms, while the chart is dragged
const titleEvery = 1000; // ms between two prices in the title, which the browser draws

export class Screen {
    /** @param actions remove(name), and missing(now): the symbol that was asked for and is not shown, or null */
    constructor(market, relay, history, holdings, actions) {
        this.market = market;
        this.actions = actions;
        this.relay = relay;
        this.isAsked = false;
        this.paintedAt = -Infinity;
        // The state and the symbol that the title says, and since when.
        this.titleOf = "";
        this.titleAt = -Infinity;
        this.rows = [];
        // The number of rows down to the last in sight, and when the others were written.
        this.tapeInSight = tapeRows;
        this.tapeAt = -Infinity;
        this.elements = {};
        for (const id of ["marks", "state", "state-mark", "state-word", "state-detail", "token-form", "token-help", "symbol",
            "price", "direction", "freshness-word", "age", "change", "open", "high", "low", "volume", "trades",
            "session-title", "day", "day-open", "day-high", "day-low", "day-change", "day-volume", "tape", "tape-caption",
            "tape-zone", "about", "asked", "asked-text", "asked-meant", "asked-remove"]) this.elements[id] = find(id);
        this.announcer = new Announcer((text) => setText(find("announcement"), text));
        this.holdings = holdings;
        this.symbols = new Rows(market, actions, holdings);
        this.pane = new ChartPane(market, history, () => relay.state === "open");
        this.elements["asked-remove"].addEventListener("click", () => actions.remove(actions.missing(performance.now())));
        this.#makeTape();
    }

    /**
     * Requests a repaint with the next frame; repeated requests before it are one. Numbers that change more often than
     * ten times a second cannot be read. While the chart is dragged, almost all frames belong to it alone.
     */
    ask() {
        if (this.isAsked) return;
        this.isAsked = true;
        const wait = this.paintedAt + (this.pane.isDragged ? paintEveryInDrag : paintEvery) - performance.now();
        if (wait > 0) setTimeout(() => this.#askForFrame(), wait);
        else this.#askForFrame();
    }

    #askForFrame() {
        requestAnimationFrame(() => {
            this.isAsked = false;
            this.paintedAt = performance.now();
            this.paint(this.paintedAt);
        });
    }

    /** Repaints a visible tab; a hidden tab only updates its title. */
    tick(now) {
        if (document.hidden) this.#title(stateWords(this.market, this.relay, now), now);
        else this.ask();
    }

    paint(now) {
        this.relay.take();
        const words = stateWords(this.market, this.relay, now);
        const symbol = this.market.symbol;
        const fresh = freshness(symbol, words);
        setData(document.body, "level", words.level);
        setData(document.body, "freshness", fresh);
        this.#state(words);
        this.#asked(now);
        this.#price(symbol, fresh, now);
        this.symbols.paint(words, now);
        this.holdings.paint(words, now);
        this.#tape(now);
        this.pane.tools.showTitle(symbol, words);
        this.pane.paint(now, true);
        this.#title(words, now);
        this.announcer.take(words, symbol, now);
    }

    #state(words) {
        const parts = this.elements;
        setData(parts.state, "level", words.level);
        setText(parts["state-mark"], words.mark);
        setText(parts["state-word"], words.word);
        setText(parts["state-detail"], words.detail);
        const needsToken = this.relay.state === "token";
        if (parts["token-form"].hidden === needsToken) {
            parts["token-form"].hidden = !needsToken;
            if (needsToken) find("token").focus();
        }
        if (needsToken) {
            setText(parts["token-help"], this.relay.reason ?? "It is kept for this tab only, and sent to this relay only.");
        }
        const texts = marks(this.market.status);
        if (this.marksShown !== texts.join("\n")) {
            this.marksShown = texts.join("\n");
            parts.marks.replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
        }
        const { version, epoch } = this.market;
        setText(parts.about, version === null ? "Tickertape" : `Tickertape ${version} · run ${epoch}`);
    }

    /** Says of the symbol that was asked for why another one is shown. */
    #asked(now) {
        const parts = this.elements;
        const symbol = this.market.symbols.get(this.actions.missing(now)) ?? null;
        if (parts.asked.hidden !== (symbol === null)) parts.asked.hidden = symbol === null;
        if (symbol === null) return setText(parts["asked-text"], "");
        setText(parts["asked-text"], `${symbol.name}: ${symbolWords(symbol) || "no price yet"}`);
        const meant = meantOf(symbol);
        if (parts["asked-meant"].hidden !== (meant === null)) parts["asked-meant"].hidden = meant === null;
        const link = parts["asked-meant"].querySelector("a");
        if (meant !== null && link.textContent !== meant) {
            link.textContent = meant;
            link.href = addressOf(meant);
        }
        const label = `Remove ${symbol.name}`;
        if (parts["asked-remove"].ariaLabel !== label) parts["asked-remove"].ariaLabel = label;
    }

    #price(symbol, fresh, now) {
        const parts = this.elements;
        setText(parts.symbol, symbol?.name ?? "No symbol yet");
        if (parts.symbol.title !== parts.symbol.textContent) parts.symbol.title = parts.symbol.textContent;
        const price = symbol?.price ?? null;
        setText(parts.price, price === null ? "–" : grouped(price, symbol.decimals));
        const direction = symbol?.direction ?? 0;
        setText(parts.direction, direction > 0 ? "▲" : direction < 0 ? "▼" : "");
        setData(parts.direction, "way", direction > 0 ? "up" : direction < 0 ? "down" : "none");
        setText(parts["freshness-word"], fresh === "old" ? "not current" : fresh === "late" ? "late" : "");
        const age = symbol === null || symbol.arrival === null ? null : this.market.age(symbol.arrival, now);
        const wrong = symbol === null ? "" : symbolWords(symbol);
        const aged = age === null ? "no trade yet" : age < 1000 ? "just now" : `${span(age)} ago`;
        setText(parts.age, wrong === "" || age === null ? (wrong || aged) : `${aged} · ${wrong}`);
        setData(parts.age, "milliseconds", age === null ? "" : String(Math.floor(age)));
        const base = price === null ? null : this.market.base(symbol, now);
        const moved = base === null ? null : change(price, base.price, symbol.decimals);
        setText(parts.change, moved === null ? "" : `${moved.text}${moved.percent === null ? "" : ` (${moved.percent})`} ${base.word}`);
        setData(parts.change, "way", moved === null || moved.direction === 0 ? "none" : moved.direction > 0 ? "up" : "down");
        for (const key of ["open", "high", "low", "volume"]) {
            const text = symbol?.[key] ?? null;
            setText(parts[key], text === null ? "–" : grouped(text, key === "volume" ? 0 : symbol.decimals));
        }
        setText(parts.trades, symbol?.trades == null ? "–" : grouped(String(symbol.trades)));
        this.#day(this.market.day(symbol, now), symbol?.decimals ?? 0);
    }

    /** Shows the exchange's own figures of the last 24 hours beside the session's. */
    #day(day, decimals) {
        const parts = this.elements;
        for (const id of ["day", "session-title"]) if (parts[id].hidden !== (day === null)) parts[id].hidden = day === null;
        if (day === null) return;
        for (const key of ["open", "high", "low", "volume"]) {
            setText(parts[`day-${key}`], typeof day[key] === "string" ? grouped(day[key], key === "volume" ? 0 : decimals) : "–");
        }
        const moved = typeof day.open === "string" ? change(day.last, day.open, decimals) : null;
        setText(parts["day-change"], moved === null ? "–" : `${moved.text}${moved.percent === null ? "" : ` (${moved.percent})`}`);
    }

    /** Draws what has colours of its own anew. */
    readColours() {
        this.pane.readColours();
        this.symbols.readColours();
        this.ask();
    }

    /** Writes all times anew, in another zone. */
    readZone() {
        for (const row of this.rows) row.shown = null;
        setText(this.elements["tape-zone"], zoneName());
        this.pane.readColours();
        this.ask();
    }

    /** Makes all rows once; a new trade changes texts, not the table. */
    #makeTape() {
        for (let index = 0; index < tapeRows; index += 1) {
            const row = document.createElement("tr");
            const cells = [0, 1, 2].map(() => document.createElement("td"));
            row.append(...cells);
            row.hidden = true;
            this.rows.push({ row, cells, shown: null });
            this.elements.tape.append(row);
        }
        const scroll = this.elements.tape.closest(".scroll");
        const look = () => {
            const height = this.rows[0].row.offsetHeight;
            this.tapeInSight = height > 0 ? Math.ceil((scroll.scrollTop + scroll.clientHeight) / height) : tapeRows;
            this.ask();
        };
        scroll.addEventListener("scroll", look);
        const sizes = new ResizeObserver(look);
        sizes.observe(scroll);
        // Its height is known once it holds a trade.
        sizes.observe(this.rows[0].cells[0]);
    }

    #tape(now) {
        const tape = this.market.tape;
        const decimals = this.market.symbol?.decimals ?? 0;
        // The rows below cost as much as those in sight.
        const isWhole = now - this.tapeAt >= tapeBelowEvery;
        if (isWhole) this.tapeAt = now;
        const rows = isWhole ? this.rows : this.rows.slice(0, this.tapeInSight);
        rows.forEach((shown, index) => {
            const entry = tape[index] ?? null;
            if (shown.shown === entry && shown.decimals === decimals) return;
            shown.shown = entry;
            shown.decimals = decimals;
            const { row, cells } = shown;
            if (row.hidden !== (entry === null)) row.hidden = entry === null;
            if (entry === null) return;
            const isNote = entry.kind === "note";
            setData(row, "kind", entry.kind);
            cells[0].colSpan = isNote ? 3 : 1;
            cells[1].hidden = cells[2].hidden = isNote;
            if (isNote) {
                setText(cells[0], entry.text);
                setText(cells[1], "");
                setText(cells[2], "");
                setData(row, "way", "none");
                return;
            }
            setText(cells[0], clock(entry.time, true));
            setText(cells[1], `${entry.direction > 0 ? "▲ " : entry.direction < 0 ? "▼ " : ""}${grouped(entry.price, decimals)}`);
            setText(cells[2], grouped(entry.size));
            setData(row, "way", entry.direction > 0 ? "up" : entry.direction < 0 ? "down" : "none");
        });
        setText(this.elements["tape-caption"], `The newest trades of ${this.market.chosen ?? "the symbol"}, the newest first`);
    }

    #title(words, now) {
        const subject = `${words.word} ${this.market.chosen}`;
        if (subject === this.titleOf && now - this.titleAt < titleEvery) return;
        const symbol = this.market.symbol;
        const price = symbol === null || symbol.price === null ? "" : `${grouped(symbol.price, symbol.decimals)} ${symbol.name}`;
        const title = words.level === "good" ? price || "Tickertape" : `${words.mark} ${words.title ?? words.word}${price === "" ? "" : ` · ${price}`}`;
        this.titleOf = subject;
        this.titleAt = now;
        if (document.title !== title) document.title = title;
    }
}

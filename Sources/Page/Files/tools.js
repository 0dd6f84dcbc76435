// The buttons of the chart, the values of a bar, and full screen. The choices are kept for the next visit.

import { grouped } from "./decimal.js";
import { barTime, widthName } from "./chart-words.js";
import { find, setText } from "./texts.js";
import { ranges } from "./viewport.js";
import { zoneName } from "./zone.js";

const key = "tickertape.chart";
const kinds = ["line", "candles", "area"];
const sizes = ["auto", "1s", "1m", "5m", "1h"];

export class ChartTools {
    /** @param actions changed(): another look; range(name): another range; now(): back to the newest price;
     *     followPrices(): back to the limits of the bars */
    constructor(actions) {
        this.actions = actions;
        // Whether the user chose the range in this visit.
        this.isRangeChosen = false;
        this.pane = find("chart-pane");
        // The range at last, also after zooming.
        this.lastRange = "5m";
        Object.assign(this, { range: "5m", kind: "line", width: "auto", isLogarithmic: false, hasVolume: true });
        this.#load();
        for (const button of this.pane.querySelectorAll("[data-range]")) {
            button.addEventListener("click", () => {
                this.isRangeChosen = true;
                this.setRange(button.dataset.range);
                this.#save();
                actions.range(this.range);
            });
        }
        for (const [id, name] of [["chart-kind", "kind"], ["chart-width", "width"]]) {
            find(id).value = this[name];
            find(id).addEventListener("change", () => this.#choose(name, find(id).value));
        }
        for (const [id, name] of [["chart-volume", "hasVolume"], ["chart-log", "isLogarithmic"]]) {
            find(id).setAttribute("aria-pressed", String(this[name]));
            find(id).addEventListener("click", () => {
                this.#choose(name, !this[name]);
                find(id).setAttribute("aria-pressed", String(this[name]));
            });
        }
        find("chart-now").addEventListener("click", () => {
            actions.now();
            // The button goes away.
            find("chart-touch").focus();
        });
        find("chart-auto").addEventListener("click", () => {
            actions.followPrices();
            find("chart-touch").focus();
        });
        find("chart-full").addEventListener("click", () => this.toggleFullScreen());
        document.addEventListener("fullscreenchange", () => this.#showFullScreen());
        this.setRange(this.range);
    }

    /** Marks a range as chosen; null for none, after zooming. */
    setRange(range) {
        this.range = range;
        if (range !== null) this.lastRange = range;
        for (const button of this.pane.querySelectorAll("[data-range]")) {
            const isPressed = String(button.dataset.range === range);
            if (button.getAttribute("aria-pressed") !== isPressed) button.setAttribute("aria-pressed", isPressed);
        }
    }

    #choose(name, value) {
        this[name] = value;
        this.#save();
        this.actions.changed();
    }

    #load() {
        try {
            const kept = JSON.parse(localStorage.getItem(key) ?? "{}");
            if (Object.hasOwn(ranges, kept?.range)) this.range = kept.range;
            if (kinds.includes(kept?.kind)) this.kind = kept.kind;
            if (sizes.includes(kept?.width)) this.width = kept.width;
            for (const name of ["isLogarithmic", "hasVolume"]) if (typeof kept?.[name] === "boolean") this[name] = kept[name];
        } catch {
            // Without storage, or with another page's text in it, the choices are the usual ones.
        }
    }

    #save() {
        const { range, kind, width, isLogarithmic, hasVolume } = this;
        try {
            localStorage.setItem(key, JSON.stringify({ range, kind, width, isLogarithmic, hasVolume }));
        } catch {
            // Without storage the choices last for this visit.
        }
    }

    /** Shows the values of a bar, as the relay sent them. */
    showBar(bar, width, decimals) {
        setText(find("bar-time"), bar === undefined ? "" : `${barTime(bar, width)} ${zoneName(bar.start)}`);
        for (const name of ["open", "high", "low", "close", "volume"]) {
            const text = bar?.texts[name] ?? null;
            setText(find(`bar-${name}`), text === null ? "–" : grouped(text, name === "volume" ? 0 : decimals));
        }
        setText(find("bar-note"), bar?.incomplete ? "incomplete" : "");
    }

    /**
     * @param isFollowing whether the view shows now
     * @param followsPrices whether the limits of the prices follow the bars
     * @param automatic the width of bars that was chosen for the user, ms; null if the user did
     */
    showState(isFollowing, followsPrices, automatic) {
        if (find("chart-auto").hidden !== followsPrices) find("chart-auto").hidden = followsPrices;
        if (find("chart-now").hidden !== isFollowing) find("chart-now").hidden = isFollowing;
        const option = find("chart-width").options[0];
        setText(option, automatic === null ? "Auto" : `Auto: ${widthName(automatic)}`);
    }

    get isFull() { return document.fullscreenElement === this.pane || this.pane.classList.contains("full"); }

    toggleFullScreen() {
        if (this.isFull) return this.leaveFullScreen();
        const fallBack = () => {
            this.pane.classList.add("full");
            this.#showFullScreen();
        };
        // Phones that show only videos in full screen get the whole window.
        if (this.pane.requestFullscreen === undefined) fallBack();
        else this.pane.requestFullscreen().catch(fallBack);
    }

    leaveFullScreen() {
        if (document.fullscreenElement !== null && document.fullscreenElement !== undefined) document.exitFullscreen();
        if (!this.pane.classList.contains("full")) return;
        this.pane.classList.remove("full");
        this.#showFullScreen();
    }

    #showFullScreen() {
        const button = find("chart-full");
        button.setAttribute("aria-pressed", String(this.isFull));
        this.actions.changed();
    }

    /** In full screen the title says what the rest of the page would: the symbol, and whether its price is current. */
    showTitle(symbol, words) {
        setText(find("chart-title"), this.isFull ? `${symbol?.name ?? ""} · ${words.mark} ${words.word}${words.detail === "" ? "" : `, ${words.detail}`}` : "Chart");
    }
}

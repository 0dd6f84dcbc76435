// Which symbol the page shows large: by its address, a click or the field. It is never one that the market does not know.

import { addressOf } from "./rows.js";
import { isWrong } from "./words.js";

const mostBytes = 64; // of a symbol
const waitUnsaid = 2000; // ms in which a symbol that is asked for may get its first price

function hashSymbol() {
    try {
        return decodeURIComponent(location.hash.slice(1)).trim();
    } catch {
        return ""; // the hash is not UTF-8
    }
}

export class Selection {
    /**
     * @param market the state of the symbols
     * @param relay the connection that the choice is subscribed on
     * @param actions chosen(name): another symbol is shown, null for none; loaded(name): its history is wanted;
     *     asked(): a symbol is asked for; refused(): the market does not know one
     */
    constructor(market, relay, actions) {
        this.market = market;
        this.relay = relay;
        this.actions = actions;
        // The symbol that is selected once the market is known to have it; null for none.
        this.wanted = null;
        this.wantedAt = 0;
        // The symbol that was wanted last and turned out to be wrong, or null.
        this.refused = null;
        // Whether the order of the settings is known, of which the first symbol is selected.
        this.isArranged = false;
        window.addEventListener("hashchange", () => this.wantNamed());
        document.getElementById("add-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#add();
        });
    }

    /** Selects the symbol that the address names. */
    wantNamed() { this.want(hashSymbol()); }

    /**
     * Selects a symbol if the relay has it. Another one is asked for first: it is selected with its first price, and never
     * if the market does not know it.
     */
    want(name) {
        const { market, relay } = this;
        this.wanted = null;
        if (name !== "" && name !== this.refused) this.#forgetRefused();
        if (name === "" || name === market.chosen) return;
        const symbol = market.symbols.get(name);
        if (symbol !== undefined && !isWrong(symbol)) return this.#choose(name);
        this.wanted = name;
        this.wantedAt = performance.now();
        if (market.add(name) === null) this.wanted = null; // the limit of symbols is reached
        else if (relay.state === "open") relay.send({ type: "subscribe", symbol: name });
        if (symbol !== undefined) {
            // The relay has refused it before, and does not say so again.
            this.refused = name;
            this.#leaveAddress(name);
        }
        this.actions.asked();
    }

    /** Replaces the name of a symbol that is not shown in the address. */
    #leaveAddress(name) {
        const { chosen } = this.market;
        if (hashSymbol() === name) window.history.replaceState(null, "", chosen === null ? location.pathname : addressOf(chosen));
    }

    /** Shows another symbol with every trade; the previous one continues with its newest price. */
    #choose(name) {
        const { market, relay } = this;
        const before = market.chosen;
        if (name === before) return;
        market.choose(name);
        if (location.hash !== addressOf(name)) window.history.replaceState(null, "", addressOf(name));
        if (relay.state === "open") {
            // Naming a released symbol would subscribe to it again.
            if (before !== null && !["released", undefined].includes(market.symbols.get(before)?.state)) {
                relay.send({ type: "subscribe", symbol: before, delivery: "latest" });
            }
            relay.send({ type: "subscribe", symbol: name, delivery: "all" });
            this.actions.loaded(name);
        }
        this.actions.chosen(name);
    }

    /** Selects the first symbol of the settings that is not wrong, if none is selected. */
    chooseFirst() {
        if (this.market.chosen !== null || !this.isArranged) return;
        const first = [...this.market.symbols.values()].find((symbol) => symbol.name !== this.wanted && !isWrong(symbol));
        if (first !== undefined) this.#choose(first.name);
    }

    /** Forgets the wrong symbol that was wanted last, because another one is chosen. */
    #forgetRefused() {
        const symbol = this.market.symbols.get(this.refused);
        if (symbol?.isOurs && isWrong(symbol)) this.remove(this.refused);
        this.refused = null;
    }

    /** Takes the news that a symbol has a price. */
    arrived(name) {
        if (name === this.refused) this.refused = null;
        if (name === this.wanted) this.want(name);
        // The page was opened before there was any symbol.
        else this.chooseFirst();
    }

    /** Leaves a symbol that turns out to be wrong; its row says why. */
    refuse(symbol) {
        const { market } = this;
        if ([this.wanted, market.chosen].includes(symbol.name)) this.refused = symbol.name;
        if (symbol.name === this.wanted) this.wanted = null;
        if (symbol.name === market.chosen) {
            market.choose(null);
            this.actions.chosen(null);
            this.chooseFirst();
        }
        this.#leaveAddress(symbol.name);
        this.actions.refused();
    }

    /** Returns the symbol that was asked for and is not shown: a wrong one, or one whose price does not come; or null. */
    missing(now) {
        if (this.wanted !== null && now - this.wantedAt >= waitUnsaid) return this.wanted;
        return this.refused;
    }

    /** Removes a symbol that is not selected. */
    remove(name) {
        if (name === this.market.chosen) return;
        if (name === this.wanted) this.wanted = null;
        if (name === this.refused) this.refused = null;
        this.relay.send({ type: "unsubscribe", symbol: name });
        this.market.forget(name);
    }

    #add() {
        const field = document.getElementById("add");
        const name = field.value.trim();
        const note = document.getElementById("add-note");
        note.textContent = "";
        if (name === "") return;
        if (new TextEncoder().encode(name).length > mostBytes) {
            note.textContent = `A symbol has ${mostBytes} bytes at most.`;
            return;
        }
        field.value = "";
        field.dispatchEvent(new Event("input"));
        this.want(name);
    }
}

// The field for symbols: one of those that fit what is typed is marked, and Enter opens it. Without one Enter adds what
// is typed.

import { find } from "./texts.js";

const answerLimit = 2000; // ms that Enter waits for the symbols that the relay finds

export class Search {
    /** @param found() resolves when the symbols that the relay finds are shown; null if none are being looked for */
    constructor(found) {
        this.found = found;
        this.field = find("add");
        // The link of the marked symbol, or null.
        this.marked = null;
        // Whether the user moved the mark.
        this.isMoved = false;
        this.field.addEventListener("input", () => {
            this.isMoved = false;
            this.#show();
        });
        this.field.addEventListener("keydown", (event) => this.#key(event));
        const lists = new MutationObserver(() => this.#show());
        for (const id of ["symbols", "found"]) {
            lists.observe(find(id), { childList: true });
            find(id).addEventListener("click", (event) => {
                // After the link has been followed.
                if (event.target.closest("a[href]") !== null) setTimeout(() => this.#clear());
            });
        }
    }

    get #typed() { return this.field.value.trim(); }

    /** The links of the symbols that fit, from top to bottom. */
    get #links() {
        if (this.#typed === "") return [];
        return [...document.querySelectorAll("#symbols > li:not([hidden]) > a[href], #found a")];
    }

    /** Marks the symbol that is typed in full, else the first, unless the user has moved the mark. */
    #show() {
        const links = this.#links;
        if (this.isMoved && links.includes(this.marked)) return;
        this.isMoved = false;
        const typed = this.#typed.toUpperCase();
        this.#mark(links.find((link) => link.querySelector(".name").textContent.toUpperCase() === typed) ?? links[0] ?? null);
    }

    #mark(link) {
        if (link === this.marked) return;
        this.marked?.removeAttribute("id");
        this.marked = link;
        if (link === null) return this.field.removeAttribute("aria-activedescendant");
        link.id = "match";
        this.field.setAttribute("aria-activedescendant", "match");
    }

    #key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
        switch (event.key) {
        case "ArrowDown": case "ArrowUp":
            event.preventDefault();
            return this.#move(event.key === "ArrowDown" ? 1 : -1);
        case "Enter":
            event.preventDefault();
            return this.#enter();
        case "Escape":
            if (this.field.value === "") this.field.blur();
            return this.#clear();
        }
    }

    #move(by) {
        const links = this.#links;
        const next = links[links.indexOf(this.marked) + by];
        if (next === undefined) return;
        this.isMoved = true;
        this.#mark(next);
        next.scrollIntoView({ block: "nearest" });
    }

    async #enter() {
        const typed = this.#typed;
        // A symbol with its exchange is a whole one. Part of a name waits for what the relay finds.
        if (this.marked === null && !typed.includes(":")) {
            await Promise.race([this.found(), new Promise((done) => setTimeout(done, answerLimit))]);
            if (this.#typed !== typed) return;
            this.#show();
        }
        if (this.marked === null) find("add-form").requestSubmit();
        else this.marked.click();
        // The keys of the page and of the chart come next.
        this.field.blur();
    }

    #clear() {
        if (this.field.value === "") return;
        this.field.value = "";
        this.field.dispatchEvent(new Event("input"));
    }
}

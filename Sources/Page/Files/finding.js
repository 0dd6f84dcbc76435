// Finnhub's headlines by publisher and text (/v1/news), and symbols that match what is being typed (/v1/symbols). Texts
// of the service are set as text, never as HTML, and only web addresses become links.

import { addressOf } from "./rows.js";
import { clock, moment, zoneName } from "./zone.js";

const newsEvery = 60_000; // ms; the relay keeps headlines for as long
const typingPause = 300; // ms without a key until the search begins
const answerLimit = 20_000; // ms; the relay itself waits for the service for 15 s
const headlines = 100;
const matches = 8;

// The relay's types of failures, as a person reads them.
const failures = {
    "no-key": "No key",
    "key-rejected": "Key rejected",
    "not-permitted": "Not permitted",
    "rate-limited": "Rate limited",
    "unreachable": "Service unreachable",
    "unreadable-answer": "Unreadable answer",
    "no-such-publisher": "No such exchange",
    "token-missing": "Token needed",
    "token-wrong": "Token needed",
};

/**
 * Returns the relay's refusal in words: its type, until when it lasts, what is wrong, and what to do.
 * @param refusal the JSON of a refusal (docs/http.md)
 */
export function failureWords({ type, message, cure, retryAt }) {
    const until = typeof retryAt === "number" ? ` until ${clock(retryAt)} ${zoneName(retryAt)}` : "";
    const word = Object.hasOwn(failures, type) ? failures[type] : "Refused";
    const detail = [message, cure].filter((text) => typeof text === "string" && text !== "").join(": ");
    // The message may begin with the word.
    if (until === "" && detail.toLowerCase().startsWith(word.toLowerCase())) return word[0] + detail.slice(1);
    return `${word}${until}${detail === "" ? "" : `: ${detail}`}`;
}

/** Returns a text as the address of a link; null unless its scheme is http or https. */
export function webAddress(text) {
    try {
        const url = new URL(text);
        return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
    } catch {
        return null;
    }
}

/** Returns the target of a request with these parameters; empty ones are left out. */
function target(path, parameters) {
    const given = Object.entries(parameters).filter(([, value]) => value !== "");
    return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
}

export function newsTarget(publisher, text) {
    return target("/v1/news", { publisher, text: text.trim(), limit: headlines });
}

/** Returns the target of a search for symbols. What stands before a colon is the exchange: `KRAKEN:xbt`. */
export function symbolsTarget(typed) {
    const colon = typed.indexOf(":");
    const publisher = typed.slice(0, Math.max(colon, 0)).trim();
    return target("/v1/symbols", { publisher, text: typed.slice(colon + 1).trim(), limit: matches });
}

/** Returns the relay's answer as {answer}, or {problem}: the reason why there is none, in one line. */
async function ask(path, token) {
    let response;
    try {
        response = await fetch(path, {
            headers: token === null ? {} : { Authorization: `Bearer ${token}` },
            signal: AbortSignal.timeout(answerLimit),
        });
    } catch {
        return { problem: "The relay does not answer: try again later" };
    }
    try {
        const json = await response.json();
        return response.ok ? { answer: json } : { problem: failureWords(json) };
    } catch {
        return { problem: `The relay's answer is not JSON (HTTP ${response.status}): is this its address?` };
    }
}

export function element(name, className, text) {
    const made = document.createElement(name);
    if (className !== "") made.className = className;
    made.textContent = text;
    return made;
}

function headlineItem({ time, headline, publisher, summary, url }) {
    const item = document.createElement("li");
    const address = typeof url === "string" ? webAddress(url) : null;
    // A bdi element keeps the writing direction of its text from changing that of the rest.
    const title = element("bdi", "", String(headline));
    if (address === null) {
        item.append(title);
    } else {
        const link = element("a", "", "");
        link.href = address;
        link.target = "_blank";
        link.rel = "noopener noreferrer";
        link.append(title);
        item.append(link);
    }
    if (typeof summary === "string" && summary !== "") item.title = summary;
    const under = element("p", "source", `${moment(time)} ${zoneName(time)} · `);
    under.append(element("bdi", "", publisher === "" ? "unknown publisher" : String(publisher)));
    item.append(under);
    return item;
}

/** The pane of headlines, and the matches under the field for a symbol. */
export class Finding {
    /** @param relay has the token of the relay, or null */
    constructor(relay) {
        this.relay = relay;
        this.parts = {};
        for (const id of ["news", "news-form", "news-publisher", "news-text", "news-note", "news-count", "news-list", "add",
            "found", "found-note"]) this.parts[id] = document.getElementById(id);
        // The numbers of the newest requests; answers to older ones are dropped.
        this.newsRequests = 0;
        this.searches = 0;
        this.timer = null;
        // Resolves when the newest search has its answer; null without one.
        this.search = null;
        const { news, add } = this.parts;
        news.addEventListener("toggle", () => {
            if (news.open) news.scrollIntoView({ block: "nearest" });
            this.#loadIfSeen();
        });
        this.parts["news-publisher"].addEventListener("change", () => this.load());
        this.parts["news-form"].addEventListener("submit", (event) => {
            event.preventDefault();
            this.load();
        });
        document.addEventListener("visibilitychange", () => this.#loadIfSeen());
        setInterval(() => this.#loadIfSeen(), newsEvery);
        add.addEventListener("input", () => this.#typed(add.value.trim()));
        this.#loadIfSeen();
    }

    #loadIfSeen() {
        if (this.parts.news.open && !document.hidden) this.load();
    }

    /** Loads the headlines of the chosen publisher with the typed words. */
    async load() {
        const parts = this.parts;
        const number = this.newsRequests += 1;
        const found = await ask(newsTarget(parts["news-publisher"].value, parts["news-text"].value), this.relay.token);
        if (number !== this.newsRequests) return;
        parts["news-note"].textContent = found.problem ?? "";
        if (found.problem !== undefined) {
            // Headlines without their state would look current.
            parts["news-count"].textContent = "";
            parts["news-list"].replaceChildren();
            return;
        }
        const list = Array.isArray(found.answer.headlines) ? found.answer.headlines : [];
        this.#offer(found.answer.publishers);
        parts["news-list"].replaceChildren(...list.map(headlineItem));
        parts["news-count"].textContent = list.length === 0
            ? "No headline fits."
            : `${list.length} of ${found.answer.matches} headlines`;
    }

    /** Offers the publishers; the chosen one stays, even if it has no headline any more. */
    #offer(publishers) {
        const choice = this.parts["news-publisher"];
        const names = new Set(Array.isArray(publishers) ? publishers.map(String) : []);
        if (choice.value !== "") names.add(choice.value);
        const key = [...names].join("\n");
        if (this.offered === key) return;
        this.offered = key;
        const chosen = choice.value;
        choice.replaceChildren(new Option("All publishers", ""), ...[...names].map((name) => new Option(name, name)));
        choice.value = chosen;
    }

    #typed(text) {
        clearTimeout(this.timer);
        if (text.length < 2) return this.#clear();
        const number = this.searches += 1;
        this.search = new Promise((shown) => {
            this.timer = setTimeout(async () => {
                const found = await ask(symbolsTarget(text), this.relay.token);
                if (number === this.searches) this.#show(found);
                shown();
            }, typingPause);
        });
    }

    #show(found) {
        const list = Array.isArray(found.answer?.symbols) ? found.answer.symbols : [];
        this.parts.found.replaceChildren(...list.map(({ symbol, displaySymbol, description }) => {
            const link = document.createElement("a");
            link.href = addressOf(symbol);
            link.title = String(symbol);
            link.append(element("bdi", "name", String(symbol)), element("bdi", "note", `${displaySymbol} ${description}`));
            const item = document.createElement("li");
            item.append(link);
            return item;
        }));
        this.parts["found-note"].textContent = found.problem ?? found.answer.note ?? "";
    }

    #clear() {
        clearTimeout(this.timer);
        this.search = null;
        this.searches += 1;
        this.parts.found.replaceChildren();
        this.parts["found-note"].textContent = "";
    }
}

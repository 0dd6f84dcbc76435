// What a screen reader hears without asking: a new state soon, the selected price at a pace.

import { grouped } from "./decimal.js";

const priceInterval = 12_000; // ms between two prices
const stateInterval = 3000; // ms between anything and a new state

export class Announcer {
    /** @param say(text) writes into the element that is read aloud when it changes */
    constructor(say) {
        this.say = say;
        this.state = "";
        this.price = null;
        this.at = -Infinity;
        this.priceAt = 0;
    }

    /**
     * Says what is new, if it is time.
     * @param words the status as text, see `stateWords`
     * @param symbol the selected one, or null
     */
    take(words, symbol, now) {
        if (words.word !== this.state) {
            if (now - this.at < stateInterval) return;
            this.state = words.word;
            this.#write(words.detail === "" ? words.word : `${words.word}, ${words.detail}`, now);
        } else if ((words.level === "good" || words.level === "played") && symbol !== null && symbol.price !== this.price
            && now - this.priceAt >= priceInterval) {
            this.price = symbol.price;
            this.priceAt = now;
            this.#write(`${symbol.name} ${grouped(symbol.price, symbol.decimals)}`, now);
        }
    }

    #write(text, now) {
        this.at = now;
        this.say(text);
    }
}

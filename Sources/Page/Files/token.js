// The relay's token, which the user types into a form. It is stored for this tab only.

import { find } from "./texts.js";

const key = "tickertape.token";

/** Gives the relay the kept token, and each one that is typed. */
export function offerToken(relay) {
    try {
        relay.token = sessionStorage.getItem(key);
    } catch {
        // A browser without storage asks for the token again.
    }
    find("token-form").addEventListener("submit", (event) => {
        event.preventDefault();
        const field = find("token");
        const token = field.value.trim();
        if (token === "") return;
        field.value = "";
        try {
            sessionStorage.setItem(key, token);
        } catch {
            // As above.
        }
        relay.useToken(token);
    });
}

// The colours and the zone of the times, as the user chooses them. Both are kept for the next visit.

import { find } from "./texts.js";
import { isZone, useZone } from "./zone.js";

const themeKey = "tickertape.theme";
const zoneKey = "tickertape.zone";
const themes = ["auto", "light", "dark"];
const glyphs = { auto: "◐", light: "○", dark: "●" };

function keep(key, choice) {
    try {
        localStorage.setItem(key, choice);
    } catch {
        // Without storage the choice lasts for this visit.
    }
}

/** Lets the user choose the colours; theme.js has read the choice of the last visit. */
export function offerTheme(screen) {
    const { dataset } = document.documentElement;
    const button = find("theme");
    const show = () => {
        const { theme } = dataset;
        find("theme-glyph").textContent = glyphs[theme];
        find("theme-word").textContent = theme[0].toUpperCase() + theme.slice(1);
        button.setAttribute("aria-label", `Colours: ${theme === "auto" ? "as the system" : theme}`);
        screen.readColours();
    };
    button.addEventListener("click", () => {
        dataset.theme = themes[(themes.indexOf(dataset.theme) + 1) % themes.length];
        keep(themeKey, dataset.theme);
        show();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    show();
}

/**
 * Lets the user choose the zone of the times. Returns a function that takes the zone of the program's settings, or null
 * for that of the browser; it is used until the user chooses another one.
 */
export function offerZone(screen) {
    const choice = find("zone");
    const named = choice.options[2];
    let isChosen = false;
    const show = () => {
        useZone(choice.value === "utc" ? "UTC" : choice.value);
        screen.readZone();
    };
    choice.options[0].textContent = `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone ?? "this browser's"})`;
    try {
        const kept = localStorage.getItem(zoneKey);
        isChosen = kept === "utc" || kept === "local";
        if (isChosen) choice.value = kept;
    } catch {
        // Without storage the times are the browser's.
    }
    choice.addEventListener("change", () => {
        isChosen = choice.value !== named.value;
        // The zone of the settings may be another one at the next visit.
        keep(zoneKey, isChosen ? choice.value : "");
        show();
    });
    show();
    return (name) => {
        const zone = isZone(name) ? name : "local";
        const isNamed = zone !== "local" && zone !== "UTC";
        const isShown = !isChosen || choice.value === named.value;
        named.hidden = named.disabled = !isNamed;
        if (isNamed) named.value = named.textContent = zone;
        if (isShown) choice.value = zone === "UTC" ? "utc" : zone;
        show();
    };
}

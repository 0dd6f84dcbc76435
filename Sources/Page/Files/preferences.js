// The colours and the zone of the times, as the user chooses them. Both are kept for the next visit.

import { find } from "./texts.js";
import { useZone } from "./zone.js";

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

/** Lets the user choose the zone of the times. */
export function offerZone(screen) {
    const choice = find("zone");
    const show = () => {
        useZone(choice.value);
        screen.readZone();
    };
    choice.options[0].textContent = `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone ?? "this browser's"})`;
    try {
        if (localStorage.getItem(zoneKey) === "utc") choice.value = "utc";
    } catch {
        // Without storage the times are the browser's.
    }
    choice.addEventListener("change", () => {
        keep(zoneKey, choice.value);
        show();
    });
    show();
}

// The keys of the whole page, and the help that lists them with those of the chart.

import { find } from "./texts.js";

/** Takes the keys that no field needs. */
export function offerKeys() {
    const help = find("keys");
    const show = () => { if (!help.open) help.showModal(); };
    const search = async () => {
        // In full screen there is the chart only.
        if (document.fullscreenElement !== null) await document.exitFullscreen();
        find("add").focus();
    };
    find("keys-open").addEventListener("click", show);
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
        if (event.target.closest?.("input, select, textarea") != null) return;
        if (event.key === "?") show();
        else if (event.key === "/") search();
        else return;
        event.preventDefault();
    });
}

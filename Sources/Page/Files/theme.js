// Applies the chosen colours before the first paint: as the system has them, unless the reader chose otherwise.
"use strict";
try {
    const choice = localStorage.getItem("tickertape.theme");
    if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch {
    // A browser that keeps nothing: the system's colours are good.
}

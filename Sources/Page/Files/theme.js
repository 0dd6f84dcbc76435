// Applies the chosen colours before the first paint: those of the system, unless the user chose others.
"use strict";
try {
    const choice = localStorage.getItem("tickertape.theme");
    if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch {
    // Without storage the system's colours apply.
}

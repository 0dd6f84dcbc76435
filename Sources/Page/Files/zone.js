// The time zone of all times on the page: that of the browser, or UTC. Times stay milliseconds since 1970 everywhere;
// only their text depends on the zone.

let isLocal = false;

/** Chooses the zone: "local" is the browser's, everything else UTC. */
export function useZone(choice) { isLocal = choice === "local"; }

/** Returns the zone's offset from UTC at a time, ms. It changes with summer time. */
export function offset(milliseconds) {
    const minutes = isLocal ? new Date(milliseconds).getTimezoneOffset() : 0;
    return Number.isNaN(minutes) ? 0 : -minutes * 60_000;
}

/** Returns the zone at a time as a label: UTC, UTC+1, UTC−3:30. */
export function zoneName(milliseconds = Date.now()) {
    const minutes = Math.round(offset(milliseconds) / 60_000);
    if (minutes === 0) return "UTC";
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `UTC${minutes < 0 ? "−" : "+"}${hours}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
}

/** Returns a time as text of ISO 8601 in the zone, without the zone; empty for what is no time. */
function text(milliseconds) {
    const date = new Date(milliseconds + offset(milliseconds));
    return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** Returns the time of day, 09:30:00, optionally with milliseconds. */
export function clock(milliseconds, isFine = false) { return text(milliseconds).slice(11, isFine ? 23 : 19); }

/** Returns the date, 2026-11-21. */
export function date(milliseconds) { return text(milliseconds).slice(0, 10); }

/** Returns a time as date and time of day, without seconds. */
export function moment(milliseconds) { return text(milliseconds).slice(0, 16).replace("T", " "); }

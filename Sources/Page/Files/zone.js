// The time zone of all times on the page: that of the browser, UTC, or another one. Times stay milliseconds since 1970
// everywhere; only their text depends on the zone.

const slot = 900_000; // ms: offsets change at quarters of an hour only
const mostSlots = 5_000;
const units = ["year", "month", "day", "hour", "minute", "second"];

let offsetOf = () => 0;

/** Returns whether the browser knows a zone of this name. */
export function isZone(name) {
    try {
        return typeof name === "string" && name !== "" && Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
    } catch {
        return false;
    }
}

/** Chooses the zone: "local" is the browser's, "UTC", or a name such as "Europe/Berlin" that isZone() knows. */
export function useZone(name) {
    if (name === "local") offsetOf = (milliseconds) => -new Date(milliseconds).getTimezoneOffset() * 60_000;
    else if (name === "UTC") offsetOf = () => 0;
    else offsetOf = named(name);
}

/** Returns the function of a named zone's offset. Offsets are kept, since they take long to find. */
function named(timeZone) {
    const format = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
        timeZone, hourCycle: "h23", ...Object.fromEntries(units.map((unit) => [unit, "numeric"])),
    });
    const kept = new Map();
    return (milliseconds) => {
        const start = Math.floor(milliseconds / slot) * slot;
        if (Number.isNaN(new Date(start).getTime())) return 0;
        let found = kept.get(start);
        if (found === undefined) {
            const parts = Object.fromEntries(format.formatToParts(start).map(({ type, value }) => [type, Number(value)]));
            found = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - start;
            if (kept.size >= mostSlots) kept.clear();
            kept.set(start, found);
        }
        return found;
    };
}

/** Returns the zone's offset from UTC at a time, ms. It changes with summer time. */
export function offset(milliseconds) {
    const found = offsetOf(milliseconds);
    return Number.isNaN(found) ? 0 : found;
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

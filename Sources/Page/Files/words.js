// The status as text. Each text has a mark and a level, so that colour is never the only sign.

import { grouped } from "./decimal.js";
import { clock, zoneName } from "./zone.js";

// The limit for all symbols together: a live feed without a trade for this long is shown as late, even before the relay
// reports it. ms
export const lateAfter = 4000;

/** Returns a time span as text: 7 s, 1m05s, 2h05m, 3d. */
export function span(milliseconds) {
    const seconds = Math.max(0, Math.floor(milliseconds / 1000));
    const two = (number) => String(number).padStart(2, "0");
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
    if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
    return `${Math.floor(seconds / 86_400)}d`;
}

const inTime = (milliseconds) => (milliseconds < 500 ? "now" : `in ${span(milliseconds + 500)}`);
const because = (reason) => (reason ? `: ${reason}` : "");

/**
 * Returns the present status as text.
 * @returns {{level, mark, word, detail, title, isCut, isStill, isOver}} level: good, played (well, but not the market),
 *     warning, alarm or idle; title: the word for the title, if it differs; isCut: no trade has arrived on this
 *     connection of the feed; isStill: a replay is paused; isOver: it has ended
 */
export function stateWords(market, relay, now) {
    const own = relayWords(relay, now);
    if (own !== null) return own;
    const status = market.status;
    if (status === null) return { level: "idle", mark: "◌", word: "Connected", detail: "waiting for the feed's state" };
    const wall = market.wall(now);
    const age = market.silence(now);
    const retry = status.retryAt ? `, next ${inTime(status.retryAt - wall)}` : "";
    const alarm = (word, detail) => ({ level: "alarm", mark: "✖", word, detail: detail.replace(/^[:,] /, "") });
    // A paused replay is not silent, not even after a silence that began before the pause.
    const isStill = market.replay?.paused === true;
    switch (isStill && (status.state === "late" || status.state === "stale") ? "live" : status.state) {
    case "live":
        if (age !== null && age >= lateAfter) return late(age);
        return {
            level: status.source === "live" ? "good" : isStill ? "warning" : "played", mark: isStill ? "◌" : "●",
            detail: market.newestArrival === null ? "no trade yet" : status.source === "demo" ? status.reason ?? "" : "", isStill,
            word: status.source === "live" ? "Live" : isStill ? "Paused" : "Playing",
            title: isStill ? undefined : { demo: "Demo", simulated: "Simulated" }[status.source],
        };
    case "late":
        return late(age ?? wall - status.since);
    case "stale":
        return {
            level: "alarm", mark: "◌", word: "Stale",
            detail: `no trade for ${span(age ?? wall - status.since)}${because(status.reason)}`,
        };
    case "connecting":
        return { level: "warning", mark: "◌", word: "Connecting", detail: status.reason ?? "to the market's service", isCut: true };
    case "waiting":
        return { level: "warning", mark: "◌", word: "Connected", detail: `no trade yet${because(status.reason)}`, isCut: true };
    case "reconnecting":
        return alarm("Reconnecting", `attempt ${status.attempt ?? 1} ${inTime((status.retryAt ?? wall) - wall)}${because(status.reason)}`);
    case "rate-limited":
        return alarm("Rate limited", `${until(status.retryAt, wall)}${because(status.reason)}`);
    case "key-rejected":
        return alarm("Key rejected", `${because(status.reason)}${retry}`);
    case "key-in-use":
        return alarm("Key in use elsewhere", `${because(status.reason)}${retry}`);
    case "no-such-symbol":
        return alarm("No such symbol", because(status.reason));
    case "not-permitted":
        return alarm("Not permitted", because(status.reason));
    case "ended":
        return { level: "idle", mark: "■", word: "Ended", detail: status.reason ?? "", isOver: true };
    case "stopped":
        return { level: "idle", mark: "■", word: "Stopped", detail: status.reason ?? "" };
    default:
        return { level: "warning", mark: "◌", word: String(status.state), detail: status.reason ?? "" };
    }
}

function late(age) { return { level: "warning", mark: "◌", word: "Late", detail: `no trade for ${span(age)}` }; }

function until(retryAt, wall) {
    if (!retryAt) return "";
    return `until ${clock(retryAt)} ${zoneName(retryAt)}, ${inTime(retryAt - wall)}`;
}

/** Returns the state of a connection to the relay; null for an open one. */
export function relayWords(relay, now) {
    switch (relay.state) {
    case "open":
        return null;
    case "connecting":
        return relay.attempt === 0
            ? { level: "idle", mark: "◌", word: "Connecting", detail: "to the relay" }
            : { level: "alarm", mark: "✖", word: "Reconnecting to the relay", detail: `attempt ${relay.attempt} now${because(relay.reason)}` };
    case "waiting":
        return {
            level: "alarm", mark: "✖", word: "Reconnecting to the relay",
            detail: `attempt ${relay.attempt} ${inTime(relay.retryAt - now)}${because(relay.reason)}`,
        };
    case "token":
        return { level: "alarm", mark: "✖", word: "Token needed", detail: relay.reason ?? "the relay requires a token" };
    }
    return null;
}

/** Returns how many trades a gap lacks, from the `missing` of its message; empty if that is unknown. */
export function missingWords(missing) {
    const count = missing?.count;
    if (typeof count !== "string" || !/^[0-9]{1,20}$/.test(count)) return "";
    return count === "1" ? ", 1 trade missing" : `, ${grouped(count)} trades missing`;
}

/** Returns how many trades the ranges of a `settled` message have, a BigInt. */
export function lostCount(lost) {
    const counts = (Array.isArray(lost) ? lost : []).map((range) => String(range?.count));
    return counts.reduce((sum, count) => sum + (/^[0-9]{1,20}$/.test(count) ? BigInt(count) : 0n), 0n);
}

/** Returns the outcome of a gap in words, from the `missing` of its message and the number of lost trades. */
export function settledWords(missing, lost, reason) {
    if (missing === undefined) return "nothing was missing";
    const all = missing?.count ?? "";
    const count = (text) => (text === "1" ? "1 trade" : `${grouped(text)} trades`);
    if (lost === 0n) return /^[0-9]{1,20}$/.test(all) ? `${count(all)} filled in` : "filled in";
    return `${count(String(lost))} lost for good${reason ? `: ${reason}` : ""}`;
}

/** Returns how current a price is, given the status text: fresh, late, old or none. */
export function freshness(symbol, { level, isCut = false, isStill = false, isOver = false }) {
    if (symbol === null || symbol.price === null) return "none";
    if (isCut || level === "alarm" || (level === "idle" && !isOver) || outdatedStates.has(symbol.state)) return "old";
    if ((level === "warning" && !isStill) || symbol.state === "asked") return "late";
    return "fresh";
}

const refusals = ["no-such-symbol", "not-permitted", "over-limit"];
const outdatedStates = new Set([...refusals, "quiet", "released"]);

/** Returns whether the market refuses the symbol. */
export const isRefused = (symbol) => refusals.includes(symbol.state);

/** Returns whether the market refuses the symbol, of which there is no price. */
export const isWrong = (symbol) => isRefused(symbol) && symbol.price === null;

/** Returns what was probably meant by a wrong symbol; null if that is unknown, or if the venue's reason names it. */
export const meantOf = (symbol) => (isWrong(symbol) && !String(symbol.reason).includes(symbol.meant) ? symbol.meant : null);

/** Returns the problem of one symbol, or what it waits for; empty without a problem. */
export function symbolWords(symbol) {
    switch (symbol.state) {
    case "quiet": return "quiet";
    // The service's words mostly repeat the name, which stands beside.
    case "no-such-symbol": return `no such symbol${symbol.reason?.includes(symbol.name) ? "" : because(symbol.reason)}`;
    case "not-permitted": return `not permitted${because(symbol.reason)}`;
    case "over-limit": return `over the limit${because(symbol.reason)}`;
    case "released": return "unsubscribed";
    case "asked": case null: return symbol.price === null ? "no trade yet" : "";
    default: return "";
    }
}

/** Returns the facts that must always be visible: a source other than the market, and an unchecked certificate. */
export function marks(status) {
    const marks = [];
    if (status === null) return marks;
    if (status.source === "demo") marks.push("Demo");
    const pace = status.speed === null || status.speed === undefined ? "full speed" : `${status.speed}x`;
    if (status.source === "replay") {
        const file = String(status.file ?? "").split("/").pop();
        marks.push(`Replay at ${pace}${file === "" ? "" : ` · ${file}`}`);
    }
    if (status.source === "simulated") marks.push(`Simulated at ${pace} · seed ${status.seed}`);
    if (status.certificateChecked === false) marks.push("Certificate not checked");
    if (status.via) marks.push(`Via ${status.via}`);
    return marks;
}

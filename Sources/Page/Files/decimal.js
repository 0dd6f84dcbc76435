// Exact decimals. Prices and sizes come as text and stay text; sums and differences are made with whole numbers
// (BigInt), never with floating point.

const shape = /^(-?)([0-9]{1,60})(?:\.([0-9]{1,60}))?(?:e([+-]?[0-9]{1,2}))?$/i;

/** The number in a text as digits and a count of decimal places, or null when it is none. */
export function parse(text) {
    const match = typeof text === "string" ? shape.exec(text) : null;
    if (match === null) return null;
    const fraction = match[3] ?? "";
    let digits = BigInt(match[2] + fraction);
    let places = fraction.length - Number(match[4] ?? 0);
    if (places < 0) {
        digits *= 10n ** BigInt(-places);
        places = 0;
    }
    return { digits: match[1] === "-" ? -digits : digits, places };
}

function aligned(a, b) {
    const places = Math.max(a.places, b.places);
    return {
        a: a.digits * 10n ** BigInt(places - a.places),
        b: b.digits * 10n ** BigInt(places - b.places),
        places,
    };
}

/** Below 0 when the first is smaller, 0 when both are equal; 0 as well when one is no number. */
export function compare(first, second) {
    const a = parse(first);
    const b = parse(second);
    if (a === null || b === null) return 0;
    const both = aligned(a, b);
    return both.a < both.b ? -1 : both.a > both.b ? 1 : 0;
}

/** The sum as text; the first where the second is no number. */
export function add(first, second) {
    const a = parse(first);
    const b = parse(second);
    if (a === null || b === null) return first;
    const both = aligned(a, b);
    return write(both.a + both.b, both.places);
}

/** The digits with a point in front of the last so many, without zeros at the end of the fraction. */
export function write(digits, places) {
    const sign = digits < 0n ? "-" : "";
    const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, "0");
    const whole = text.slice(0, text.length - places);
    const fraction = text.slice(text.length - places).replace(/0+$/, "");
    return sign + whole + (fraction === "" ? "" : "." + fraction);
}

/** How far a price is from where it began: the exact difference with its sign, and hundredths of a percent. */
export function change(price, open, least = 0) {
    const a = parse(price);
    const b = parse(open);
    if (a === null || b === null) return null;
    const both = aligned(a, b);
    const difference = both.a - both.b;
    const sign = difference > 0n ? "+" : difference < 0n ? "−" : "±";
    const size = difference < 0n ? -difference : difference;
    let percent = null;
    if (both.b > 0n) {
        // Hundredths of a percent, rounded half up.
        const hundredths = (size * 20000n + both.b) / (both.b * 2n);
        percent = `${sign}${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, "0")} %`;
    }
    return { direction: difference > 0n ? 1 : difference < 0n ? -1 : 0, text: sign + grouped(write(size, both.places), least), percent };
}

/** How many decimals a number is written with; none where it is no number. */
export function decimals(text) {
    return typeof text === "string" && parse(text) !== null && !/e/i.test(text) ? (text.split(".")[1] ?? "").length : 0;
}

/**
 * The same digits with the whole part in groups of three, and with zeros behind them up to so many decimals: 61,837.60.
 * No digit is ever taken away.
 */
export function grouped(text, least = 0) {
    if (typeof text !== "string" || parse(text) === null || /e/i.test(text)) return String(text ?? "–");
    const [whole, digits = ""] = text.split(".");
    const groups = whole.replace(/\B(?=([0-9]{3})+$)/g, ",");
    const fraction = digits.padEnd(least, "0");
    return fraction === "" ? groups : `${groups}.${fraction}`;
}

// Exact decimals. Prices and sizes arrive as text and stay text. Sums and differences use whole numbers (BigInt), never
// floating point.

const shape = /^(-?)([0-9]{1,60})(?:\.([0-9]{1,60}))?(?:e([+-]?[0-9]{1,2}))?$/i;

// The newest texts and their numbers: each trade is compared with prices that were read before.
const known = new Map();
const mostKnown = 256;

/** Returns a number as digits and a count of decimal places, or null when the text is not a number. */
export function parse(text) {
    if (typeof text !== "string") return null;
    let number = known.get(text);
    if (number === undefined) {
        number = read(text);
        if (known.size >= mostKnown) known.clear();
        known.set(text, number);
    }
    return number;
}

function read(text) {
    const match = shape.exec(text);
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
    if (a.places === b.places) return { a: a.digits, b: b.digits, places: a.places };
    const places = Math.max(a.places, b.places);
    return {
        a: a.digits * 10n ** BigInt(places - a.places),
        b: b.digits * 10n ** BigInt(places - b.places),
        places,
    };
}

/** Returns a number below 0 when the first is smaller, and 0 when both are equal or one is not a number. */
export function compare(first, second) {
    const a = parse(first);
    const b = parse(second);
    if (a === null || b === null) return 0;
    const both = aligned(a, b);
    return both.a < both.b ? -1 : both.a > both.b ? 1 : 0;
}

/** Returns the sum as text; the first text where one of them is not a number. */
export function add(first, second) {
    const a = parse(first);
    const b = parse(second);
    if (a === null || b === null) return first;
    const both = aligned(a, b);
    return write(both.a + both.b, both.places);
}

/** Returns the difference as text; the first text where one of them is not a number. */
export function subtract(first, second) {
    const b = parse(second);
    return b === null ? first : add(first, write(-b.digits, b.places));
}

/** Returns the product as text; 0 where one of them is not a number. */
export function multiply(first, second) {
    const [a, b] = [parse(first), parse(second)];
    return a === null || b === null ? "0" : write(a.digits * b.digits, a.places + b.places);
}

/** Returns the quotient as text, rounded half to even to 18 digits; 0 where it has no meaning. */
export function divide(first, second) {
    const [a, b] = [parse(first), parse(second)];
    if (a === null || b === null || b.digits === 0n || a.digits === 0n) return "0";
    const isNegative = (a.digits < 0n) !== (b.digits < 0n);
    const [top, bottom] = [a.digits, b.digits].map((digits) => (digits < 0n ? -digits : digits));
    // At least 18 digits, of which the surplus ones are rounded away.
    const shift = Math.max(0, 19 + bottom.toString().length - top.toString().length);
    const scaled = top * 10n ** BigInt(shift);
    const surplus = Math.max(0, (scaled / bottom).toString().length - 18);
    const digits = halfEven(scaled, bottom * 10n ** BigInt(surplus));
    const places = a.places - b.places + shift - surplus;
    const whole = places < 0 ? digits * 10n ** BigInt(-places) : digits;
    return write(isNegative ? -whole : whole, Math.max(places, 0));
}

/** Returns a number rounded half to even to at most this many decimals; 0 where it is not a number. */
export function rounded(text, places) {
    const number = parse(text);
    if (number === null) return "0";
    if (number.places <= places) return write(number.digits, number.places);
    const size = number.digits < 0n ? -number.digits : number.digits;
    const digits = halfEven(size, 10n ** BigInt(number.places - places));
    return write(number.digits < 0n ? -digits : digits, places);
}

/** Returns the quotient of two positive whole numbers, rounded half to even. */
function halfEven(top, bottom) {
    const [quotient, twice] = [top / bottom, (top % bottom) * 2n];
    return twice > bottom || (twice === bottom && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

/** Returns the digits with a decimal point before the last `places`, without trailing zeros in the fraction. */
export function write(digits, places) {
    const sign = digits < 0n ? "-" : "";
    const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, "0");
    const whole = text.slice(0, text.length - places);
    const fraction = text.slice(text.length - places).replace(/0+$/, "");
    return sign + whole + (fraction === "" ? "" : "." + fraction);
}

/**
 * Returns the change of a price since the open: the exact difference with its sign, and the percentage with two
 * decimals.
 */
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

/** Returns the number of decimals in a text; 0 where it is not a plain number. */
export function decimals(text) {
    return typeof text === "string" && parse(text) !== null && !/e/i.test(text) ? (text.split(".")[1] ?? "").length : 0;
}

/**
 * Returns the digits with the whole part in groups of three, and zeros behind them up to `least` decimals: 61,837.60.
 * It never removes a digit.
 */
export function grouped(text, least = 0) {
    if (typeof text !== "string" || parse(text) === null || /e/i.test(text)) return String(text ?? "–");
    const [whole, digits = ""] = text.split(".");
    const groups = whole.replace(/\B(?=([0-9]{3})+$)/g, ",");
    const fraction = digits.padEnd(least, "0");
    return fraction === "" ? groups : `${groups}.${fraction}`;
}

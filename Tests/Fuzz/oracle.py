#!/usr/bin/env python3
"""Compares this package's reading of Finnhub's frames with that of Python's json module.

Reads lines of `Tests/Fuzz/Targets/OracleLine.swift` from standard input. Where both accept a frame, the kind of message,
the error's text, the number of skipped elements and each trade (symbol, price, size, time, all exact: numbers become
Decimal, never float) must be equal. Where only one of them accepts it, the reason must be one of those below. Prints how
often each came; exit status 1 at the first difference that has no reason.
"""

import json
import re
import sys
from decimal import Context, Decimal, InvalidOperation, Overflow, Underflow

# Enough precision for every digit of any number in a frame, so that nothing is rounded.
EXACT = Context(
    prec=20_000,
    Emax=999_999_999_999_999_999,
    Emin=-999_999_999_999_999_999,
    traps=[InvalidOperation, Overflow, Underflow],
)
UNHELD = object()
MAXIMUM_DEPTH = 64
# The bounds of plausible values (docs/upstream.md).
TOO_LARGE = Decimal(10) ** 18
PRICE_DECIMALS, SIZE_DECIMALS = 30, 18
LAST_MILLISECOND = (2**63 - 1) // 1_000_000


class Refused(Exception):
    """The reference does not accept the frame."""


def number(text):
    """Returns the exact number, or UNHELD for an exponent beyond Decimal's range."""
    try:
        return EXACT.create_decimal(text)
    except ArithmeticError:
        return UNHELD


def constant(text):
    # Python accepts NaN and Infinity, which JSON does not have (RFC 8259, 6).
    raise Refused(f"the constant {text}")


def read(frame):
    try:
        text = frame.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("no UTF-8") from None
    try:
        return json.loads(text, parse_float=number, parse_int=number, parse_constant=constant)
    except RecursionError:
        raise Refused("too deep for the reference") from None
    except ValueError as error:
        raise Refused(str(error)) from None


def scalars(text):
    """Returns a valid Unicode string: a lone surrogate becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def held(value):
    """Whether a number has at most 18 significant digits and an exponent from -1000 to 1000 when it is normalised."""
    if not isinstance(value, Decimal):
        return False
    if not value:
        return True
    digits = value.normalize(EXACT).as_tuple()
    return len(digits.digits) <= 18 and -1_000 <= digits.exponent <= 1_000


def meant(value, decimals):
    """Whether a number is plausible as a price or a size with at most this many decimals."""
    return value < TOO_LARGE and value.normalize(EXACT).as_tuple().exponent >= -decimals


def trade(element):
    """Returns a trade as (price, size, nanoseconds, symbol), or None for an element that is not a trade."""
    if not isinstance(element, dict):
        return None
    price, size, time, symbol = (element.get(key) for key in "pvts")
    if not (held(price) and price > 0 and held(size) and size >= 0 and held(time) and isinstance(symbol, str)):
        return None
    if not (meant(price, PRICE_DECIMALS) and meant(size, SIZE_DECIMALS)):
        return None
    if time != time.to_integral_value(context=EXACT) or not 0 < time <= LAST_MILLISECOND:
        return None
    name = scalars(symbol).encode()
    if not 1 <= len(name) <= 128:
        return None
    return price, size, int(time) * 1_000_000, name


def clipped(text, limit):
    """Returns the longest prefix of whole scalars that fits into this many bytes."""
    return scalars(text).encode()[:limit].decode("utf-8", "ignore").encode()


def expected(value):
    """Returns the frame's contents: kind, detail, trades."""
    if not isinstance(value, dict):
        raise Refused("no object")
    kind = value.get("type")
    if not isinstance(kind, str):
        raise Refused("no type")
    if kind == "trade":
        if "data" not in value or not (value["data"] is None or isinstance(value["data"], list)):
            raise Refused("no list of trades")
        trades = [trade(element) for element in value["data"] or []]
        return "trade", str(trades.count(None)), [t for t in trades if t]
    if kind in ("ping", "news"):
        return kind, "-", []
    if kind == "error":
        text = value.get("msg")
        return "error", clipped(text if isinstance(text, str) else "", 1_024), []
    return "unknown", clipped(kind, 64), []


def depth(frame):
    """Returns the nesting depth of the brackets, outside of strings."""
    deepest = here = 0
    for byte in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", frame, flags=re.DOTALL):
        if byte in b"[{":
            here += 1
            deepest = max(deepest, here)
        elif byte in b"]}":
            here -= 1
    return deepest


def same(ours, theirs):
    (kind, detail, trades), (wanted_kind, wanted_detail, wanted_trades) = ours, theirs
    if kind != wanted_kind or len(trades) != len(wanted_trades):
        return False
    if kind in ("error", "unknown"):
        if detail != wanted_detail:
            return False
    elif detail != wanted_detail:
        return False
    return all(
        EXACT.compare(one[0], other[0]) == 0 and EXACT.compare(one[1], other[1]) == 0 and one[2:] == other[2:]
        for one, other in zip(trades, wanted_trades)
    )


def bytes_of(text):
    return b"" if text == "." else bytes.fromhex(text)


def parse(line):
    frame, kind, detail, *fields = line.split()
    trades = []
    for field in fields:
        price, size, time, symbol = field.split(",")
        trades.append((Decimal(price), Decimal(size), int(time), bytes_of(symbol)))
    if kind in ("error", "unknown", "malformed"):
        detail = bytes_of(detail)
    return bytes_of(frame), (kind, detail, trades)


def judge(line):
    """Returns the frame's class; raises AssertionError for an unexplained difference between the two."""
    frame, ours = parse(line)
    accepts = ours[0] != "malformed"
    try:
        theirs = expected(read(frame))
    except Refused as refusal:
        if not accepts:
            return "both refuse"
        # Looser: the WebSocket has already refused invalid UTF-8 (RFC 6455, 8.1), so the parser validates only the
        # names of symbols.
        if str(refusal) == "no UTF-8":
            return "only ours accepts: no UTF-8, which never gets through the WebSocket"
        raise AssertionError(f"only ours accepts, the reference says: {refusal}") from None
    if accepts:
        assert same(ours, theirs), f"the reference reads {theirs}, ours is {ours}"
        return "both accept, and read the same"
    # Stricter: a frame with deeper nesting is treated as hostile.
    if depth(frame) > MAXIMUM_DEPTH:
        return f"only the reference accepts: nested deeper than {MAXIMUM_DEPTH}"
    raise AssertionError(f"only the reference accepts, ours says: {ours[1]}")


def main():
    counts = {}
    trades = 0
    for line in sys.stdin:
        try:
            name = judge(line)
        except AssertionError as error:
            print(f"DIFFERENCE: {error}\nin the frame {bytes_of(line.split()[0])!r}")
            sys.exit(1)
        counts[name] = counts.get(name, 0) + 1
        trades += len(line.split()) - 3
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:>9}  {name}")
    print(f"{sum(counts.values()):>9}  frames, {trades} trades")


if __name__ == "__main__":
    main()

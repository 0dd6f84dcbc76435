"""The messages of /v1/stream. Made by make_messages.py from docs/asyncapi.yaml; do not edit.

A member without a default is one that a client needs. Prices and sizes are exact decimals.
"""

import json
import re
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from typing import Any, ClassVar, Literal, NotRequired, TypedDict, get_args, get_origin, is_typeddict

is_decimal = re.compile("-?[0-9]+([.][0-9]+)?").fullmatch


class Resume(TypedDict):
    """The object resume."""

    trades: int
    seconds: int


class Limits(TypedDict):
    """The object limits."""

    symbols: int
    messageBytes: int
    waitingBytes: int
    waitingMessages: int
    requestBurst: int
    requestsPerSecond: int
    everyMin: int
    everyMax: int


class StatusObject(TypedDict):
    """The object statusObject."""

    state: Literal["connecting", "waiting", "live", "late", "stale", "reconnecting", "rate-limited", "key-rejected", "key-in-use", "no-such-symbol", "not-permitted", "ended", "stopped"]
    since: int
    reason: str | None
    source: Literal["live", "replay", "demo", "simulated"]
    file: str | None
    speed: float | None
    certificateChecked: bool
    cause: str | None
    paused: NotRequired[bool]
    seed: NotRequired[str]
    via: NotRequired[str]
    attempt: NotRequired[int]
    retryAt: NotRequired[int]


class ReplayObject(TypedDict):
    """The object replayObject."""

    start: int
    end: int | None
    at: int
    percent: float | None
    speed: Any
    paused: bool


class SymbolObject(TypedDict):
    """The object symbolObject."""

    symbol: str
    price: NotRequired[str]
    size: NotRequired[str]
    time: NotRequired[int]
    received: NotRequired[int]
    seq: NotRequired[int]
    open: NotRequired[str]
    high: NotRequired[str]
    low: NotRequired[str]
    volume: NotRequired[str | None]
    trades: NotRequired[int]
    age: NotRequired[int]
    state: Literal["asked", "live", "quiet", "no-such-symbol", "not-permitted", "over-limit", "released"]


class GapOverlapBounds(TypedDict):
    """The object gapOverlapBounds."""

    least: int
    most: int


class GapMissing(TypedDict):
    """The object gapMissing."""

    first: str
    last: str
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first message of a connection: the limits, the status and the symbols."""

    TYPE: ClassVar[str] = "hello"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    protocol: Literal["tickertape.v1"] | None = None
    version: str | None = None
    epoch: int | None
    seq: int | None
    oldest: int | None = None
    earliest: str | None = None  # the oldest kept trade of an earlier run, EPOCH:SEQ
    resume: Resume | None = None  # The limits of how far since reaches back.
    limits: Limits | None = None
    time: int | None = None  # ms since 1970
    status: StatusObject | None = None
    replay: ReplayObject | None = None
    symbols: list[SymbolObject] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The newest price of a symbol that was just subscribed to, or of which single trades were missed."""

    TYPE: ClassVar[str] = "snapshot"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    price: Decimal  # exact
    size: Decimal  # exact
    time: int | None = None  # ms since 1970
    received: int  # us since 1970
    seq: int
    skipped: int = 0
    open: Decimal | None = None  # exact
    high: Decimal | None = None  # exact
    low: Decimal | None = None  # exact
    volume: Decimal | None = None  # exact; null if it is incomplete
    trades: int | None = None
    ahead: bool = False  # the price is that of a trade that is ahead
    age: int | None = None  # ms since it arrived


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A new price; skipped is the number of trades left out since the one before."""

    TYPE: ClassVar[str] = "price"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    price: Decimal  # exact
    size: Decimal  # exact
    time: int | None = None  # ms since 1970
    received: int  # us since 1970
    seq: int
    skipped: int = 0
    open: Decimal | None = None  # exact
    high: Decimal | None = None  # exact
    low: Decimal | None = None  # exact
    volume: Decimal | None = None  # exact; null if it is incomplete
    trades: int | None = None
    ahead: bool = False  # the price is that of a trade that is ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Trades:
    """Trades came while the debounced price stood still."""

    TYPE: ClassVar[str] = "trades"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    price: Decimal | None = None  # exact
    size: Decimal | None = None  # exact
    time: int | None = None  # ms since 1970
    received: int | None = None  # us since 1970
    seq: int
    skipped: int = 0
    open: Decimal | None = None  # exact
    high: Decimal | None = None  # exact
    low: Decimal | None = None  # exact
    volume: Decimal | None = None  # exact; null if it is incomplete
    trades: int
    ahead: bool = False  # the price is that of a trade that is ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """One trade, for clients with delivery all."""

    TYPE: ClassVar[str] = "trade"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    seq: int
    price: Decimal  # exact
    size: Decimal  # exact
    time: int  # ms since 1970
    received: int  # us since 1970
    id: str | None = None  # the venue's own number of the trade; absent if the source sends none
    ahead: bool = False  # the time is later than the arrival by more than clocks explain
    possibleRepeat: bool = False  # it equals one that came within 2 s or before a gap, and may be that one; otherwise absent
    filled: bool = False  # it was missing and came after newer trades: it is no price and changes no age; otherwise absent
    epoch: int | None = None  # added by the client: (epoch, seq) names a trade


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of the feed."""

    TYPE: ClassVar[str] = "status"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    state: str
    since: int | None = None  # ms since 1970
    reason: str | None = None
    source: str | None = None
    file: str | None = None
    speed: float | None = None
    certificateChecked: bool | None = None
    cause: str | None = None
    paused: bool | None = None
    seed: str | None = None
    via: str | None = None
    attempt: int | None = None
    retryAt: int | None = None  # ms since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """The state of one symbol."""

    TYPE: ClassVar[str] = "symbol"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    state: str
    since: int | None = None  # ms since 1970
    reason: str | None = None
    retryAt: int | None = None  # ms since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Between from and to trades may be missing."""

    TYPE: ClassVar[str] = "gap"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    from_: int | None = None  # ms since 1970; null if unknown
    to: int  # ms since 1970
    reason: str | None = None
    nextSeq: int
    epoch: int
    overlap: int | None = None  # an estimate of the trades after the gap that likely came before it; null if nothing could be compared
    cause: str | None = None
    overlapBounds: GapOverlapBounds | None = None  # the bounds of the true number; present if trades were compared
    symbol: str | None = None
    missing: GapMissing | None = None  # the venue's numbers of missing trades of the symbol, all from first to last, and how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of a gap: each of its missing trades came later, or is lost for good; without missing, none was."""

    TYPE: ClassVar[str] = "settled"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    from_: int  # ms since 1970
    to: int  # ms since 1970
    missing: GapMissing | None = None  # the venue's numbers of missing trades of the symbol, all from first to last, and how many
    lost: list[GapMissing]  # the trades that stay missing for good, in ascending order; empty if all came
    reason: str | None = None  # why the lost ones cannot be had; null if none is lost


@dataclass(frozen=True, slots=True, kw_only=True)
class VenueDay:
    """The venue's own figures of a symbol's last 24 hours, which are not the session's."""

    TYPE: ClassVar[str] = "venueDay"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    open: Decimal | None = None  # exact
    high: Decimal  # exact
    low: Decimal  # exact
    last: Decimal  # exact
    change: Decimal | None = None  # exact
    volume: Decimal  # exact
    received: int  # us since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribed:
    """The answer to a subscribe; symbols is null for everything."""

    TYPE: ClassVar[str] = "subscribed"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbols: list[str] | None = None
    delivery: str | None = None
    every: int | None = None  # ms
    bars: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The end of a resume after since."""

    TYPE: ClassVar[str] = "resumed"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    epoch: int
    from_: int
    to: int
    trades: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The number of trades left out for a client that was too slow and goes on."""

    TYPE: ClassVar[str] = "skipped"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    trades: int
    from_: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a symbol, sent when it is over, and before that at most once a second."""

    TYPE: ClassVar[str] = "bar"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    symbol: str
    width: str
    start: int  # ms since 1970
    open: Decimal  # exact
    high: Decimal  # exact
    low: Decimal  # exact
    close: Decimal  # exact
    volume: Decimal | None = None  # exact; null if it is incomplete
    vwap: Decimal | None = None  # null if nothing was traded
    trades: int
    closed: bool  # its time is over; a late trade can still change it, and then it comes again
    incomplete: bool  # some of its trades may be missing; false again, with revised, once all trades have come of all gaps that touched it
    revised: bool = False  # it was closed before and has changed since; otherwise absent
    possibleRepeats: int | None = None  # the number of its trades that may have been counted before; absent if 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pong:
    """The answer to a ping."""

    TYPE: ClassVar[str] = "pong"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    time: int | None = None  # ms since 1970
    id: Any = None  # the id of the ping; absent if it had none


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """A request that cannot be met."""

    TYPE: ClassVar[str] = "error"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    msg: str
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A replay was paused or resumed, or its speed or place changed. Times are the recording's own clock."""

    TYPE: ClassVar[str] = "replay"
    n: int | None = None  # grows from message to message; holes are messages to other clients
    start: int | None = None  # ms since 1970
    end: int | None = None  # ms since 1970; null for a simulated market without an end
    at: int  # ms since 1970
    percent: float | None = None  # null if there is no end
    speed: Any = None
    paused: bool


class SubscribeRequest(TypedDict):
    """Subscribes to the named symbols, or to everything without a name."""

    type: Literal["subscribe"]
    symbol: NotRequired[str]
    symbols: NotRequired[list[str]]
    delivery: NotRequired[Literal["latest", "all", "every"]]
    every: NotRequired[Any]
    since: NotRequired[str]
    bars: NotRequired[Literal["1s", "1m", "5m", "1h"]]


class UnsubscribeRequest(TypedDict):
    """Unsubscribes from the named symbols, or from everything."""

    type: Literal["unsubscribe"]
    symbol: NotRequired[str]
    symbols: NotRequired[list[str]]
    bars: NotRequired[Literal["1s", "1m", "5m", "1h", "all"]]


class OverflowRequest(TypedDict):
    """Sets the policy for this client when it is too slow."""

    type: Literal["overflow"]
    policy: Literal["latest", "close"]


class PingRequest(TypedDict):
    """Asks for a pong."""

    type: Literal["ping"]
    id: NotRequired[Any]


class ReplayRequest(TypedDict):
    """Commands a replay, if relay.replay-control allows it."""

    type: Literal["replay"]
    request: Literal["pause", "resume", "toggle", "speed", "faster", "slower", "step", "seek"]
    speed: NotRequired[Any]
    messages: NotRequired[int]
    time: NotRequired[str]
    to: NotRequired[str]


MESSAGES: dict[str, Any] = {kind.TYPE: kind for kind in [
    Hello, Snapshot, Price, Trades, Trade, Status, Symbol, Gap, Settled, VenueDay, Subscribed, Resumed, Skipped, Bar,
    Pong, Error, Replay
]}


def classes(annotation: Any) -> set[Any]:
    """Returns the classes that a member's JSON value may have; `object` stands for any."""
    if annotation is Any:
        return {object}
    if is_typeddict(annotation):
        return {dict}
    origin = get_origin(annotation)
    if origin is None:
        return {float, int} if annotation is float else {annotation}
    if origin in (list, Literal):
        return {list if origin is list else str}
    return set().union(*(classes(part) for part in get_args(annotation)))


MEMBERS = {
    kind: [(one.name, one.name.rstrip("_"), one.default is MISSING, classes(one.type)) for one in fields(kind)]
    for kind in MESSAGES.values()
}


def refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read(text: str) -> Any:
    """Returns the message as a value of its class; None if its type is unknown.

    Raises ValueError if it is not an object with a type, or if a needed member is missing or of another type. Another
    member of a wrong type counts as absent. Decimals are made from their text, never by way of a float.
    """
    try:
        message = json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError("not an object with a type")
    kind = MESSAGES.get(message["type"])
    if kind is None:
        return None
    values = {}
    for name, key, is_needed, allowed in MEMBERS[kind]:
        value = message.get(key)
        if Decimal in allowed and isinstance(value, str) and is_decimal(value):
            value = Decimal(value)
        if key in message and (type(value) in allowed or object in allowed):
            values[name] = value
        elif is_needed:
            raise ValueError(f"{kind.TYPE}: {key} is missing or has a wrong type")
    return kind(**values)

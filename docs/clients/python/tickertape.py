"""A client of Tickertape's /v1/stream that keeps its place: over lost connections and restarts of the relay it reports
each trade once, and a gap where trades may be missing. example.py shows its use.

The events are messages of the relay (messages.py, made from docs/asyncapi.yaml) and those below. `Reading` turns the
relay's texts into events and has no socket and no clock. `Stream` connects, waits and reconnects.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import Any

import messages
from messages import Bar, Error, Gap, Hello, Price, Replay, Resumed, Settled, Skipped, Snapshot, Status, Symbol, Trade
from messages import Trades, VenueDay
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.uri import parse_uri

MAXIMUM_MESSAGE_BYTES = 1 << 20
MAXIMUM_SYMBOLS = 4096  # no relay has more
FINAL_STATUSES = {400, 401, 403, 404, 421}  # for these and the next, waiting is no cure
FINAL_CODES = {1002, 1003, 1007, 1008, 1009}
missed_trades = re.compile("too slow: ([0-9]+) trades? missed").fullmatch


@dataclass(frozen=True, slots=True)
class Connected:
    attempt: int  # counts from 1, failed attempts included


@dataclass(frozen=True, slots=True)
class ProtocolError:
    message: str  # what this client did not understand; the connection goes on


@dataclass(frozen=True, slots=True)
class Missed:
    trades: int  # this client was too slow for them; the resume brings those that the relay still has


@dataclass(frozen=True, slots=True)
class Disconnected:
    code: int | None  # of the relay's close frame
    reason: str
    retry: bool


class Refused(Exception):
    """The relay refuses this client, and waiting is no cure."""


class Reading:
    """What a client wants and where it stopped: the state that outlives its connections."""

    def __init__(self, symbols: Iterable[str] | None, wishes: list[Any], since: str | None, overflow: str | None):
        self.symbols = None if symbols is None else list(dict.fromkeys(symbols))[:MAXIMUM_SYMBOLS]
        self.wishes = wishes  # the members of each subscribe
        self.overflow = overflow
        # The place: the newest known number, and the epoch to which numbers belong.
        self.epoch, self.seq = (int(part) for part in since.split(":")) if since else (None, 0)
        self.newest: dict[str, int] = {}  # the newest trade of each symbol in this epoch
        self.arrivals: dict[str, float] = {}  # when each symbol's price came; monotonic seconds
        self.limit = MAXIMUM_SYMBOLS  # of the newest hello
        self.opened()

    def opened(self) -> None:
        """Begins a connection."""
        self.hello: Hello | None = None
        self.lead = 0.0  # how far the relay's clock is ahead of our monotonic one
        self.is_resuming = False  # until `resumed`
        self.is_unnamed = False  # whether the relay has another epoch, which no gap has named yet
        self.requests: list[dict[str, Any]] = []

    def subscribe(self, symbols: Iterable[str]) -> tuple[list[dict[str, Any]], list[str]]:
        """Returns the requests, and the symbols that are too many."""
        new = [] if self.symbols is None else [name for name in dict.fromkeys(symbols) if name not in self.symbols]
        room = max(0, self.limit - len(self.symbols or []))
        new, left = new[:room], new[room:]
        if new:
            self.symbols += new
        return [{"type": "subscribe", "symbols": new, **wish} for wish in self.wishes if new and self.hello], left

    def unsubscribe(self, symbols: Iterable[str]) -> list[dict[str, Any]]:
        gone = [name for name in dict.fromkeys(symbols) if name in (self.symbols or [])]
        for name in gone:
            self.symbols.remove(name)
            self.newest.pop(name, None)
            self.arrivals.pop(name, None)
        return [{"type": "unsubscribe", "symbols": gone}] if gone and self.hello else []

    def take(self, text: str, now: float) -> list[Any]:
        """Takes a text that came at `now`; returns its events. Requests to send are in `requests` afterwards."""
        try:
            value = messages.read(text)
            if value is None or value.TYPE in ("subscribed", "pong"):
                return []  # the relay may have more types than this client knows
            if isinstance(value, Hello) == (self.hello is not None):
                raise ValueError(f"{value.TYPE} {'again' if self.hello else 'before hello'}")
            handler = getattr(self, f"_{value.TYPE}", None)
            return handler(value, now) if handler else [value]
        except ValueError as error:
            return [ProtocolError(str(error))]

    def _hello(self, hello: Hello, now: float) -> list[Any]:
        self.hello, self.lead = hello, (hello.time or 0) / 1000 - now
        self.is_resuming = self.epoch is not None and self.symbols != []
        since = {"since": f"{self.epoch}:{self.seq}"} if self.is_resuming else {}
        if self.epoch is None:
            self.epoch, self.seq = hello.epoch, hello.seq or 0
        self.is_unnamed = hello.epoch not in (None, self.epoch)
        limit = (hello.limits or {}).get("symbols")
        self.limit = limit if type(limit) is int and limit > 0 else MAXIMUM_SYMBOLS
        if self.symbols == []:
            return [hello]
        wanted = {} if self.symbols is None else {"symbols": self.symbols[: self.limit]}
        if self.overflow:
            self.requests.append({"type": "overflow", "policy": self.overflow})
        self.requests += [{"type": "subscribe", **wanted, **wish} for wish in self.wishes]
        self.requests[-len(self.wishes)] |= since  # in one request with the symbols, so that nothing is between
        error = Error(msg=f"the relay takes no more than {self.limit} symbols", code="too-many-symbols")
        return [hello, error] if len(self.symbols or []) > self.limit else [hello]

    def _snapshot(self, value: Any, now: float) -> list[Any]:
        # Also of `price` and `trades`. All of these belong to the relay's present epoch.
        gaps = self._begin_unnamed(value.seq, self.hello.epoch) if self.is_unnamed else []
        self.seq = max(self.seq, value.seq)
        self._keep(self.arrivals, value.symbol, now - (getattr(value, "age", None) or 0) / 1000)
        return [*gaps, value]

    _price = _trades = _snapshot

    def _trade(self, trade: Trade, now: float) -> list[Any]:
        # Until a gap names the relay's epoch, a resume brings trades of the one before, whose numbers only grow.
        is_first = self.is_unnamed and (not self.is_resuming or trade.seq <= self.seq)
        gaps = self._begin_unnamed(trade.seq, self.hello.epoch) if is_first else []
        if trade.seq <= self.newest.get(trade.symbol, -1):
            if self.is_resuming:
                return []
            raise ValueError(f"the trade {trade.seq} of {trade.symbol} came again")
        self._keep(self.newest, trade.symbol, trade.seq)
        self.seq = max(self.seq, trade.seq)
        is_dated = self.is_resuming and self.hello.time is not None  # an earlier trade, all by the relay's clock
        age = max(0, now + self.lead - trade.received / 1e6) if is_dated else 0
        if not trade.filled:  # a filled one is no price
            self._keep(self.arrivals, trade.symbol, now - age)
        return [*gaps, replace(trade, epoch=self.epoch)]

    def _gap(self, gap: Gap, now: float) -> list[Any]:
        if gap.symbol is None and gap.epoch != self.epoch:
            self._begin(gap.epoch, max(gap.nextSeq, 1) - 1)
        return [gap]

    def _resumed(self, resumed: Resumed, now: float) -> list[Any]:
        gaps = self._begin_unnamed(resumed.to + 1, resumed.epoch) if resumed.epoch != self.epoch else []
        self.seq = max(self.seq, resumed.to)
        self.is_resuming = False
        return [*gaps, resumed]

    def _begin(self, epoch: int, seq: int) -> None:
        self.epoch, self.seq = epoch, seq
        self.newest.clear()
        self.is_unnamed = self.is_unnamed and epoch != self.hello.epoch

    def _begin_unnamed(self, next_seq: int, epoch: int) -> list[Any]:
        """Begins an epoch that no gap has named; returns a gap in its place."""
        self._begin(epoch, next_seq - 1)
        reason = "the relay has another epoch"
        return [Gap(to=self.hello.time or 0, reason=reason, cause="epoch", nextSeq=next_seq, epoch=epoch)]

    @staticmethod
    def _keep(table: dict[str, Any], symbol: str, value: Any) -> None:
        if len(table) >= MAXIMUM_SYMBOLS and symbol not in table:
            del table[next(iter(table))]
        table[symbol] = value


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception:
        return exc  # a relay does not move, and its token must not go elsewhere


class Stream:
    """The events of a relay. `symbols` is None for everything, `every` an interval such as "250ms", `bars` a width,
    `since` the `place` of an earlier Stream. Times are seconds. `options` are those of `websockets.connect`.
    """

    def __init__(
        self, url: str, symbols: Iterable[str] | None = None, *, delivery: str = "latest", every: str | None = None,
        bars: str | None = None, since: str | None = None, overflow: str | None = None,
        backoff: tuple[float, float] = (0.25, 30), silence: float = 30, **options: Any,
    ):  # fmt: skip
        wish = {"delivery": delivery} if every is None else {"delivery": "every", "every": every}
        parse_uri(url)  # a mistake in it must not become retries
        self._url, self._backoff, self._silence = url, backoff, silence
        self._reading = Reading(symbols, [wish, {"bars": bars}] if bars else [wish], since, overflow)
        self._socket: ClientConnection | None = None
        self._retry_after = 0.0
        # A pong of the library would show the machine and not the relay's program. `_connection` asks by a message.
        self._options = {"max_size": MAXIMUM_MESSAGE_BYTES, "ping_interval": None, "close_timeout": 2, "proxy": None}
        self._options |= {"open_timeout": 2 * silence} | options

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(self, *_: Any) -> None:
        if self._socket is not None:
            await self._socket.close(1000)

    @property
    def place(self) -> str | None:
        """The newest known number, for `since`."""
        return None if self._reading.epoch is None else f"{self._reading.epoch}:{self._reading.seq}"

    def age(self, symbol: str) -> float | None:
        """Returns the age of a symbol's price in seconds, also without a connection. Clocks need not agree."""
        arrival = self._reading.arrivals.get(symbol)
        return None if arrival is None else time.monotonic() - arrival

    async def subscribe(self, symbols: Iterable[str]) -> None:
        """Follows more symbols. Raises ValueError if the relay does not allow so many, and leaves out the last."""
        requests, left = self._reading.subscribe(symbols)
        await self._send(requests)
        if left:
            raise ValueError(f"the relay takes no more than {self._reading.limit} symbols; left out: {left}")

    async def unsubscribe(self, symbols: Iterable[str]) -> None:
        await self._send(self._reading.unsubscribe(symbols))

    async def _send(self, requests: list[dict[str, Any]]) -> None:
        for request in requests:
            try:
                await self._socket.send(json.dumps(request))
            except ConnectionClosed:
                pass  # the next connection begins with all that is wanted

    async def __aiter__(self) -> AsyncIterator[Any]:
        attempt = failures = 0
        while True:
            attempt, opened, self._retry_after = attempt + 1, time.monotonic(), 0.0
            self._reading.opened()
            async for event in self._connection(attempt):
                yield event
            if not event.retry:  # the last one is Disconnected
                raise Refused(event.reason)
            first, longest = self._backoff
            if self._reading.hello and time.monotonic() - opened >= min(longest, 10):
                failures = 0
            pause = random.uniform(0, min(longest, first * 2 ** min(failures, 30)))
            failures += 1
            await asyncio.sleep(max(pause, min(self._retry_after, longest)))

    async def _connection(self, attempt: int) -> AsyncIterator[Any]:
        """Yields the events of one attempt; the last one is Disconnected."""
        try:
            self._socket = await _Connect(self._url, **self._options)
        except InvalidStatus as error:
            status, after = error.response.status_code, error.response.headers.get("Retry-After", "")
            self._retry_after = float(after) if after.isdecimal() else 0.0
            yield Disconnected(None, f"HTTP {status}", status not in FINAL_STATUSES)
            return
        except (OSError, EOFError, ValueError, WebSocketException) as error:
            yield Disconnected(None, str(error) or type(error).__name__, True)
            return
        yield Connected(attempt)
        is_asked = False
        while True:
            try:
                async with asyncio.timeout(self._silence):
                    data = await self._socket.recv()
            except TimeoutError:
                if is_asked:
                    self._socket.transport.abort()
                    yield Disconnected(None, f"nothing came for {2 * self._silence:g} s", True)
                    return
                is_asked = True
                await self._send([{"type": "ping", "id": attempt}])
                continue
            except ConnectionClosed as error:
                close = error.rcvd if error.rcvd_then_sent else None  # else it only answers ours
                reason = close.reason if close else str(error)
                break
            is_asked = False
            if isinstance(data, bytes):
                yield ProtocolError("a binary message")
                continue
            events = self._reading.take(data, time.monotonic())
            requests, self._reading.requests = self._reading.requests, []
            await self._send(requests)
            for event in events:
                yield event
        if close and (missed := missed_trades(reason)):
            yield Missed(int(missed[1]))
        code = close.code if close else None
        yield Disconnected(code, reason, code not in FINAL_CODES)

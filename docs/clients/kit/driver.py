#!/usr/bin/env python3
"""The driver of the Python client for the conformance kit: prints each event as one JSON object a line.

    driver.py URL OPTIONS_JSON
"""

import asyncio
import json
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import tickertape  # noqa: E402

OUTPUT = {
    tickertape.Connected: "connected attempt",
    tickertape.Hello: "hello epoch seq",
    tickertape.Snapshot: "price symbol price size seq skipped received age",
    tickertape.Price: "price symbol price size seq skipped received",
    tickertape.Trade: "trade symbol seq epoch price size time received id ahead possibleRepeat filled",
    tickertape.Trades: "activity symbol seq trades",
    tickertape.Gap: "gap from_ to reason cause symbol nextSeq epoch missing",
    tickertape.Settled: "settled symbol from_ to missing lost reason",
    tickertape.VenueDay: "venueDay symbol open high low last change volume received",
    tickertape.Skipped: "skipped trades from_ to",
    tickertape.Resumed: "resumed epoch from_ to trades complete",
    tickertape.Status: "status state reason cause",
    tickertape.Symbol: "symbol symbol state reason",
    tickertape.Bar: "bar symbol width start open high low close volume vwap trades closed incomplete",
    tickertape.Replay: "replay at paused",
    tickertape.Error: "error code",
    tickertape.ProtocolError: "protocol-error message",
    tickertape.Missed: "missed trades",
    tickertape.Disconnected: "disconnected code reason retry",
}


def show(kind, members):
    # default: a decimal as the relay's text. Only ASCII, so that any text can be printed.
    text = json.dumps({"event": kind, **members}, default=lambda value: format(value, "f"), separators=(",", ":"))
    print(text, flush=True)


def show_event(event):
    kind, *names = OUTPUT[type(event)].split()
    members = {name.rstrip("_"): getattr(event, name) for name in names}
    match event:
        case tickertape.Hello(status=status):
            members["state"] = status.get("state") if isinstance(status, dict) else None
        case tickertape.Snapshot():
            members["snapshot"] = True
        case tickertape.Price():
            members |= {"snapshot": False, "age": None}
        case tickertape.Error(msg=text):
            members["message"] = text
    show(kind, members)


async def obey(stream, line):
    try:
        request = json.loads(line)
    except ValueError:
        return
    match request:
        case {"do": "age", "symbol": symbol}:
            age = stream.age(symbol)
            show("age", {"symbol": symbol, "ms": None if age is None else round(age * 1000)})
        case {"do": "subscribe", "symbols": symbols}:
            try:
                await stream.subscribe(symbols)
            except ValueError as error:
                show("error", {"code": "too-many-symbols", "message": str(error)})
        case {"do": "unsubscribe", "symbols": symbols}:
            await stream.unsubscribe(symbols)


async def main(url, options):
    backoff = options.get("backoff", {"firstMs": 250, "maxMs": 30_000})
    stream = tickertape.Stream(
        url,
        options.get("symbols"),
        delivery=options.get("delivery", "latest"),
        every=options.get("every"),
        bars=options.get("bars"),
        since=options.get("since"),
        overflow=options.get("overflow"),
        backoff=(backoff["firstMs"] / 1000, backoff["maxMs"] / 1000),
        silence=options.get("silenceMs", 30_000) / 1000,
    )

    async def print_events():
        async for event in stream:
            show_event(event)

    async def read_requests():
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async for line in reader:
            await obey(stream, line)

    async with stream:
        printing, reading = asyncio.create_task(print_events()), asyncio.create_task(read_requests())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, reading.cancel)
        await asyncio.wait([printing, reading], return_when=asyncio.FIRST_COMPLETED)
        reading.cancel()
        printing.cancel()
        try:
            await printing
        except asyncio.CancelledError:
            pass
        except tickertape.Refused as error:
            show("failed", {"message": str(error)})
            return 3
    return 0


sys.exit(asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]))))

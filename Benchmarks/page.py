#!/usr/bin/env python3
"""Measures the chart of the page in a headless Chromium: what a step of dragging costs, and whether memory grows.

usage: page.py drag [--steps 200] [--rate 0] [--rounds 1] [--files DIR ...]
                                                      a day of bars of one second, dragged; by Chromium's own trace
       page.py memory [--minutes 60] [--rate 500]     the used heap after each minute of trades, after a collection

A stand-in of the relay serves the page's files and 24 hours of one symbol's bars, with a trade in each second, and sends
`--rate` trades a second. A step is one movement of the mouse and the frame that follows it. Its cost is the time in which the
page's main thread runs script, style, layout or paint, without the pauses between; the median counts, and of several rounds
the smallest one. The processor's time beside it leaves out when other programs had the processor. With several folders of
files, such as those of two commits, each round measures each of them. Needs the `websockets` of scripts/test and Chromium
(scripts/setup --tests).
"""
import argparse
import asyncio
import contextlib
import http
import json
import mimetypes
import pathlib
import random
import statistics
import sys
import tempfile
import time
import urllib.parse

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "Tests" / "Page"))
import websockets.asyncio.server  # noqa: E402
import websockets.http11  # noqa: E402
from browser import Browser  # noqa: E402

FILES = root / "Sources" / "Page" / "Files"
SYMBOL = "BINANCE:BTCUSDT"
WIDTHS = {"1s": 1, "1m": 60, "5m": 300, "1h": 3600}
DAY = 86_400
# What the main thread does for a step, in Chromium's names.
WORK = {"EventDispatch", "FireAnimationFrame", "FunctionCall", "UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize",
        "Commit", "HitTest", "ScheduleStyleRecalculation", "UpdateLayer", "CompositeLayers", "MinorGC", "MajorGC"}


class Relay:
    """Serves a day of bars that ends now, and goes on with trades."""

    def __init__(self, rate, files):
        self.rate = rate
        self.files = files
        self.epoch = int(time.time() * 1000)
        self.seq = 1
        self.number = 0
        walk = random.Random(6)
        self.end = int(time.time())
        price = 60_000.0
        seconds = []
        for start in range(self.end - DAY, self.end):
            prices = [price]
            for _ in range(3):
                prices.append(prices[-1] + walk.gauss(0, 1.5))
            seconds.append((start, prices[0], max(prices), min(prices), prices[-1], walk.random() * 3))
            price = prices[-1]
        self.price = price
        self.bars = {name: self.joined(seconds, width) for name, width in WIDTHS.items()}

    @staticmethod
    def joined(seconds, width):
        bars = []
        for start, first, high, low, last, volume in seconds:
            begin = start - start % width
            if bars and bars[-1][0] == begin:
                _, opened, top, base, _, sum_ = bars[-1]
                bars[-1] = (begin, opened, max(top, high), min(base, low), last, sum_ + volume)
            else:
                bars.append((begin, first, high, low, last, volume))
        return [{"start": start * 1000, "open": f"{first:.2f}", "high": f"{high:.2f}", "low": f"{low:.2f}",
                 "close": f"{last:.2f}", "volume": f"{volume:.5f}", "vwap": None, "trades": 9, "closed": True,
                 "incomplete": start % 7200 < width} for start, first, high, low, last, volume in bars]

    def request(self, connection, request):
        path, _, query = request.path.partition("?")
        if path == "/v1/stream":
            return None
        values = dict(urllib.parse.parse_qsl(query))
        if path.startswith("/v1/bars/"):
            bars = [bar for bar in self.bars[values["width"]] if bar["start"] < int(values.get("to", 1 << 53))]
            return self.json({"symbol": SYMBOL, "width": values["width"], "bars": bars[-int(values["limit"]):]})
        if path == "/v1/status":
            return self.json({"symbols": [{"symbol": SYMBOL, "state": "live"}], "gaps": {"newest": []}, "clients": {}})
        if path == "/v1/holdings":
            return self.json({})
        if path.startswith("/v1/trades/"):
            return self.json({"symbol": SYMBOL, "epoch": self.epoch, "trades": []})
        file = self.files / ("index.html" if path == "/" else pathlib.PurePath(path).name)
        kind = mimetypes.guess_type(file.name)[0]
        return self.answer(file.read_bytes(), f"{kind}; charset=utf-8")

    def json(self, value):
        return self.answer(json.dumps(value).encode(), "application/json")

    @staticmethod
    def answer(body, kind):
        headers = websockets.Headers({"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"})
        return websockets.http11.Response(http.HTTPStatus.OK, "OK", headers, body)

    def trade(self, kind):
        now = time.time()
        self.seq += 1
        self.price += random.gauss(0, 0.3)
        return {"type": kind, "n": self.seq, "symbol": SYMBOL, "seq": self.seq, "price": f"{self.price:.2f}", "size": "0.001",
                "time": int(now * 1000), "received": int(now * 1e6)}

    async def serve(self, socket):
        with contextlib.suppress(websockets.ConnectionClosed):
            await self.play(socket)

    async def play(self, socket):
        status = {"state": "live", "since": self.epoch, "reason": None, "source": "live", "certificateChecked": True}
        first = self.trade("snapshot") | {"open": "60000", "high": "60500", "low": "59000", "volume": "9", "trades": 9, "age": 0}
        await socket.send(json.dumps({"type": "hello", "n": 1, "version": "bench", "epoch": self.epoch, "seq": self.seq, "status": status,
                                      "time": int(time.time() * 1000), "symbols": [first | {"state": "live"}]}))
        begun, sent = time.monotonic(), 0
        while True:
            for _ in range(int((time.monotonic() - begun) * self.rate) - sent):
                sent += 1
                await socket.send(json.dumps(self.trade("trade")))
            now = int(time.time())
            if now > self.end:
                self.end = now
                for name, width in WIDTHS.items():
                    text = f"{self.price:.2f}"
                    await socket.send(json.dumps({
                        "type": "bar", "n": 1, "symbol": SYMBOL, "width": name, "start": (now - now % width) * 1000, "open": text,
                        "high": text, "low": text, "close": text, "volume": "1", "trades": 3, "closed": False, "incomplete": False}))
            await asyncio.sleep(0.02)


FRAME = "new Promise(requestAnimationFrame)"


async def drag(browser, steps):
    await browser.value("""(() => {
        const choose = (id, value) => {
            const field = document.getElementById(id);
            field.value = value;
            field.dispatchEvent(new Event("change"));
        };
        choose("chart-width", "1s");
        choose("chart-kind", "candles");
        document.querySelector("[data-range='1d']").click();
    })()""")
    # The label counts the bars of the view; the hours with incomplete ones are all there once a day is loaded.
    begun = time.monotonic()
    await browser.until("/over 23h.* in bars of 1 s/.test(document.getElementById('chart').getAttribute('aria-label'))", 60)
    loaded = time.monotonic() - begun
    left, top, width, height = await browser.value(
        "(() => { const box = document.getElementById('chart-touch').getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })()")
    events, done = [], asyncio.Event()

    def traced(method, params):
        if method == "Tracing.dataCollected":
            events.extend(params["value"])
        elif method == "Tracing.tracingComplete":
            done.set()

    browser.listeners.append(traced)

    async def mouse(kind, x, **more):
        await browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=top + height / 2, button="left", **more)

    await browser.call("Tracing.start", transferMode="ReportEvents", categories="devtools.timeline,v8")
    x, way = left + width * 0.3, 1
    await mouse("mousePressed", x, buttons=1, clickCount=1)
    for step in range(steps):
        if not left + 40 < x + way * 7 < left + width - 80:
            way = -way
        x += way * 7
        await mouse("mouseMoved", x, buttons=1)
        await browser.value(FRAME)
    await mouse("mouseReleased", x, clickCount=1)
    await browser.call("Tracing.end")
    await asyncio.wait_for(done.wait(), 60)
    return loaded, costs(events, "ts", "dur"), costs(events, "tts", "tdur")


def costs(events, start, length):
    """Returns the time of work of each step, ms, from the times of this name in the events."""
    events = [each for each in events if start in each]
    moves = [each for each in events if each["name"] == "EventDispatch" and each.get("args", {}).get("data", {}).get("type") == "pointermove"]
    thread = moves[0]["tid"]
    spans = sorted((each[start], each[start] + each.get(length, 0)) for each in events
                   if each["tid"] == thread and each["name"] in WORK and each.get("ph") == "X")
    begins = [each[start] for each in moves]
    sums = []
    for begin, end in zip(begins, begins[1:]):
        total, until = 0, begin
        for first, last in spans:
            if last <= until or first >= end:
                continue
            total += min(last, end) - max(first, until)
            until = min(last, end)
        sums.append(total / 1000)
    return sums


async def memory(browser, minutes):
    for domain in ("HeapProfiler", "Performance"):
        await browser.call(f"{domain}.enable")
    await browser.value("document.querySelector(\"[data-range='1d']\").click()")
    for minute in range(minutes + 1):
        if minute > 0:
            await asyncio.sleep(60)
        await browser.call("HeapProfiler.collectGarbage")
        usage = await browser.call("Runtime.getHeapUsage")
        counts = {each["name"]: each["value"] for each in (await browser.call("Performance.getMetrics"))["metrics"]}
        print(f"{minute:3d} min: {usage['usedSize'] / 1e6:6.2f} MB of heap, {counts['Nodes']:.0f} nodes, "
              f"{counts['JSEventListeners']:.0f} listeners", flush=True)


async def measured(options, files, look):
    """Opens the page with these files in a browser, and returns what `look` returns."""
    relay = Relay(options.rate, files)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        async with websockets.asyncio.server.serve(
                relay.serve, "127.0.0.1", 0, process_request=relay.request, subprotocols=["tickertape.v1.json"]) as server:
            try:
                await browser.open(observes=False)
                await browser.size(1280, 800)
                port = server.sockets[0].getsockname()[1]
                await browser.call("Page.navigate", url=f"http://127.0.0.1:{port}/")
                await browser.until("document.getElementById('chart')?.getAttribute('aria-label').startsWith('Chart of')")
                return await look(browser)
            finally:
                browser.reader.cancel()
                browser.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["drag", "memory"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--files", type=pathlib.Path, nargs="+", default=[FILES])
    options = parser.parse_args()
    if options.rate is None:
        options.rate = 0 if options.what == "drag" else 500
    if options.what == "memory":
        return await measured(options, options.files[0], lambda browser: memory(browser, options.minutes))
    medians = {files: [] for files in options.files}
    for _ in range(options.rounds):
        for files in options.files:
            loaded, steps, busy = await measured(options, files, lambda browser: drag(browser, options.steps))
            ordered = sorted(steps)
            medians[files].append((statistics.median(steps), statistics.median(busy)))
            print(f"{files}: a day of seconds loaded in {loaded:.1f} s; {len(steps)} steps: median {medians[files][-1][0]:.2f} ms, "
                  f"90 % {ordered[len(ordered) * 9 // 10]:.2f} ms, most {ordered[-1]:.2f} ms; "
                  f"of the processor median {medians[files][-1][1]:.2f} ms", flush=True)
    if options.rounds > 1:
        for files, each in medians.items():
            steps, busy = zip(*each)
            print(f"{files}: smallest median {min(steps):.2f} ms, of the processor {min(busy):.2f} ms; "
                  f"middle one {statistics.median(steps):.2f} and {statistics.median(busy):.2f} ms")


asyncio.run(main())

#!/usr/bin/env python3
"""Measures the screen beside other programs of the terminal, in turns: processor time, bytes to the terminal, memory, the
time from the start to the first price, and the time from a trade's sending to its price on the terminal.

usage: compared.py PROGRAM [--part programs starts goals simulated] [--only REGEX] [--ticker PROGRAM] [--btop PROGRAM]
                   [--seconds 60] [--rounds 3] [--starts 10] [--json FILE]

A stand-in for Coinbase, Yahoo and Finnhub on this machine speaks TLS with a certificate of its own. It sends trades at an
even pace, the symbols in turn; as Coinbase each in a frame of its own, as Finnhub ten in a frame. Every contender begins
with a stand-in of its own and sees the same prices. `tickertape` and `ticker` (achannarasappa/ticker) read the same trades
of Coinbase: `tickertape` from the channel `matches`, `ticker` from the channel `ticker`, as each does with Coinbase itself.
`ticker` needs no change: HTTPS_PROXY leads it to the stand-in, and SSL_CERT_FILE trusts its certificate. btop shows this
machine and no prices.

Parts:
  programs   120x40; 5 symbols with 50 trades/s, 50 symbols with 200 and with 1,000 trades/s
  starts     120x40, 5 symbols: from the start of the program to the first price, or for btop to its first picture
  goals      50 symbols with 1,000 trades/s on 120x40 and 200x60: pictures, the processor, bytes and latencies, on a
             terminal of this machine and on one over ssh, without the debounce and with it, from Finnhub; and without the
             debounce from Coinbase
  simulated  120x40, `tickertape simulate`: the market and its service run in the measured process, too

What a contender writes is kept with the time of its reading, and only looked at when the contender has ended.
openssl is needed; what comes from PyPI is put into Benchmarks/.build/python.
"""
import argparse
import asyncio
import collections
import datetime
import fcntl
import http
import json
import multiprocessing
import os
import pathlib
import pty
import random
import re
import select
import signal
import ssl
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.parse

from packages import provide

provide("pyte", "websockets")
import pyte
import websockets
import websockets.asyncio.server

here = pathlib.Path(__file__).resolve().parent

TICKS = os.sysconf("SC_CLK_TCK")
WARM_UP = 5
# Reads with less between them are of one picture.
PICTURE_GAP = 0.003


def names(count):
    """Names of assets that no exchange has."""
    return [f"Q{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(count)]


# The stand-in


class Market:
    """Prices that wander in hundredths. Each price of a symbol occurs once, so the screen tells which trade it shows."""

    def __init__(self, assets):
        self.random = random.Random(4)
        self.cents = {asset: 2_000_000 + 150_000 * place for place, asset in enumerate(assets)}
        self.seen = {asset: set() for asset in assets}
        self.count = collections.Counter()
        # When each price of each asset was sent, in the order of the trades.
        self.sent = {asset: [] for asset in assets}
        for asset in assets:
            self.step(asset)

    def step(self, asset):
        """Makes the next trade of an asset, which is sent now."""
        width = 12
        while True:
            cents = self.cents[asset] + round(self.random.gauss(0, width))
            if cents not in self.seen[asset]:
                break
            width *= 1.2
        self.cents[asset] = cents
        self.seen[asset].add(cents)
        self.count[asset] += 1
        self.sent[asset].append((time.monotonic(), self.price(asset)))

    def price(self, asset):
        return f"{self.cents[asset] // 100}.{self.cents[asset] % 100:02}"


class Exchange:
    """The stand-in, in a process of its own."""

    def __init__(self, folder, assets, rate, per_frame):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=lambda: asyncio.run(serve(folder, assets, rate, per_frame, other)), daemon=True
        )
        self.process.start()
        self.port, self.proxy = self.pipe.recv()

    def sent(self):
        self.pipe.send("sent")
        return self.pipe.recv()

    def end(self):
        self.process.terminate()
        self.process.join()


def now_text():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def match(market, asset, kind="match"):
    number = market.count[asset]
    return (
        f'{{"type":"{kind}","trade_id":{number},"maker_order_id":"ac928c66-ca53-498f-9c13-a110027a60e8",'
        f'"taker_order_id":"132fb6ae-456b-4654-b4e0-d681ac05cea1","side":"{"buy" if number % 2 else "sell"}","size":"0.01",'
        f'"price":"{market.price(asset)}","product_id":"{asset}-USD","sequence":{number},"time":"{now_text()}"}}'
    )


def tick(market, asset):
    number, price = market.count[asset], market.price(asset)
    first = market.sent[asset][0][1]
    return (
        f'{{"type":"ticker","sequence":{number},"product_id":"{asset}-USD","price":"{price}","open_24h":"{first}",'
        f'"volume_24h":"{1_000 + number / 100}","low_24h":"{first}","high_24h":"{price}","volume_30d":"30000.5",'
        f'"best_bid":"{price}","best_bid_size":"0.1","best_ask":"{price}","best_ask_size":"0.1","side":"buy",'
        f'"time":"{now_text()}","trade_id":{number},"last_size":"0.01"}}'
    )


def trade(market, asset):
    return f'{{"c":null,"p":{market.price(asset)},"s":"BENCH:{asset}","t":{time.time_ns() // 1_000_000},"v":0.01}}'


def answer(market, connection, request):
    """Answers a request over HTTP as the services do; nothing for a WebSocket."""
    if request.headers.get("Upgrade", "").lower() == "websocket":
        return None
    address = urllib.parse.urlsplit(request.path)
    query = urllib.parse.parse_qs(address.query)
    status, value, headers = http.HTTPStatus.OK, {}, {}
    if address.path == "/products":
        value = [
            {"id": f"{asset}-USD", "base_currency": asset, "quote_currency": "USD", "display_name": f"{asset}/USD",
             "status": "online", "trading_disabled": False}
            for asset in market.sent
        ]
    elif address.path.endswith("/stats"):
        asset = address.path.split("/")[2].split("-")[0]
        first = market.sent[asset][0][1]
        value = {"open": first, "high": first, "low": first, "last": first, "volume": "1000.5", "volume_30day": "30000.5"}
    elif address.path.endswith("/trades"):
        value = []
    elif address.path == "/api/v3/brokerage/market/products":
        value = {"products": [
            {"base_display_symbol": asset, "product_id": f"{asset}-USD", "base_name": f"Coin {asset}",
             "price": market.price(asset), "price_percentage_change_24h": "1.25", "volume_24h": "1000.5",
             "display_name": f"{asset}-USD", "status": "online", "quote_currency_id": "USD", "product_venue": "CBE",
             "product_type": "SPOT"}
            for asset in (name.split("-")[0] for name in query["product_ids"])
        ]}
    elif address.path == "/v7/finance/quote":
        if "crumb" not in query:
            status = http.HTTPStatus.UNAUTHORIZED
        else:
            value = {"quoteResponse": {"error": None, "result": [
                quote(market, name.split("-")[0]) for name in query["symbols"][0].split(",") if "=" not in name
            ]}}
    elif address.path.endswith("/getcrumb"):
        value = "crumb"
    elif address.path.endswith("symbols.csv"):
        value = ""
    elif address.path.endswith("/releases/latest"):
        value = {"tag_name": ""}
    elif address.path == "/":
        headers["Set-Cookie"] = "A3=stand-in; Path=/"
    else:
        status = http.HTTPStatus.NOT_FOUND
    response = connection.respond(status, value if isinstance(value, str) else json.dumps(value))
    for name, text in headers.items():
        response.headers[name] = text
    return response


def quote(market, asset):
    def field(value):
        return {"raw": value, "fmt": str(value)}

    price, first = float(market.price(asset)), float(market.sent[asset][0][1])
    return {
        "shortName": f"Coin {asset}", "symbol": f"{asset}-USD", "marketState": "REGULAR", "currency": "USD",
        "fullExchangeName": "CCC", "exchangeDataDelayedBy": 0, "quoteType": "CRYPTOCURRENCY",
        "regularMarketPrice": field(price), "regularMarketChange": field(round(price - first, 2)),
        "regularMarketChangePercent": field(round(100 * (price / first - 1), 4)), "regularMarketPreviousClose": field(first),
        "regularMarketOpen": field(first), "regularMarketDayHigh": field(price), "regularMarketDayLow": field(first),
        "regularMarketVolume": field(1_000.5), "regularMarketDayRange": {"raw": "", "fmt": ""},
    }


async def serve(folder, assets, rate, per_frame, pipe):
    market = Market(assets)
    subscriptions = {}
    started = asyncio.Event()

    async def talk(connection):
        channels = subscriptions[connection] = collections.defaultdict(set)
        try:
            async for text in connection:
                request = json.loads(text)
                if request["type"] != "subscribe":
                    continue
                if "symbol" in request:
                    channels["finnhub"].add(request["symbol"].split(":")[1])
                    started.set()
                    continue
                new = []
                for channel in request["channels"]:
                    name = channel if isinstance(channel, str) else channel["name"]
                    products = request.get("product_ids") if isinstance(channel, str) else channel.get("product_ids")
                    for product in products or request["product_ids"]:
                        channels[name].add(product.split("-")[0])
                        new.append((name, product.split("-")[0]))
                listed = [{"name": name, "product_ids": [f"{asset}-USD" for asset in channels[name]]} for name in channels]
                await connection.send(json.dumps({"type": "subscriptions", "channels": listed}))
                for name, asset in new:
                    if name == "matches":
                        await connection.send(match(market, asset, "last_match"))
                    elif name == "ticker":
                        await connection.send(tick(market, asset))
                started.set()
        except websockets.ConnectionClosed:
            pass
        subscriptions.pop(connection, None)

    async def send(asset, name, text):
        for connection, channels in list(subscriptions.items()):
            if asset in channels[name]:
                try:
                    await connection.send(text)
                except websockets.ConnectionClosed:
                    subscriptions.pop(connection, None)

    async def hearts():
        while True:
            await asyncio.sleep(1)
            for asset in assets:
                await send(asset, "heartbeat", json.dumps({
                    "type": "heartbeat", "sequence": market.count[asset], "last_trade_id": market.count[asset],
                    "product_id": f"{asset}-USD", "time": now_text(),
                }))

    async def pass_on(reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    async def proxy(reader, writer):
        # A proxy that leads to the stand-in whatever the address is.
        await reader.readuntil(b"\r\n\r\n")
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pass_on(reader, inner_writer), pass_on(inner_reader, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/leaf.pem", f"{folder}/leaf.key")
    async with websockets.asyncio.server.serve(
        talk, "127.0.0.1", 0, ssl=context, compression=None,
        process_request=lambda connection, request: answer(market, connection, request),
    ) as server:
        port = server.sockets[0].getsockname()[1]
        through = await asyncio.start_server(proxy, "127.0.0.1", 0)
        asyncio.get_running_loop().add_reader(pipe.fileno(), lambda: (pipe.recv(), pipe.send(market.sent)))
        pipe.send((port, through.sockets[0].getsockname()[1]))
        tasks = [asyncio.create_task(hearts())]
        # Yahoo's prices move without a subscription.
        try:
            await asyncio.wait_for(started.wait(), 1)
        except asyncio.TimeoutError:
            pass
        start = time.monotonic()
        for number in range(0, 1 << 40, per_frame):
            await asyncio.sleep(max(0, start + number / rate - time.monotonic()))
            trades = []
            for asset in (assets[place % len(assets)] for place in range(number, number + per_frame)):
                market.step(asset)
                trades.append(trade(market, asset))
                await send(asset, "matches", match(market, asset))
                await send(asset, "ticker", tick(market, asset))
            for asset in assets[:1]:
                await send(asset, "finnhub", f'{{"data":[{",".join(trades)}],"type":"trade"}}')
        await asyncio.gather(*tasks)


HOSTS = [
    "localhost", "api.coinbase.com", "ws-feed.exchange.coinbase.com", "query1.finance.yahoo.com", "query2.finance.yahoo.com",
    "finance.yahoo.com", "consent.yahoo.com", "raw.githubusercontent.com", "api.github.com",
]


def certify(folder):
    """Makes an authority and a certificate for the stand-in."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=stand-in")
    openssl("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=localhost")
    alternatives = ",".join(["IP:127.0.0.1", *(f"DNS:{host}" for host in HOSTS)])
    pathlib.Path(folder, "leaf.cnf").write_text(f"subjectAltName={alternatives}\nextendedKeyUsage=serverAuth\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "leaf.pem",
            "-days", "2", "-extfile", "leaf.cnf")


# The measured programs


class Contender:
    def __init__(self, name, command, environment=None, assets=0, rate=0, size=(120, 40), per_frame=1):
        self.name, self.command, self.environment = name, command, environment or {}
        self.assets, self.rate, self.size, self.per_frame = assets, rate, size, per_frame


def contenders(arguments, folder):
    """The programs by name; a command is made of the stand-in and the assets."""

    def tickertape(*more):
        return lambda exchange, assets: [
            arguments.program, "--from", "venue", "--relay", "127.0.0.1:0", "--ca-file", f"{folder}/ca.pem",
            "--set", f"venues.coinbase-url=wss://127.0.0.1:{exchange.port}",
            "--set", f"venues.coinbase-service=https://127.0.0.1:{exchange.port}", *more,
            *(word for asset in assets for word in ("--symbol", f"COINBASE:{asset}-USD")),
        ]

    def finnhub(*more):
        return lambda exchange, assets: [
            arguments.program, "--from", "finnhub", "--relay", "127.0.0.1:0", "--ca-file", f"{folder}/ca.pem",
            "--upstream", f"wss://127.0.0.1:{exchange.port}", *more,
            *(word for asset in assets for word in ("--symbol", f"BENCH:{asset}")),
        ]

    def ticker(suffix, interval):
        return lambda exchange, assets: [
            arguments.ticker, "--interval", str(interval), "--watchlist", ",".join(asset + suffix for asset in assets),
        ]

    def simulated(rate):
        return lambda exchange, assets: [
            arguments.program, "simulate", "--seed", "4", "--rate", rate, "--relay", "127.0.0.1:0",
            *(word for asset in assets for word in ("--symbol", f"COINBASE:{asset}-USD")),
        ]

    small, middle, busy = ({"assets": assets, "rate": rate} for assets, rate in ((5, 50), (50, 200), (50, 1_000)))
    parts = {"programs": [], "starts": [], "goals": [], "simulated": []}
    for load in (small, middle, busy):
        parts["programs"].append(Contender("tickertape", tickertape(), **load))
        if arguments.ticker:
            parts["programs"].append(Contender("ticker, Coinbase", ticker(".CB", 5), **load))
            parts["programs"].append(Contender("ticker, Yahoo, 5 s", ticker("-USD", 5), **load))
    if arguments.ticker:
        parts["programs"].append(Contender("ticker, Yahoo, 1 s", ticker("-USD", 1), **small))
    for milliseconds in (2_000, 100):
        settings = pathlib.Path(folder, f"btop-{milliseconds}", "btop")
        settings.mkdir(parents=True)
        (settings / "btop.conf").write_text(f"update_ms = {milliseconds}\n")
        environment = {"XDG_CONFIG_HOME": str(settings.parent)}
        parts["programs"].append(Contender(f"btop, {milliseconds} ms", lambda *_: [arguments.btop], environment))
        if milliseconds == 2_000:
            parts["starts"].append(Contender("btop", lambda *_: [arguments.btop], environment))
    parts["starts"].append(Contender("tickertape", tickertape(), **small))
    if arguments.ticker:
        parts["starts"].append(Contender("ticker, Coinbase", ticker(".CB", 5), **small))
        parts["starts"].append(Contender("ticker, Yahoo, 5 s", ticker("-USD", 5), **small))
    over_ssh = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
    undebounced = ("--set", "pipeline.quiet=0ms")
    for size in ((120, 40), (200, 60)):
        for name, environment in (("local", {}), ("over ssh", over_ssh)):
            key = {"FINNHUB_TOKEN": "benchmark", **environment}
            of_ten = {"size": size, "per_frame": 10, **busy}
            parts["goals"] += [
                Contender(f"{name}, Finnhub", finnhub(*undebounced), key, **of_ten),
                Contender(f"{name}, Finnhub, debounced", finnhub(), key, **of_ten),
            ]
        parts["goals"].append(Contender("local, Coinbase", tickertape(*undebounced), size=size, **busy))
    parts["simulated"].append(Contender("tickertape simulate --rate 50", simulated("50"), assets=5))
    parts["simulated"].append(Contender("tickertape simulate --rate 1000", simulated("1000"), assets=50))
    return parts


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def thread_seconds(process):
    """Processor time of each thread, by name and number."""
    times = {}
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        head, tail = (task / "stat").read_text().rsplit(")", 1)
        fields = tail.split()
        times[f"{head.split('(', 1)[1]} {task.name}"] = (int(fields[11]) + int(fields[12])) / TICKS
    return times


def memory(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


# What a terminal answers at once.
ANSWERS = [
    (re.compile(rb"\x1b\[c|\x1b\[0c"), b"\x1b[?62;22c"),
    (re.compile(rb"\x1b\]11;\?(?:\x1b\\|\x07)"), b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (re.compile(rb"\x1b\]10;\?(?:\x1b\\|\x07)"), b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\[\?2026\$p"), b"\x1b[?2026;2$y"),
]


class Run:
    """One contender on a terminal: what it cost, and what it wrote and when."""

    def __init__(self, contender, folder, seconds, warm_up=WARM_UP):
        self.assets = names(contender.assets)
        self.columns, self.lines = contender.size
        self.exchange = Exchange(folder, self.assets, contender.rate, contender.per_frame) if contender.rate else None
        with tempfile.TemporaryDirectory() as home:
            environment = {
                name: os.environ[name] for name in ("PATH",) if name in os.environ
            } | {
                "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "HOME": home, "XDG_STATE_HOME": home,
                "XDG_RUNTIME_DIR": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "TZ": "UTC",
                "SSL_CERT_FILE": f"{folder}/ca.pem",
            } | contender.environment
            if self.exchange:
                environment["HTTPS_PROXY"] = f"http://127.0.0.1:{self.exchange.proxy}"
            command = contender.command(self.exchange, self.assets)
            self.start = time.monotonic()
            self.process, self.terminal = pty.fork()
            if self.process == 0:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", self.lines, self.columns, 0, 0))
                os.execvpe(command[0], command, environment)
            self.chunks = []
            try:
                self.read(self.start + warm_up)
                begun, used, threads = time.monotonic(), cpu_seconds(self.process), thread_seconds(self.process)
                self.read(begun + seconds)
                ended = time.monotonic()
                self.cpu = 100 * (cpu_seconds(self.process) - used) / (ended - begun)
                self.threads = {
                    name: round(100 * (value - threads.get(name, 0)) / (ended - begun), 2)
                    for name, value in thread_seconds(self.process).items()
                }
                self.memory = memory(self.process)
            finally:
                self.sent = self.exchange.sent() if self.exchange else {}
                self.finish()
                if self.exchange:
                    self.exchange.end()
        span = [(at, data) for at, data in self.chunks if begun < at <= ended]
        self.bytes = sum(len(data) for _, data in span) / (ended - begun)
        self.pictures = len(self.merged(span)) / (ended - begun)
        self.begun, self.ended = begun, ended

    def read(self, until):
        while (left := until - time.monotonic()) > 0:
            if not select.select([self.terminal], [], [], left)[0]:
                continue
            data = os.read(self.terminal, 1 << 20)
            self.chunks.append((time.monotonic(), data))
            for question, text in ANSWERS:
                if question.search(data):
                    os.write(self.terminal, text)

    def finish(self):
        self.rest = b""
        os.kill(self.process, signal.SIGTERM)
        end = time.monotonic() + 5
        gone = False
        while time.monotonic() < end:
            try:
                if select.select([self.terminal], [], [], 0.05)[0]:
                    self.rest += os.read(self.terminal, 1 << 20)
                    continue
            except OSError:
                pass
            if gone:
                break
            gone = os.waitpid(self.process, os.WNOHANG)[0] != 0
        if not gone:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.terminal)

    def merged(self, chunks):
        """The pictures, each with the time at which its last byte was read."""
        pictures = []
        for at, data in chunks:
            if pictures and at - pictures[-1][0] < PICTURE_GAP:
                pictures[-1] = (at, pictures[-1][1] + data)
            else:
                pictures.append((at, data))
        return pictures

    def screens(self, until):
        """The screen after each picture, with the lines that it changed."""
        screen = pyte.Screen(self.columns, self.lines)
        stream = pyte.ByteStream(screen)
        unknown = re.compile(
            rb"\x1b\[\?2026(?:\$p|h|l)|\x1b\[[0-9;]*t|\x1b\[>[0-9;]*[a-zA-Z]|\x1b\[c"
            rb"|\x1b\][0-9]*;[^\x07\x1b]*(?:\x1b\\|\x07)"
        )
        for at, data in self.merged(self.chunks):
            if at > until:
                return
            stream.feed(unknown.sub(b"", data))
            yield at, screen, sorted(screen.dirty)
            screen.dirty.clear()

    def first_price(self):
        """From the start to the first price, or to the first full picture where there are no prices."""
        for at, screen, _ in self.screens(self.start + 5):
            for line in screen.display:
                if not self.assets:
                    if "cpu" in line and sum(len(line.strip()) > 0 for line in screen.display) > self.lines // 2:
                        return 1_000 * (at - self.start)
                elif any(re.search(rf"\b{asset}\b", line) for asset in self.assets) and re.search(r"\d{5}\.\d\d", line):
                    return 1_000 * (at - self.start)
        return None

    def latencies(self, seconds):
        """From a trade's sending to the picture that shows it or a newer one of its symbol; all trades of visible symbols."""
        places = {
            asset: {price: place for place, (_, price) in enumerate(trades)} for asset, trades in self.sent.items()
        }
        shown, latencies = {}, []
        for at, screen, dirty in self.screens(self.begun + seconds):
            for number in dirty:
                line = screen.display[number] if number < self.lines else ""
                asset = next((asset for asset in self.assets if asset in line), None)
                if not asset:
                    continue
                for price in re.findall(r"\d{5}\.\d\d", line):
                    if (place := places[asset].get(price)) is None:
                        continue
                    before = shown.get(asset)
                    if before is None or place > before:
                        if before is not None and at > self.begun:
                            latencies += [at - self.sent[asset][index][0] for index in range(before + 1, place + 1)]
                        shown[asset] = place
                    break
        latencies.sort()
        if len(latencies) < 100:
            return None, None
        return 1_000 * latencies[len(latencies) // 2], 1_000 * latencies[len(latencies) * 99 // 100]

    def own_latency(self):
        """What the program itself says of the time from an arrival to its picture."""
        found = re.search(rb"arrival to screen ([\d.]+)/([\d.]+)/([\d.]+)", self.rest)
        return (float(found[1]), float(found[2])) if found else (None, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--part", nargs="+", choices=["programs", "starts", "goals", "simulated"])
    parser.add_argument("--only", default="", help="a regular expression that a contender's line must have")
    parser.add_argument("--ticker")
    parser.add_argument("--btop", default="btop")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = collections.defaultdict(list)
    multiprocessing.set_start_method("fork")
    with tempfile.TemporaryDirectory() as folder:
        certify(folder)
        parts = contenders(arguments, folder)
        for part in arguments.part or parts:
            rounds = arguments.starts if part == "starts" else arguments.rounds
            for number in range(rounds):
                for contender in parts[part]:
                    load = os.getloadavg()[0]
                    size = "{}x{}".format(*contender.size)
                    what = f"{part}: {contender.name}, {size}, {contender.assets} symbols, {contender.rate}/s"
                    if not re.search(arguments.only, what):
                        continue
                    print(f"round {number + 1} of {rounds}: {what}, load {load:.1f}", file=sys.stderr)
                    if part == "starts":
                        run = Run(contender, folder, 0.5, 2.5)
                        row = {"first_ms": run.first_price()}
                    else:
                        run = Run(contender, folder, arguments.seconds)
                        row = {
                            "cpu_percent": run.cpu, "bytes_per_second": run.bytes, "pictures_per_second": run.pictures,
                            "rss_mib": run.memory,
                        }
                        row["own_p50_ms"], row["own_p99_ms"] = run.own_latency()
                        if part == "goals":
                            row["p50_ms"], row["p99_ms"] = run.latencies(20)
                            row["threads"] = run.threads
                    rows[what].append({**row, "load": load})
                    if arguments.json:
                        with open(arguments.json, "a", encoding="utf-8") as file:
                            print(json.dumps({"contender": what, **row, "load": load}), file=file)
    for what, results in rows.items():
        figures = []
        for key in results[0]:
            values = [result[key] for result in results if isinstance(result[key], (int, float))]
            if values:
                figures.append(f"{key} {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})")
        print(f"{what}: {'; '.join(figures)}")


if __name__ == "__main__":
    main()

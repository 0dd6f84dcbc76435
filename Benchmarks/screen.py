#!/usr/bin/env python3
"""Measures the screen on a terminal beside a ticker made with rich (PyPI), in turns and on the same relay: CPU time, bytes to
the terminal, memory, and the time from a trade's sending to the terminal's showing it or a newer one of its symbol.

usage: screen.py PROGRAM [--seconds 20] [--rounds 3] [--rate 100] [--trades-per-frame 10] [--symbols 4] [--debounced]
                 [--json FILE]

A stand-in for Finnhub sends trades at an even pace, each with a price that occurs once, in frames that leave when they are
full, as the service's do; with --trades-per-frame 1 each has a frame of its own, which is the most work that they can make.
Every contender draws on a pseudo-terminal of 80x24, ten times a second at most, and is read by the emulator pyte; a read is
stamped before it is looked at. The debounce is off, for it is a choice and not a delay; with --debounced it is as people have
it. Contenders: the program with a connection of its own and no relay, the same with a relay that nobody uses, `watch` on the
relay of a third that shows nothing, and Peers/rich_ticker.py on that same relay. What they need from PyPI is put into
Benchmarks/.build/python.
"""
import argparse
import asyncio
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from packages import provide

provide("pyte", "rich", "websockets")
import pyte
import websockets
import websockets.asyncio.server

here = pathlib.Path(__file__).resolve().parent

TICKS = os.sysconf("SC_CLK_TCK")
WARM_UP = 3


class Upstream:
    """A Finnhub that sends trades at an even pace, the symbols in turn, from the first subscription on."""

    def __init__(self, symbols, rate, trades_per_frame):
        self.symbols, self.rate, self.trades_per_frame = symbols, rate, trades_per_frame
        # When each price of each symbol was sent; the price is its number.
        self.sent = {symbol: [] for symbol in symbols}
        self.ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        self.ready.wait()

    async def serve(self):
        async with websockets.asyncio.server.serve(self.talk, "127.0.0.1", 0, compression=None) as server:
            self.port = server.sockets[0].getsockname()[1]
            self.connections = set()
            self.ready.set()
            start, number = time.monotonic(), 0
            while True:
                number += self.trades_per_frame
                await asyncio.sleep(max(0, start + number / self.rate - time.monotonic()))
                places = range(number - self.trades_per_frame, number)
                trades = [self.trade(self.symbols[place % len(self.symbols)]) for place in places]
                message = f'{{"data":[{",".join(trades)}],"type":"trade"}}'
                for connection in list(self.connections):
                    try:
                        await connection.send(message)
                    except websockets.ConnectionClosed:
                        self.connections.discard(connection)

    def trade(self, symbol):
        """The next trade of a symbol, which is sent now."""
        times = self.sent[symbol]
        price = f"{10_000 + len(times)}.25"
        times.append(time.monotonic())
        return f'{{"c":null,"p":{price},"s":"{symbol}","t":{time.time_ns() // 1_000_000},"v":0.01}}'

    async def talk(self, connection):
        try:
            async for _ in connection:
                self.connections.add(connection)
        except websockets.ConnectionClosed:
            pass
        self.connections.discard(connection)


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return {name: int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "VmHWM")}


def measure(command, environment, upstream, seconds):
    """Runs a command on a terminal and answers with what it cost and how late it was."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(environment, TERM="xterm-256color", LANG="C.UTF-8", COLORFGBG="15;0", COLUMNS="80", LINES="24")
        # A terminal over ssh, for which the bytes are limited.
        os.environ["SSH_TTY"] = "/dev/pts/0"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.kill(process, signal.SIGWINCH)
    screen = pyte.Screen(80, 24)
    stream = pyte.ByteStream(screen)
    shown = {symbol: None for symbol in upstream.symbols}
    latencies, count, reads = [], 0, 0
    begun = None
    start = time.monotonic()
    try:
        while True:
            ready, _, _ = select.select([terminal], [], [], 0.05)
            now = time.monotonic()
            if begun is None and now - start > WARM_UP:
                begun = (now, cpu_seconds(process))
                count = reads = 0
                latencies.clear()
            if begun and now - begun[0] > seconds:
                break
            if not ready:
                continue
            data = os.read(terminal, 1 << 20)
            count, reads = count + len(data), reads + 1
            # Answered as a terminal does, so that nobody waits for it.
            if b"\x1b[c" in data:
                os.write(terminal, b"\x1b[?62;22c")
            stream.feed(re.sub(rb"\x1b\[\?2026(\$p|h|l)|\x1b\[[0-9;]*t|\x1b\[c|\x1b\]11;\?\x1b\\", b"", data))
            if screen.dirty:
                take(screen, upstream, shown, now, latencies)
                screen.dirty.clear()
        used = cpu_seconds(process) - begun[1]
        span = now - begun[0]
        cost = memory(process)
    finally:
        os.kill(process, signal.SIGTERM)
        end = time.monotonic() + 5
        while time.monotonic() < end and os.waitpid(process, os.WNOHANG)[0] == 0:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    os.read(terminal, 1 << 20)
                except OSError:
                    time.sleep(0.02)
        os.close(terminal)
    if len(latencies) < 10:
        sys.exit(f"{command[0]} showed {len(latencies)} trades:\n" + "\n".join(screen.display))
    latencies.sort()
    return {
        "cpu_percent": 100 * used / span,
        "bytes_per_second": count / span,
        "reads_per_second": reads / span,
        "rss_mib": cost["VmRSS"],
        "peak_mib": cost["VmHWM"],
        "p50_ms": 1_000 * latencies[len(latencies) // 2],
        "p99_ms": 1_000 * latencies[len(latencies) * 99 // 100],
        "trades": len(latencies),
    }


def take(screen, upstream, shown, now, latencies):
    """Notes of all trades up to those that stand on the screen how old they are."""
    for line in screen.display:
        for symbol in upstream.symbols:
            if symbol.split(":")[1] not in line:
                continue
            found = re.search(r"\b(\d{5,})\.25\b", line)
            if not found:
                continue
            number = int(found[1]) - 10_000
            times = upstream.sent[symbol]
            if not 0 <= number < len(times):
                continue
            before = shown[symbol]
            if before is not None and number > before:
                latencies += [now - times[index] for index in range(before + 1, number + 1)]
            if before is None or number > before:
                shown[symbol] = number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--trades-per-frame", type=int, default=10)
    parser.add_argument("--symbols", type=int, default=4)
    parser.add_argument("--debounced", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.symbols < 2:
        parser.error("one symbol alone has its price in large digits, which cannot be read: take two or more")
    symbols = [f"BENCH:COIN{chr(65 + number)}" for number in range(arguments.symbols)]
    if not 1 <= arguments.trades_per_frame <= 10:
        parser.error("a frame has 1 to 10 trades")
    upstream = Upstream(symbols, arguments.rate, arguments.trades_per_frame)
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "FINNHUB_TOKEN": "benchmark", "XDG_STATE_HOME": folder, "XDG_RUNTIME_DIR": folder, "XDG_CACHE_HOME": folder,
            "XDG_CONFIG_HOME": folder,
        }
        own = ["--upstream", f"ws://127.0.0.1:{upstream.port}"] + [word for symbol in symbols for word in ("--symbol", symbol)]
        if not arguments.debounced:
            own += ["--set", "pipeline.quiet=0ms"]
        relay = subprocess.Popen(
            [arguments.program, *own, "--quiet", "--relay", "127.0.0.1:0", "--set", "log.level=warning"],
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            line = ""
            while "127.0.0.1:" not in line or "relay" not in line:
                line = relay.stderr.readline()
                if not line:
                    sys.exit("the relay did not start")
            threading.Thread(target=relay.stderr.read, daemon=True).start()
            url = "ws://" + re.search(r"127\.0\.0\.1:\d+", line)[0]
            alone = {**environment, "XDG_STATE_HOME": f"{folder}/alone", "XDG_RUNTIME_DIR": f"{folder}/alone"}
            # The key is another's here: the relay holds the one that its own runs have.
            alone["FINNHUB_TOKEN"] = "another"
            contenders = {
                "tickertape": ([arguments.program, *own, "--relay", "off"], alone),
                "with a relay": ([arguments.program, *own, "--relay", "127.0.0.1:0"], alone),
                "tickertape watch": ([arguments.program, "watch", url], environment),
                "rich": ([sys.executable, str(here / "Peers" / "rich_ticker.py"), f"{url}/", *symbols], environment),
            }
            rows = {name: [] for name in contenders}
            for number in range(arguments.rounds):
                for name, (command, variables) in contenders.items():
                    print(f"round {number + 1} of {arguments.rounds}: {name}", file=sys.stderr)
                    rows[name].append(measure(command, variables, upstream, arguments.seconds))
        finally:
            relay.terminate()
            relay.wait(10)
    keys = list(rows["rich"][0])
    print(f"{'middle of the rounds':<20}" + "".join(f"{key:>18}" for key in keys))
    for name, results in rows.items():
        middles = (statistics.median(result[key] for result in results) for key in keys)
        print(f"{name:<20}" + "".join(f"{middle:>18.1f}" for middle in middles))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            for name, results in rows.items():
                for result in results:
                    row = {"contender": name, "rate": arguments.rate, "trades_per_frame": arguments.trades_per_frame, **result}
                    print(json.dumps(row), file=file)


main()

"""Kills and restarts a recording relay under clients of /v1/stream, and checks that each of them reports every trade of
the recordings once, with its values and in order, and a gap for each restart.

usage: lossless_clients.py PROGRAM ROUNDS CLIENT...      CLIENT: the command of a driver (docs/clients/README.md)

A mock Finnhub (`serve --simulate`) goes on meanwhile, so trades that nobody received exist, and are what the gaps say.
"""

import collections
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE_SECONDS = 60


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"in {PATIENCE_SECONDS} s not seen: {what}")
        time.sleep(0.02)


class Program:
    """A process of the program, which prints the address that it listens on."""

    def __init__(self, log, arguments, environment=None):
        self.log = open(log, "a+b")
        start = self.log.seek(0, os.SEEK_END)
        environment = {**os.environ, **(environment or {})}
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment
        )
        self.port = None
        wait_until(lambda: self.look(log, start), f"the address of {' '.join(arguments[:2])}")

    def look(self, log, start):
        if self.process.poll() is not None:
            with open(log, "rb") as file:
                raise SystemExit(file.read()[start:].decode())
        with open(log, "rb") as file:
            file.seek(start)
            found = re.search(rb"ws://127\.0\.0\.1:(\d+)", file.read())
        self.port = found and int(found[1])
        return found

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(PATIENCE_SECONDS)
        self.log.close()


class Client:
    """A driver, and what it reports."""

    def __init__(self, command, port):
        self.command = command
        self.trades = []
        self.counts = collections.Counter()
        self.gaps = []
        self.wrong = []
        self.epoch = None
        self.is_closed = False
        options = {"delivery": "all", "backoff": {"firstMs": 20, "maxMs": 200}, "silenceMs": 5000}
        self.process = subprocess.Popen(
            [*shlex.split(command), f"ws://127.0.0.1:{port}/v1/stream", json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            kind = event["event"]
            self.counts[kind] += 1
            if kind == "trade":
                self.trades.append((event["epoch"], event["seq"], event["symbol"], event["price"], event["size"]))
                self.epoch = event["epoch"]
            elif kind == "gap":
                self.gaps.append(event)
            elif kind == "disconnected":
                self.is_closed = self.is_closed or event["code"] == 1001
            elif kind in ("protocol-error", "error", "missed", "failed"):
                self.wrong.append(event)

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(PATIENCE_SECONDS)
        self.reader.join(PATIENCE_SECONDS)
        if status != 0:
            self.wrong.append(f"exit status {status}")


def check(client, recorded, rounds):
    """Returns what is wrong with a client's report."""
    wrong = [str(event) for event in client.wrong]
    places = [trade[:2] for trade in client.trades]
    doubled = [place for place, count in collections.Counter(places).items() if count > 1]
    if doubled:
        wrong.append(f"{len(doubled)} trades came twice, such as {doubled[0]}")
    seen = {trade[:2]: trade for trade in client.trades}
    first = places[0]
    lost = [place for place in recorded if place >= first and place not in seen]
    if lost:
        wrong.append(f"{len(lost)} of {len(recorded)} recorded trades are lost, such as {lost[0]}")
    different = [place for place in seen if place in recorded and recorded[place] != seen[place]]
    if different:
        wrong.append(f"{len(different)} differ, such as {seen[different[0]]} and {recorded[different[0]]}")
    # Everything is followed, so that no number is left out within an epoch.
    holes = [next for last, next in zip(places, places[1:]) if last[0] == next[0] and last[1] + 1 != next[1]]
    if holes:
        wrong.append(f"numbers are left out before {holes[0]}")
    if places != sorted(places):
        wrong.append("the trades are not in order")
    named = {gap["epoch"] for gap in client.gaps}
    silent = {place[0] for place in places} - named - {first[0]}
    if silent:
        wrong.append(f"no gap before the epochs {sorted(silent)}")
    made = sum(gap["cause"] == "epoch" for gap in client.gaps)
    unrecorded = sum(place not in recorded for place in seen)
    print(
        f"{client.command.split('/')[-1]}: {len(places)} trades in {len({place[0] for place in places})} of"
        f" {rounds + 1} epochs, {unrecorded} of them not recorded; {len(client.gaps)} gaps, {made} of them made;"
        f" {client.counts['connected']} connections, {client.counts['resumed']} resumes",
        flush=True,
    )
    return wrong


def main():
    program, rounds, commands = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    chance = random.Random(17)
    with tempfile.TemporaryDirectory() as folder:
        market = [program, "serve", "--simulate", "--rate", "200", "--plain", "--shared-clock", "--live-times"]
        server = Program(f"{folder}/serve.log", [*market, "--listen", "127.0.0.1:0"])
        relay, port, clients = None, 0, []
        arguments = [program, "--upstream", f"ws://127.0.0.1:{server.port}", "--quiet"]
        arguments += ["--record", f"{folder}/tape.jsonl", "--symbol", "BINANCE:BTCUSDT", "--symbol", "BINANCE:ETHUSDT"]
        environment = {"FINNHUB_TOKEN": "anything", "XDG_RUNTIME_DIR": folder, "HOME": folder}
        try:
            for number in range(rounds + 1):
                # The program remembers its attempts over restarts, and would wait longer each time.
                for path in pathlib.Path(folder).glob(".local/state/tickertape/*.attempts"):
                    path.unlink()
                before = {client.epoch for client in clients}
                relay = Program(f"{folder}/relay.log", [*arguments, "--relay", f"127.0.0.1:{port}"], environment)
                port = relay.port
                if not clients:
                    clients = [Client(command, port) for command in commands]
                    wait_until(lambda: all(client.trades for client in clients), "a trade at each client")
                if number < rounds:
                    # One run in four ends before its first trade, the others soon after it, often amid a resume.
                    if number > 0 and chance.random() < 0.75:
                        wait_until(lambda: any(client.epoch not in before for client in clients), "the new run")
                    time.sleep(chance.uniform(0, 0.4))
                    relay.end(signal.SIGKILL)
            # The last run ends in order, after every client is in it.
            wait_until(lambda: len({client.epoch for client in clients}) == 1, "the clients in one epoch")
            newest = max(client.trades[-1] for client in clients)
            wait_until(lambda: all(client.trades[-1] > newest for client in clients), "newer trades")
            relay.end(signal.SIGTERM)
            relay = None
            wait_until(lambda: all(client.is_closed for client in clients), "the close with 1001")
        finally:
            if relay:
                relay.end(signal.SIGKILL)
            server.end(signal.SIGKILL)
            for client in clients:
                client.end()
        recorded = {}
        # Each run begins a recording of its own. One that was killed before its first frame cannot be exported.
        for name in sorted(name for name in os.listdir(folder) if name.startswith("tape")):
            command = [program, "export", f"{folder}/{name}", "--jsonl"]
            exported = subprocess.run(command, capture_output=True, text=True, check=False)
            for line in exported.stdout.splitlines():
                row = json.loads(line)
                names = ("epoch", "seq", "symbol", "price", "size")
                recorded[row["epoch"], row["seq"]] = tuple(row[name] for name in names)
    print(f"{len(recorded)} trades in the recordings of {len({place[0] for place in recorded})} epochs")
    failures = [(client.command, wrong) for client in clients for wrong in check(client, recorded, rounds)]
    for command, wrong in failures:
        print(f"FAIL {command}: {wrong}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

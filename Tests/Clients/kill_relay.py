"""Kills a recording relay at random moments and starts it again, while clients follow all its trades; then compares
what each client reported with the recordings.

usage: kill_relay.py COUNT PROGRAM CLIENT...      CLIENT: the command of a driver as docs/clients/kit describes it

Of each run of the relay a client must have reported every trade once and in order from its first one on: each one that
the recordings hold, and no number left out. Before the trades of the next run it must have reported a gap.
"""
import collections
import glob
import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

SYMBOLS = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for_port(port, process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert process.poll() is None, f"{process.args} ended with {process.returncode}"
            time.sleep(0.02)
    raise SystemExit(f"nothing listens on {port}")


def events(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def check(name, found, recorded):
    """Returns how many trades, gaps, resumes and disconnections a client reported; fails if a trade is missing or came
    twice."""
    runs = collections.defaultdict(list)
    order = []
    has_gap = True
    for event in found:
        kind = event["event"]
        assert kind not in ("protocol-error", "failed", "missed", "skipped", "error"), (name, event)
        if kind == "gap":
            has_gap = True
        elif kind == "trade":
            if event["epoch"] not in order[-1:]:
                assert event["epoch"] not in order, (name, "an epoch comes back", event)
                assert has_gap, (name, "another epoch without a gap", event)
                order.append(event["epoch"])
            has_gap = False
            runs[event["epoch"]].append((event["seq"], event["symbol"], event["price"], event["size"]))
    for place, epoch in enumerate(order):
        numbers = [trade[0] for trade in runs[epoch]]
        first = numbers[0] if place == 0 else 1
        in_order = list(range(first, first + len(numbers)))
        assert numbers == in_order, (name, epoch, "a hole, or a trade twice", numbers[:20])
        missing = {trade for trade in recorded[epoch] if trade[0] >= first} - set(runs[epoch])
        assert not missing, (name, epoch, f"{len(missing)} recorded trades are missing", sorted(missing)[:5])
    # A run whose every trade was recorded after the last client had its last one does not exist: they all caught up.
    lost = [epoch for epoch in recorded if epoch not in runs and epoch > order[0]]
    assert not lost, (name, "whole runs are missing", lost)
    kinds = collections.Counter(event["event"] for event in found)
    return kinds["trade"], kinds["gap"], kinds["resumed"], kinds["disconnected"]


def main():
    count, program, clients = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    chance = random.Random(1)
    environment = {**os.environ, "FINNHUB_TOKEN": "none-of-yours", "SWIFT_BACKTRACE": "enable=no"}
    running = []
    with tempfile.TemporaryDirectory() as base:
        def start(command, **streams):
            process = subprocess.Popen(command, **{**QUIET, **streams}, env=environment)
            running.append(process)
            return process

        try:
            upstream, port = free_port(), free_port()
            market = start([program, "serve", "--simulate", "--plain", "--shared-clock", "--live-times", "--rate",
                            "300", "--listen", f"127.0.0.1:{upstream}"])
            wait_for_port(upstream, market)
            relay_command = [program, "--quiet", "--relay", f"127.0.0.1:{port}",
                             "--upstream", f"ws://127.0.0.1:{upstream}", "--record", f"{base}/tape.jsonl",
                             "--set", "state.directory=off"]
            for symbol in SYMBOLS:
                relay_command += ["--symbol", symbol]
            relay = start(relay_command)
            wait_for_port(port, relay)
            options = json.dumps({"symbols": SYMBOLS, "delivery": "all", "backoff": {"firstMs": 20, "maxMs": 200}})
            drivers = []
            for number, client in enumerate(clients):
                output = open(f"{base}/client{number}", "wb")
                drivers.append(start([*shlex.split(client), f"ws://127.0.0.1:{port}/v1/stream", options],
                                     stdin=subprocess.PIPE, stdout=output, stderr=None))

            def trades():
                return [sum(each["event"] == "trade" for each in events(f"{base}/client{number}"))
                        for number in range(len(clients))]

            def wait_for_trades(more):
                """Waits until every client has so many more trades."""
                wanted = [had + more for had in trades()]
                deadline = time.monotonic() + 60
                while any(have < want for have, want in zip(trades(), wanted)):
                    assert time.monotonic() < deadline, "the clients get no trades"
                    for each in (relay, *drivers):
                        assert each.poll() is None, f"{each.args} ended with {each.returncode}"
                    time.sleep(0.05)

            wait_for_trades(1)
            for number in range(count):
                relay.send_signal(signal.SIGKILL)
                relay.wait()
                relay = start(relay_command)
                wait_for_port(port, relay)
                # Mostly every client comes back in between; sometimes none does.
                time.sleep(chance.random() * 0.8)
                if number % 10 == 9:
                    wait_for_trades(1)
            wait_for_trades(50)
            for driver in drivers:
                driver.stdin.close()
                assert driver.wait(timeout=10) == 0, driver.returncode
            relay.terminate()
            relay.wait(timeout=30)
            recorded = collections.defaultdict(set)
            for path in glob.glob(f"{base}/tape*.jsonl*"):
                exported = subprocess.run([program, "export", path, "--jsonl"], capture_output=True, text=True,
                                          check=False)
                # A relay that is killed early leaves a file without a trade.
                assert exported.returncode == 0 or "holds no" in exported.stderr, exported.stderr
                for line in exported.stdout.splitlines():
                    row = json.loads(line)
                    recorded[row["epoch"]].add((row["seq"], row["symbol"], row["price"], row["size"]))
            # The recording holds trades of the last run that came after the clients had left.
            for number, client in enumerate(clients):
                found = events(f"{base}/client{number}")
                last = max((each["epoch"], each["seq"]) for each in found if each["event"] == "trade")
                until = {epoch: {row for row in rows if (epoch, row[0]) <= last} for epoch, rows in recorded.items()}
                until = collections.defaultdict(set, until)
                numbers = check(client, found, until)
                print(client, "trades %d, gaps %d, resumes %d, disconnections %d" % numbers, flush=True)
            print(f"killed {count} times: {len(recorded)} runs, {sum(map(len, recorded.values()))} recorded trades")
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                process.wait()


if __name__ == "__main__":
    main()

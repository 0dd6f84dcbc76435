#!/usr/bin/env python3
"""Measures what a cluster over NATS costs beside one machine alone, in turns: processor time and latency a hop, bytes a
trade, and the ingest's processor time with 0, 1, 10 and 50 edges (docs/cluster.md).

usage: cluster.py PROGRAM [--rate 50] [--tick 20] [--seconds 20] [--rounds 3] [--clients 10] [--played 0,1,10,50]
                  [--json FILE]
  --rate     trades a second, of two symbols
  --tick     the time between two sends of the mock Finnhub, ms: all trades since the last one
  --clients  lossless clients of /v1/stream, of which the first one's latency is measured
  --played   edges without clients, played by one Python process

A mock Finnhub numbers its trades. The latency is the time from before a trade's sending until after a client has it. In
each round are measured: the program alone; then an ingest, a NATS server and an edge with the same clients; then the
same with a leaf node (another NATS server) before the edge; then the ingest with played edges. Everything is on
loopback, with the configuration of config/cluster. The server is that of TICKERTAPE_NATS_SERVER, or Debian's package
nats-server.
"""

import argparse, json, os, pathlib, re, secrets, shutil, socket, statistics, subprocess, sys, tempfile, time
import urllib.request

from packages import provide

provide("nats")

HOME = pathlib.Path(__file__).resolve().parent.parent
PARTS = HOME / "Tests" / "Clients"
sys.path.insert(0, str(PARTS))

from event_process import EventProcess
from nats_permissions import CONFIG, configure

SYMBOLS = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
WARM_UP = 2


def processor_seconds(process):
    """The processor time of all threads so far, s."""
    total = 0
    for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
        total += int(path.read_text().split()[0])
    return total / 1e9


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Round:
    """The processes of one measurement."""

    def __init__(self, options, server, folder):
        self.options, self.folder, self.processes, self.parts = options, folder, {}, []
        self.passwords = {role: secrets.token_hex(8) for role in ("ingest", "edge", "reader")}
        self.server = server
        self.finnhub = self.part(
            "numbered_finnhub.py", "--listen", "127.0.0.1:0", "--rate", options.rate, "--tick", options.tick
        )
        self.upstream = f"ws://127.0.0.1:{self.finnhub.wait(20, 'listening')['port']}"

    def part(self, script, *arguments):
        part = EventProcess([sys.executable, PARTS / script, *arguments], self.folder / f"part-{len(self.parts)}.log")
        self.parts.append(part)
        return part

    def started(self, name, command, pattern, environment=None):
        """Starts a process, and returns the number that it prints."""
        path = self.folder / f"{name}.log"
        with open(path, "w") as log:
            self.processes[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        end = time.monotonic() + 30
        while not (found := re.search(pattern, path.read_text())):
            if self.processes[name].poll() is not None or time.monotonic() > end:
                sys.exit(f"{name} does not start: {path.read_text()[-1000:]}")
            time.sleep(0.02)
        return int(found[1])

    def nats(self, has_leaf):
        path = configure(CONFIG, self.folder, self.passwords)
        self.monitoring, leaves = free_port(), free_port()
        text = path.read_text()
        path.write_text(f'{text}\nleafnodes {{listen: "127.0.0.1:{leaves}"}}\n')
        command = [self.server, "-c", path, "-m", str(self.monitoring)]
        listens = r"client connections on 127\.0\.0\.1:(\d+)"
        self.edges_port = self.nats_port = self.started("nats", command, listens)
        if has_leaf:
            # A leaf has the rights of an edge, and the same users. It has no JetStream.
            url = f"nats-leaf://edge:{self.passwords['edge']}@127.0.0.1:{leaves}"
            path = self.folder / "nats-leaf.conf"
            path.write_text(re.sub(r"(?m)^jetstream .*$", f'leafnodes {{remotes: [{{url: "{url}"}}]}}', text))
            self.edges_port = self.started("leaf", [self.server, "-c", path], listens)
        for role, password in self.passwords.items():
            (self.folder / f"{role}.password").write_text(password)
            identity = self.folder / f"{role}.identity"
            identity.write_text(f"{role}:{password}")
            identity.chmod(0o600)

    def program(self, name, role):
        home = self.folder / name
        home.mkdir(mode=0o700)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LANG": "C.UTF-8"}
        command = [self.options.program, "--quiet", "--relay", "127.0.0.1:0"]
        settings = {"relay.max-clients": 10_000, "relay.max-clients-per-address": 10_000}
        if role != "alone":
            port = self.edges_port if role == "edge" else self.nats_port
            settings |= {
                "cluster.role": role, "cluster.member": name, "cluster.servers": f"nats://127.0.0.1:{port}",
                "cluster.identity-file": self.folder / f"{role}.identity",
            }  # fmt: skip
        if role != "edge":
            environment["FINNHUB_TOKEN"] = "thisisnokeybutabench"
            command += ["--upstream", self.upstream]
            command += [word for symbol in SYMBOLS for word in ("--symbol", symbol)]
        command += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        port = self.started(name, command, r"the relay is on ws://127\.0\.0\.1:(\d+)", environment)
        if role != "edge":
            self.finnhub.wait(30, "open")
        return port

    def clients(self, port):
        clients = self.part("counting_clients.py", f"127.0.0.1:{port}", self.options.clients, "--times", 1)
        clients.wait(60, "joined")
        return clients

    def players(self, count):
        players = self.part(
            "played_edges.py", f"nats://127.0.0.1:{self.nats_port}", count, "--user", "edge", "--password-file",
            self.folder / "edge.password",
        )  # fmt: skip
        players.wait(60, "joined")
        return players

    def traffic(self):
        """What the NATS server has received and sent so far: messages and bytes of payloads."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitoring}/varz") as answer:
            values = json.load(answer)
        return [values[name] for name in ("in_msgs", "in_bytes", "out_msgs", "out_bytes")]

    def measure(self):
        """Measures for some seconds; returns the rows' common members."""
        time.sleep(WARM_UP)
        before = {name: processor_seconds(process) for name, process in self.processes.items()}
        traffic = self.traffic() if "nats" in self.processes else [0] * 4
        began = time.time()
        time.sleep(self.options.seconds)
        span = time.time() - began
        after = {name: processor_seconds(process) for name, process in self.processes.items()}
        row = {f"{name}_cpu_percent": (after[name] - before[name]) / span * 100 for name in before}
        if "nats" in self.processes:
            spent = [now - then for now, then in zip(self.traffic(), traffic)]
            row |= dict(zip(("in_msgs_s", "in_bytes_s", "out_msgs_s", "out_bytes_s"), (one / span for one in spent)))
        self.span = (began, began + span)
        return row

    def latencies(self, clients):
        """The latencies of the first client's trades in the measured time, ms: p50 and p99."""
        result = clients.end()
        path = self.folder / "trades.json"
        self.finnhub.say("dump", path)
        self.finnhub.wait(20, "dumped")
        made = [0, *json.loads(path.read_text())["times"]]
        for group in result["groups"]:
            if group["wrong"] or len(group["runs"]) > 1:
                sys.exit(f"a client has not had every trade: {group['runs']} {group['wrong']}")
        begin, end = (moment * 1e6 for moment in self.span)
        spans = sorted((at - made[number]) / 1000 for number, at in result["times"] if begin <= made[number] <= end)
        return {"p50_ms": statistics.median(spans), "p99_ms": spans[int(len(spans) * 0.99)], "trades": len(spans)}

    def end(self):
        for process in [*self.processes.values(), *(part.process for part in self.parts)]:
            process.kill()
            process.wait()


def rows(options, server):
    """The rows of one round."""
    kinds = [("alone", None), ("cluster", None), ("leaf", None), *(("played", count) for count in options.played)]
    for kind, count in kinds:
        with tempfile.TemporaryDirectory() as folder:
            round = Round(options, server, pathlib.Path(folder))
            try:
                clients = players = None
                if kind == "alone":
                    clients = round.clients(round.program("alone", "alone"))
                else:
                    round.nats(kind == "leaf")
                    round.program("ingest", "ingest")
                    if kind != "played":
                        clients = round.clients(round.program("edge", "edge"))
                    elif count:
                        players = round.players(count)
                row = {"kind": kind, "edges": count, **round.measure()}
                if players:
                    result = players.end()
                    if result["wrong"] or result["lost"]:
                        sys.exit(f"played edges have not had every frame: {result}")
                    row["tape_bytes_a_trade"] = result["frameBytes"] / (sum(result["trades"]) / 2 * count)
                yield row | (round.latencies(clients) if clients else {})
            finally:
                round.end()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--tick", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--played", type=lambda text: [int(word) for word in text.split(",")], default=[0, 1, 10, 50])
    parser.add_argument("--json", type=argparse.FileType("w"))
    options = parser.parse_args()
    given = os.environ.get("TICKERTAPE_NATS_SERVER", "").split(":")
    server = next((path for path in [*given, shutil.which("nats-server")] if path and os.access(path, os.X_OK)), None)
    if server is None:
        print("there is no nats-server here", file=sys.stderr)
        sys.exit(77)
    table = {}
    for _ in range(options.rounds):
        for row in rows(options, server):
            if options.json:
                print(json.dumps(row), file=options.json, flush=True)
            table.setdefault((row["kind"], row["edges"]), []).append(row)
    print(f"{options.rate:g} trades/s, {options.clients} lossless clients, median of {options.rounds} rounds")
    for (kind, edges), measured in table.items():
        words = [f"{kind:8}{'' if edges is None else edges:>3}"]
        for name in measured[0]:
            if name not in ("kind", "edges", "trades"):
                words.append(f"{name} {statistics.median(row[name] for row in measured):.2f}")
        print("  ".join(words), flush=True)


main()

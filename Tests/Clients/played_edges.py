#!/usr/bin/env python3
"""Plays edges of a cluster without clients, each with a connection to NATS (docs/cluster.md). Needs nats-py.

usage: played_edges.py SERVER EDGES [--name main] [--user USER --password-file FILE] [--symbols A,B] [--slow N]
                       [--at-once]
  --slow     N more connections subscribe to everything and never read
  --at-once  all join at the same moment, instead of 20 a second

An edge subscribes, keeps frames, asks for the snapshot, leaves out what is older, and asks once for what is missing. It
reads the heads of frames only. Standard output has an event a line, with the time on the monotonic clock:
  {"at":S,"event":"joined","slowest":S,"median":S}    from an edge's connecting until its first frame behind a snapshot
The end of standard input ends it. It then prints one line:
  {"at":S,"event":"result","frames":N,"frameBytes":N,"trades":[least,most],"holes":N,"filled":N,"lost":N,"epochs":N,
   "wrong":[...],"slow":"what became of the slow connections"}
"""

import argparse, asyncio, json, os, pathlib, random, socket, statistics, sys, time

import nats


def say(event, **members):
    print(json.dumps({"at": time.monotonic(), "event": event, **members}), flush=True)


class Edge:
    def __init__(self, number, options, identity):
        self.member = f"played-{number}"
        self.options, self.identity = options, identity
        self.place, self.kept, self.task, self.took = None, [], None, None
        self.frames = self.bytes = self.trades = self.holes = self.filled = self.lost = 0
        self.epochs, self.wrong = set(), []
        self.instance = random.randrange(1 << 53)

    async def join(self):
        self.began = time.monotonic()
        self.cluster = await nats.connect(
            self.options.server,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.2,
            error_cb=self.failed,
            **self.identity,
        )
        self.subject = f"tickertape.{self.options.name}."
        await self.cluster.subscribe(
            self.subject + "tape", cb=self.heard, pending_msgs_limit=-1, pending_bytes_limit=-1
        )
        await self.cluster.subscribe(self.subject + "beat", cb=self.heard)
        await self.cluster.flush()
        self.wishing = asyncio.create_task(self.wish())
        self.task = asyncio.create_task(self.snapshot(0))

    async def failed(self, error):
        self.wrong.append(f"{type(error).__name__} {error}"[:200])

    async def wish(self):
        symbols = self.options.symbols.split(",")
        text = json.dumps({"type": "wanted", "instance": self.instance, "symbols": symbols}, separators=(",", ":"))
        while True:
            if self.cluster.is_connected:
                await self.cluster.publish(self.subject + "wanted." + self.member, text.encode())
            await asyncio.sleep(5)

    async def ask(self, kind, epoch):
        place = self.place or {"epoch": epoch, "frame": 0, "seq": 0}
        request = {"type": kind, "epoch": epoch}
        if kind == "history":
            request = {"type": kind, **{name: place[name] for name in ("epoch", "frame", "seq")}}
        text = json.dumps(request, separators=(",", ":")).encode()
        return (await self.cluster.request(self.subject + kind, text, timeout=2)).data

    async def snapshot(self, epoch):
        while True:
            try:
                head = json.loads((await self.ask("snapshot", epoch)).split(b"\n", 1)[0])
                break
            except (nats.errors.TimeoutError, nats.errors.NoRespondersError):
                await asyncio.sleep(0.2)
        self.place = head
        self.epochs.add(head["epoch"])
        self.task = None
        self.go_on()

    async def history(self):
        """Takes the frames behind the place, or names the loss."""
        self.holes += 1
        try:
            answer = await self.ask("history", self.place["epoch"])
        except (nats.errors.TimeoutError, nats.errors.NoRespondersError):
            answer = b'{"type":"history","complete":false}'
        first, *lines = answer.split(b"\n")
        heads = [json.loads(line) for line in lines if line.startswith(b'{"type":"frame"')]
        if json.loads(first)["complete"] and heads:
            self.filled += len(heads)
            for head in heads:
                self.take(head)
            self.task = None
            self.go_on()
        else:
            self.lost += 1
            self.task = asyncio.create_task(self.snapshot(self.place["epoch"]))

    async def heard(self, message):
        head = json.loads(message.data.split(b"\n", 1)[0])
        self.kept.append(head)
        if head["type"] == "frame":
            self.bytes += len(message.data)
        if self.place is not None and self.task is None:
            self.go_on()

    def go_on(self):
        """Takes what is kept, until something is missing."""
        while self.kept and self.task is None:
            head = self.kept[0]
            is_frame = head["type"] == "frame"
            if head["epoch"] > self.place["epoch"]:
                if (head.get("afterEpoch"), head.get("afterFrame")) == (self.place["epoch"], self.place["frame"]):
                    self.place = {"epoch": head["epoch"], "frame": 0, "seq": 0}
                else:
                    self.task = asyncio.create_task(self.snapshot(head["epoch"]))
                    return
            if head["epoch"] == self.place["epoch"] and head["frame"] > self.place["frame"] + is_frame:
                self.task = asyncio.create_task(self.history())
                return
            if is_frame and head["epoch"] == self.place["epoch"] and head["frame"] == self.place["frame"] + 1:
                self.take(head)
            del self.kept[0]

    def take(self, head):
        if head["epoch"] != self.place["epoch"] or head["frame"] != self.place["frame"] + 1:
            self.wrong.append(f"frame {head['frame']} behind {self.place['frame']}")
            return
        if self.took is None:
            self.took = time.monotonic() - self.began
        if self.place["seq"] + head["trades"] != head["seq"]:
            self.wrong.append(f"trade {head['seq']} behind {self.place['seq']} in a frame of {head['trades']}")
        self.frames += 1
        self.trades += head["trades"]
        self.place = head


class SlowConnection:
    """A connection that never reads, with as many subscriptions as fill what the kernel holds for it."""

    SUBSCRIPTIONS = 50

    def __init__(self, options, identity):
        host, port = options.server.split("//")[1].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=10)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.recv(4096)
        login = {"user": identity.get("user"), "pass": identity.get("password")} if identity else {}
        about = {"verbose": False, "pedantic": False, "lang": "python", "version": "0", "protocol": 1, **login}
        subject = f"tickertape.{options.name}.tape"
        lines = [f"SUB {subject} {number}" for number in range(1, self.SUBSCRIPTIONS + 1)]
        self.socket.sendall("\r\n".join([f"CONNECT {json.dumps(about)}", *lines, "PING", ""]).encode())

    def outcome(self):
        """What the server has done with it, from what is left to read."""
        self.socket.settimeout(10)
        count = 0
        try:
            while part := self.socket.recv(1 << 20):
                count += len(part)
            return f"ended by the server after {count} bytes"
        except TimeoutError:
            return f"still open after {count} bytes"
        except OSError as error:
            return f"{error} after {count} bytes"


async def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("server")
    parser.add_argument("edges", type=int)
    parser.add_argument("--name", default="main")
    parser.add_argument("--user")
    parser.add_argument("--password-file", type=pathlib.Path)
    parser.add_argument("--symbols", default="BINANCE:BTCUSDT,BINANCE:ETHUSDT")
    parser.add_argument("--slow", type=int, default=0)
    parser.add_argument("--at-once", action="store_true")
    options = parser.parse_args()
    identity = {}
    if options.password_file:
        identity = {"user": options.user, "password": options.password_file.read_text().strip()}
    slow = [SlowConnection(options, identity) for _ in range(options.slow)]
    edges = [Edge(number, options, identity) for number in range(options.edges)]
    joins = []
    for edge in edges:
        joins.append(asyncio.create_task(edge.join()))
        if not options.at_once:
            await asyncio.sleep(0.05)
    await asyncio.gather(*joins)
    while any(edge.took is None for edge in edges):
        await asyncio.sleep(0.01)
    if edges:
        say("joined", slowest=max(edge.took for edge in edges), median=statistics.median(edge.took for edge in edges))
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while await commands.readline():
        pass
    say(
        "result",
        frames=sum(edge.frames for edge in edges),
        frameBytes=sum(edge.bytes for edge in edges),
        trades=[min((edge.trades for edge in edges), default=0), max((edge.trades for edge in edges), default=0)],
        holes=sum(edge.holes for edge in edges), filled=sum(edge.filled for edge in edges),
        lost=sum(edge.lost for edge in edges), epochs=len(set().union(*(edge.epochs for edge in edges))),
        wrong=[words for edge in edges for words in edge.wrong][:10],
        slow=[connection.outcome() for connection in slow],
    )  # fmt: skip
    os._exit(0)


asyncio.run(main())

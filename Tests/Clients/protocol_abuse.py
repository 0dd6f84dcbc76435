"""Abuses the protocols of a running relay, while well-behaved readers check that they miss nothing.

usage: protocol_abuse.py PROGRAM SECONDS [KIND...]

It starts PROGRAM with its demo, WAMP, the broker, rooms and plain lines. It prints the resident memory
every 10 s, and what the readers got. The exit status is 1 if one of them missed a trade or was closed.
KIND is a function below; `quiet` abuses nothing, which shows the readers' latency alone.
"""

import asyncio
import base64
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

import cbor2
import msgpack

FORMS = {"json": (lambda v: json.dumps(v).encode(), 1), "msgpack": (msgpack.packb, 2), "cbor": (cbor2.dumps, 2)}
HELLO = [1, "tickertape", {"roles": {"caller": {}, "callee": {}, "publisher": {}, "subscriber": {}}}]

# MARK: Connections


def frame(payload, opcode=1):
    n = len(payload)
    length = (
        bytes([0x80 | n])
        if n < 126
        else b"\xfe" + struct.pack(">H", n) if n < 65536 else b"\xff" + struct.pack(">Q", n)
    )
    return bytes([0x80 | opcode]) + length + b"\0\0\0\0" + payload


async def tcp(port, receive=None):
    s = socket.socket()
    if receive:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    s.setblocking(False)
    await asyncio.get_running_loop().sock_connect(s, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=s, limit=1 << 22)


async def websocket(port, path, protocol=None, receive=None):
    reader, writer = await tcp(port, receive)
    extra = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{extra}\r\n".encode()
    )
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    if b" 101 " not in head:
        writer.close()
        raise ConnectionError(head[:60])
    return reader, writer


async def read_frame(reader):
    a, b = await reader.readexactly(2)
    n = b & 0x7F
    if n == 126:
        n = struct.unpack(">H", await reader.readexactly(2))[0]
    elif n == 127:
        n = struct.unpack(">Q", await reader.readexactly(8))[0]
    return a & 15, await reader.readexactly(n)


async def messages(reader, writer):
    """The payloads of a connection that answers pings; raises when it is closed."""
    while True:
        opcode, payload = await read_frame(reader)
        if opcode == 9:
            writer.write(frame(payload, 10))
        elif opcode == 8:
            raise ConnectionError(payload)
        else:
            yield payload


async def wamp(port, form, greet=True, receive=None):
    reader, writer = await websocket(port, "/wamp", f"wamp.2.{form}", receive)
    encode, opcode = FORMS[form]
    send = lambda m: writer.write(frame(encode(m), opcode))
    if greet:
        send(HELLO)
        await asyncio.wait_for(read_frame(reader), 20)
    return reader, writer, send


async def drain(reader, limit=2.0):
    """Reads until the end, or for a time."""
    try:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if not await asyncio.wait_for(reader.read(1 << 16), max(0.01, end - time.monotonic())):
                return
    except (asyncio.TimeoutError, ConnectionError, OSError):
        pass


async def hold(writer, seconds):
    try:
        await asyncio.sleep(seconds)
    finally:
        writer.close()


# MARK: Abuse


async def flood_wamp(p, form):
    reader, writer, send = await wamp(p["relay"], form)
    kinds = [
        lambda i: [32, i, {"match": "prefix"}, "com." + "x" * (i % 200)],
        lambda i: [16, i, {"acknowledge": True}, "com.x", ["y" * 500]],
        lambda i: [48, i, {}, "tickertape.snapshot"],
        lambda i: [64, i, {}, f"com.p{i}"],
        lambda i: [48, i, {}, "wamp.subscription.list"],
        lambda i: [32, i, {}, f"tickertape.price.FLOOD:{i}"],
        lambda i: [48, i, {}, "tickertape.trades", ["BINANCE:BTCUSDT", 1000]],
    ]
    kind = random.choice(kinds)
    for i in range(1, 3000):
        send(kind(i))
    await asyncio.gather(drain(reader, 3), writer.drain(), return_exceptions=True)
    writer.close()


async def order(p, form):
    reader, writer, send = await wamp(p["relay"], form, greet=random.random() < 0.7)
    for m in random.choice(
        [
            [[32, 1, {}, "tickertape.status"]],
            [HELLO],
            [[70, 1, {}, []], [8, 68, 1, {}, "a.b"], [49, 1, {}], [34, 1, 1], [66, 1, 1]],
            [[6, {}, "a.b"], [32, 1, {}, "tickertape.status"], [16, 2, {}, "com.t"]],
            [[36, 1, 1, {}]],
            [[3, {}, "a"], HELLO],
        ]
    ):
        send(m)
    await drain(reader, 1)
    writer.close()


async def oversized(p, form):
    encode, opcode = FORMS[form]
    reader, writer, send = await wamp(p["relay"], form)
    writer.write(bytes([0x80 | opcode, 0xFF]) + struct.pack(">Q", 1 << 30) + b"\0\0\0\0")
    for _ in range(16):
        writer.write(b"[" * 65536)
    await drain(reader, 2)
    writer.close()


async def patterns(p, form, reads=True):
    """Subscribes to everything in as many ways as there are places."""
    reader, writer, send = await wamp(p["relay"], form, receive=None if reads else 4096)
    for i in range(1, 90):
        send([32, i, {"match": "prefix"}, "tickertape."[: i % 12]])
    for i in range(90, 98):
        send([32, i, {"match": "wildcard"}, random.choice(["..", ".", "tickertape..", ".price."])])
    await writer.drain()
    if reads:
        await drain(reader, 15)
    else:
        await asyncio.sleep(15)
    writer.close()


async def publishers(p, form):
    reader, writer, send = await wamp(p["relay"], form)
    for i in range(1, 60):
        send([32, i, {"match": "prefix"}, "com.storm"[: 1 + i % 9]])
    reading = asyncio.create_task(drain(reader, 12))
    for i in range(60, 300):
        send([16, i, {"exclude_me": False}, "com.storm", ["z" * 30000]])
        await asyncio.sleep(0.05)
        if writer.is_closing():
            break
    await reading
    writer.close()


async def calls(p, form):
    reader, writer, send = await wamp(p["relay"], form)
    name = f"com.c{random.random()}"
    send([64, 1, {}, name])
    for i in range(2, 90):
        send([48, i, {"receive_progress": True}, name, ["a" * 2000]])
    for i in range(1, 40):
        send([70, i, {"progress": True}, ["b" * 2000]])
    await drain(reader, 5)
    writer.close()


async def half_open(p, form):
    kind = random.randrange(4)
    if kind == 0:
        _, writer = await tcp(p["lines"])
    elif kind == 1:
        _, writer = await tcp(p["relay"])
    elif kind == 2:
        _, writer, _ = await wamp(p["relay"], form, greet=False)
    else:
        _, writer = await tcp(p["relay"])
        writer.write(b"GET /wamp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    await hold(writer, 14)


async def garbage(p, form):
    kind = random.randrange(3)
    data = random.choice([os.urandom(20000), b"[" * 60000, b"\x9f" * 60000, b"\x91" * 60000, b'{"a":' * 9000])
    if kind == 0:
        reader, writer = await tcp(p["lines"])
        writer.write(data)
    elif kind == 1:
        reader, writer, _ = await wamp(p["relay"], form, greet=random.random() < 0.5)
        writer.write(frame(data, FORMS[form][1]))
    else:
        reader, writer = await websocket(p["relay"], "/v1/room/lobby")
        for _ in range(50):
            writer.write(frame(data[:5000].decode("latin1").encode(), 1))
    await drain(reader, 2)
    writer.close()


async def lines(p, form):
    reader, writer = await tcp(p["lines"])
    writer.write(
        random.choice(
            [
                b"stop A\n" * 5000,
                b"prices *\nprices * json\nprices * plain\n" * 500,
                b"trades * json\n" + b"iam:x\nmsg:hi\n" * 2000,
                b"prices " + b" ".join(b"F:%d" % i for i in range(120)) + b"\n",
                b"x" * 1000000,
                b"\n" * 5000,
                b"room lobby json\n" * 2000,
                b"help\n" * 4000,
            ]
        )
    )
    await drain(reader, 3)
    writer.close()


async def slow(p, form):
    kind = random.randrange(3)
    if kind == 0:
        reader, writer = await tcp(p["lines"], 4096)
        writer.write(b"trades * json\n" + b"room lobby\n")
        await hold(writer, 15)
    elif kind == 1:
        await patterns(p, form, reads=False)
    else:
        reader, writer = await websocket(p["relay"], "/v1/room/lobby", receive=4096)
        await hold(writer, 15)


async def rooms(p, form):
    reader, writer = await websocket(
        p["relay"], f"/v1/room/{random.choice(['lobby', 'r%d' % random.randrange(400)])}"
    )
    writer.write(frame(json.dumps({"user": f"u{random.random()}"[:20]}).encode()))
    for _ in range(300):
        writer.write(frame(json.dumps({"message": "m" * 990}).encode()))
    await drain(reader, 4)
    writer.close()


KINDS = [flood_wamp, order, oversized, patterns, publishers, calls, half_open, garbage, lines, slow, rooms]


async def attacker(places, until, counts, kind, width):
    async def one():
        while time.time() < until:
            try:
                await kind(places, random.choice(list(FORMS)))
                counts[kind.__name__] = counts.get(kind.__name__, 0) + 1
            except (ConnectionError, OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as e:
                counts[f"{kind.__name__} refused"] = counts.get(f"{kind.__name__} refused", 0) + 1
                await asyncio.sleep(0.05)

    await asyncio.gather(*(one() for _ in range(width)))


def attack(places, until, queue, share):
    async def run():
        counts = {}
        await asyncio.gather(*(attacker(places, until, counts, kind, 6) for kind in share))
        queue.put(counts)

    asyncio.run(run())


# MARK: Bystanders


class Bystander:
    def __init__(self, name):
        self.name, self.trades, self.ages, self.fault = name, [], [], None

    def take(self, trade):
        self.trades.append((trade["seq"], trade["price"], trade["time"]))
        self.ages.append(
            time.time() - trade["received"] / 1e6
            if trade["received"] > 1e15
            else time.time() - trade["received"] / 1e3
        )


async def watch_stream(p, out):
    reader, writer = await websocket(p["relay"], "/v1/stream?symbols=*&delivery=all")
    async for payload in messages(reader, writer):
        m = json.loads(payload)
        if m["type"] == "trade":
            out.take(m)


async def watch_wamp(p, out):
    reader, writer, send = await wamp(p["relay"], "json")
    send([32, 1, {"match": "prefix"}, "tickertape.trades."])
    async for payload in messages(reader, writer):
        m = json.loads(payload)
        if m[0] == 36:
            out.take(m[4][0])


async def watch_lines(p, out):
    reader, writer = await tcp(p["lines"])
    writer.write(b"trades * json\n")
    while True:
        text = await reader.readline()
        if not text:
            raise ConnectionError("closed")
        m = json.loads(text)
        if m["type"] == "trade":
            out.take(m)
        if m["type"] == "error":
            raise ConnectionError(text)


async def watch_finnhub(p, out):
    reader, writer = await websocket(p["relay"], "/?token=any")
    for s in p["symbols"]:
        writer.write(frame(json.dumps({"type": "subscribe", "symbol": s}).encode()))
    async for payload in messages(reader, writer):
        m = json.loads(payload, parse_float=str, parse_int=str)
        if m["type"] == "trade":
            for d in m["data"]:
                out.trades.append((None, d["s"], d["t"]))


async def watch_room(p, out):
    """Says a word every 2 s, and must get its own words and all between them, in order."""
    reader, writer = await websocket(p["relay"], "/v1/room/calm")
    writer.write(frame(json.dumps({"user": "calm"}).encode()))

    async def say():
        while True:
            writer.write(frame(json.dumps({"message": "word"}).encode()))
            await asyncio.sleep(2)

    talking = asyncio.create_task(say())
    try:
        async for payload in messages(reader, writer):
            m = json.loads(payload)
            if m["type"] == "error":
                raise ConnectionError(payload)
            if m["type"] == "message":
                out.trades.append((m["id"], m["message"], m["time"]))
    finally:
        talking.cancel()


def bystanders(places, until, queue):
    async def run():
        readers = []

        async def one(watch, name):
            r = Bystander(name)
            readers.append(r)
            try:
                await asyncio.wait_for(watch(places, r), until - time.time())
            except asyncio.TimeoutError:
                pass
            except Exception as e:
                r.fault = repr(e)

        await asyncio.gather(
            *(
                one(w, n)
                for w, n in [
                    (watch_finnhub, "/"),
                    (watch_stream, "/v1/stream"),
                    (watch_wamp, "wamp"),
                    (watch_lines, "lines"),
                    (watch_room, "room"),
                ]
            )
        )
        queue.put(readers)

    asyncio.run(run())


# MARK: The run


def rss(pid):
    text = open(f"/proc/{pid}/status").read()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fetch(ports, path):
    return json.load(urllib.request.urlopen(f"http://127.0.0.1:{ports['relay']}{path}", timeout=20))


def main():
    program, seconds, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    kinds = [k for k in KINDS if not names or k.__name__ in names]
    errors = tempfile.NamedTemporaryFile()
    process = subprocess.Popen(
        [
            program,
            "run",
            "--demo",
            "--quiet",
            "--relay",
            "127.0.0.1:0",
            "--set",
            "relay.wamp=true",
            "--set",
            "wamp.broker=true",
            "--set",
            "relay.rooms=true",
            "--set",
            "lines.listen=127.0.0.1:0",
            "--set",
            "state.directory=off",
        ],
        stderr=errors,
        stdin=subprocess.DEVNULL,
    )
    ports = {}
    for _ in range(200):
        text = open(errors.name).read()
        a, b = re.search(r"the relay is on ws://127.0.0.1:(\d+)", text), re.search(
            r"plain lines are on 127.0.0.1:(\d+)", text
        )
        if a and b:
            ports = {"relay": int(a[1]), "lines": int(b[1])}
            break
        time.sleep(0.1)
    assert ports, text
    time.sleep(5)
    ports["symbols"] = [row["symbol"] for row in fetch(ports, "/v1/status")["symbols"]]
    print("symbols", ports["symbols"], "start RSS", rss(process.pid), "KiB", flush=True)
    until = time.time() + seconds
    queue, counts = multiprocessing.Queue(), multiprocessing.Queue()
    watch = multiprocessing.Process(target=bystanders, args=(ports, until + 5, queue))
    watch.start()
    time.sleep(2)
    attacks = [
        multiprocessing.Process(target=attack, args=(ports, until, counts, share))
        for share in (kinds[::2], kinds[1::2])
        if share
    ]
    for a in attacks:
        a.start()
    peak, before = 0, cpu(process.pid)
    for second in range(seconds):
        time.sleep(1)
        if process.poll() is not None:
            break
        peak = max(peak, rss(process.pid))
        if second % 10 == 9:
            status = fetch(ports, "/v1/status")
            clients = [status[key] for key in ("clients", "waitingBytes", "refusals")]
            print(
                f"{second + 1:4} s: RSS {rss(process.pid)} KiB, peak {peak},",
                f"CPU {(cpu(process.pid) - before) / (second + 1):.2f}",
                clients,
                flush=True,
            )
    total = {}
    for a in attacks:
        for k, v in counts.get(timeout=60).items():
            total[k] = total.get(k, 0) + v
    for a in attacks:
        a.join()
    readers = queue.get(timeout=60)
    watch.join()
    print("abuse", total)
    bad = process.poll() is not None
    if bad:
        print("THE PROGRAM HAS ENDED", process.returncode)
    for r in readers:
        seqs = [t[0] for t in r.trades]
        gaps = 0 if r.name == "/" else sum(1 for a, b in zip(seqs, seqs[1:]) if b != a + 1)
        ages = sorted(r.ages) or [0]
        print(
            f"{r.name:11} {len(r.trades):6} events, holes {gaps}, fault {r.fault}, age",
            " ".join(f"{ages[int((len(ages) - 1) * q)] * 1e3:.1f}" for q in (0.5, 0.99, 1)),
            "ms (p50, p99, most)",
        )
        bad = bad or gaps or r.fault
    counts_by_name = {r.name: [t[2] for t in r.trades] for r in readers}
    # Finnhub's protocol has no numbers: its times must be a stretch of the others' times.
    whole, part = [str(t) for t in counts_by_name["/v1/stream"]], [str(t) for t in counts_by_name["/"]]
    core = part[20:-20]
    text, needle = ",".join(whole), ",".join(core)
    print("/ is a stretch of /v1/stream:", needle in text, len(core))
    bad = bad or needle not in text
    if process.poll() is None:
        for pause in (1, 10, 20):
            time.sleep(pause)
            print("after", pause, "s more: RSS", rss(process.pid))
        status = fetch(ports, "/v1/status")
        print("at last", status["clients"], status["waitingBytes"], len(status["symbols"]), "symbols")
        process.send_signal(signal.SIGINT)
        print("exit", process.wait(20))
    sys.exit(1 if bad else 0)


main()

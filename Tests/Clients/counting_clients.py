#!/usr/bin/env python3
"""Lossless clients of one relay's /v1/stream that count the trades of numbered_finnhub.py, in one thread.

usage: counting_clients.py HOST:PORT CLIENTS [--symbols A,B] [--times N] [--among-others]
  --times         of the first N clients, when each trade came is kept
  --among-others  the tape has trades of other symbols, too, so its numbers may have holes

Each client has every trade of the symbols and never reconnects. Standard output has an event a line, with the time on
the monotonic clock:
  {"at":S,"event":"joined"}                                  every client has its first trade
  {"at":S,"event":"status","state":TEXT,"reason":TEXT,...}   a status message of the first client
  {"at":S,"event":"gap",...}                                 a gap message of the first client
  {"at":S,"event":"first","number":N}                        the first client's first trade after a pause of 250 ms
  {"at":S,"event":"closed","client":N,"words":TEXT}          a client has lost its connection
The end of standard input, or SIGTERM, ends it. It then prints one line:
  {"at":S,"event":"result","groups":[{"clients":N,"first":[...],"runs":[[a,b],...],"gaps":[...],"wrong":[...]}],"times":...}
`runs` are the numbers of the trades that came, in order of arrival, as contiguous spans; `gaps` have the number of the
last trade before them. Clients with equal runs and gaps, but for the first number, are a group.
"""

import argparse, base64, json, os, re, select, signal, socket, sys, time, urllib.parse

TRADE = re.compile(rb'\{"type":"trade","n":\d+,"symbol":"[^"]+","seq":(\d+),"price":"[^"]+","size":"(\d+)"')


class Client:
    def __init__(self, number, address, query, has_all=True):
        self.has_all = has_all
        self.number, self.bytes, self.last, self.sequence = number, b"", None, None
        self.runs, self.gaps, self.wrong = [], [], []
        self.times = None
        self.socket = socket.create_connection(address, timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /v1/stream?{query} HTTP/1.1\r\nhost: {address[0]}:{address[1]}\r\nupgrade: websocket\r\n"
            f"connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self.bytes:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError(self.bytes.decode("latin-1"))
            self.bytes += part
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode("latin-1"))
        self.socket.setblocking(False)

    def take(self, now):
        """Reads the whole messages in `bytes`."""
        data, at, end = self.bytes, 0, len(self.bytes)
        while end - at >= 2:
            size, body = data[at + 1], at + 2
            if size == 126:
                if end - at < 4:
                    break
                size, body = data[at + 2] << 8 | data[at + 3], at + 4
            elif size == 127:
                if end - at < 10:
                    break
                size, body = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
            if end - body < size:
                break
            if data[at] == 0x81:
                found = TRADE.match(data, body)
                if found:
                    self.trade(int(found[1]), int(found[2]), now)
                else:
                    self.message(json.loads(data[body : body + size]), now)
            elif data[at] & 0x0F == 9:
                self.pong(data[body : body + size])
            elif data[at] & 0x0F == 8:
                self.wrong.append(f"closed: {data[body + 2 : body + size].decode(errors='replace')}")
            at = body + size
        self.bytes = data[at:]

    def trade(self, sequence, number, now):
        runs = self.runs
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
        self.last = number
        # Everything is followed, so that no number of the tape is left out without a gap message.
        if self.has_all and self.sequence is not None and sequence != self.sequence + 1:
            self.wrong.append(f"the tape's trade {sequence} follows {self.sequence} (number {number})")
        self.sequence = sequence
        if self.times is not None:
            self.times.append((number, now[1]))

    def message(self, message, now):
        kind = message["type"]
        if kind == "gap":
            names = ("from", "to", "cause", "reason", "nextSeq", "epoch", "symbol")
            gap = {name: message.get(name) for name in names}
            self.gaps.append({**gap, "after": self.last})
            if message.get("symbol") is None and message.get("nextSeq") is not None:
                self.sequence = message["nextSeq"] - 1
            if self.number == 0:
                say("gap", **gap, after=self.last)
        elif kind in ("status", "hello") and self.number == 0:
            status = message if kind == "status" else message["status"]
            say("status", state=status["state"], reason=status.get("reason"), cause=status.get("cause"))
        elif kind == "error":
            self.wrong.append(f"error: {message['msg']}")

    def pong(self, body):
        self.socket.send(bytes([0x8A, 0x80 | len(body)]) + b"\0\0\0\0" + body)


def say(event, at=None, **members):
    print(json.dumps({"at": at or time.monotonic(), "event": event, **members}), flush=True)


def result(clients):
    groups = {}
    for client in clients:
        # The first span differs by the moment of the subscription. One symbol may have come a little earlier.
        rest = client.runs
        while len(rest) > 1 and rest[0][0] == rest[0][1] and rest[1][0] - rest[0][1] <= 4:
            rest = rest[1:]
        key = json.dumps(
            [[run[:] if place else [None, run[1]] for place, run in enumerate(rest)], client.gaps, client.wrong]
        )
        group = groups.setdefault(
            key, {"clients": 0, "first": [], "runs": rest, "gaps": client.gaps, "wrong": client.wrong}
        )
        group["clients"] += 1
        group["first"].append(rest[0][0] if rest else None)
    for group in groups.values():
        group["first"] = [min(group["first"]), max(group["first"])] if None not in group["first"] else []
    return list(groups.values())


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("relay")
    parser.add_argument("clients", type=int)
    parser.add_argument("--among-others", action="store_true")
    parser.add_argument("--symbols", default="BINANCE:BTCUSDT,BINANCE:ETHUSDT")
    parser.add_argument("--times", type=int, default=0)
    options = parser.parse_args()
    host, port = options.relay.rsplit(":", 1)
    query = urllib.parse.urlencode({"symbols": options.symbols, "delivery": "all"})
    poll = select.epoll()
    clients = {}
    for number in range(options.clients):
        client = Client(number, (host, int(port)), query, not options.among_others)
        if number < options.times:
            client.times = []
        clients[client.socket.fileno()] = client
        poll.register(client.socket, select.EPOLLIN)
        client.take((time.monotonic(), time.time()))
    everyone = list(clients.values())
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    # Its end is the end of the run.
    poll.register(sys.stdin, select.EPOLLIN | select.EPOLLHUP)
    waiting, quiet = set(clients.values()), time.monotonic()
    while not stop:
        for descriptor, _ in poll.poll(0.2):
            if descriptor == sys.stdin.fileno():
                stop.append(not os.read(descriptor, 4096))
                stop = [word for word in stop if word]
                continue
            client = clients[descriptor]
            now = (time.monotonic(), time.time())
            try:
                part = client.socket.recv(262144)
            except BlockingIOError:
                continue
            except OSError as error:
                part = b""
                client.wrong.append(str(error))
            if not part:
                poll.unregister(descriptor)
                client.wrong.append("the connection has ended")
                say("closed", client=client.number, words=client.wrong[0])
                continue
            client.bytes = client.bytes + part if client.bytes else part
            before = client.last
            client.take(now)
            if client.last != before:
                if client.number == 0:
                    if now[0] - quiet > 0.25:
                        say("first", at=now[0], number=client.last)
                    quiet = now[0]
                if client in waiting:
                    waiting.discard(client)
                    if not waiting:
                        say("joined")
    times = [[number, round(at * 1e6)] for client in everyone if client.times for number, at in client.times]
    say("result", groups=result(everyone), times=times)


main()

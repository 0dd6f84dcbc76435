#!/usr/bin/env python3
"""A mock Finnhub that numbers its trades and reports each connection.

usage: numbered_finnhub.py --listen HOST:PORT [--certificate FILE --key FILE] [--rate 50] [--tick 20] [--symbols A,B]
  --rate  trades a second, the symbols in turn
  --tick  the time between two sends, ms; a send has frames of up to ten trades, as the service's

A trade's size is its number, from 1, which no other trade has. The market goes on without a connection, so that there
are trades which no program can have. Standard output has an event a line, with the time on the monotonic clock, which
is the same for all processes of a machine:
  {"at":S,"event":"listening","port":P}
  {"at":S,"event":"open","connection":N,"peer":ADDRESS,"key":KEY}      the handshake is done
  {"at":S,"event":"refused","connection":N,"peer":ADDRESS,"key":KEY}   answered with 429
  {"at":S,"event":"close","connection":N,"peer":ADDRESS,"by":"peer" or "service"}
Standard input takes commands, a line each:
  policy POLICY   on a second connection of a key: allow both, end the older one, end both, or refuse the newer one
  rate R          another rate
  end             ends all connections, without a close frame
  dump FILE       writes {"times":[...]}: the time of each trade since the first, us since 1970
"""

import argparse, asyncio, base64, hashlib, json, ssl, struct, sys, time, urllib.parse

POLICIES = ("allow", "older", "both", "refuse")


def say(event, **members):
    print(json.dumps({"at": time.monotonic(), "event": event, **members}), flush=True)


def frame(text, opcode=1):
    """A whole message, not masked."""
    body = text.encode() if isinstance(text, str) else text
    size = bytes([len(body)]) if len(body) < 126 else b"\x7e" + struct.pack(">H", len(body))
    return bytes([0x80 | opcode]) + size + body


class Connection(asyncio.Protocol):
    def __init__(self, market):
        self.market, self.number, self.bytes, self.symbols = market, 0, b"", set()
        self.is_open, self.by, self.key = False, "peer", None

    def connection_made(self, transport):
        self.transport = transport
        self.peer = transport.get_extra_info("peername")[0]
        self.market.count += 1
        self.number = self.market.count

    def connection_lost(self, error):
        if self.is_open:
            self.is_open = False
            self.market.connections.discard(self)
            say("close", connection=self.number, peer=self.peer, by=self.by)

    def end(self):
        """Ends TCP without a close frame, as the service does."""
        self.by = "service"
        self.transport.abort()

    def data_received(self, data):
        self.bytes += data
        if not self.is_open:
            head, end, rest = self.bytes.partition(b"\r\n\r\n")
            if not end:
                return
            self.bytes = rest
            self.upgrade(head.decode("latin-1"))
        while self.is_open and self.read():
            pass

    def upgrade(self, head):
        request, *lines = head.split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(request.split(" ")[1]).query)
        self.key = query.get("token", [fields.get("x-finnhub-token")])[0]
        others = [other for other in self.market.connections if other.key == self.key]
        if others and self.market.policy == "refuse" or "sec-websocket-key" not in fields:
            say("refused", connection=self.number, peer=self.peer, key=self.key)
            self.transport.write(b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()
            return
        proof = fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(proof.encode()).digest()).decode()
        self.transport.write(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            f"sec-websocket-accept: {accept}\r\n\r\n".encode()
        )
        self.is_open = True
        self.market.connections.add(self)
        say("open", connection=self.number, peer=self.peer, key=self.key)
        if others and self.market.policy in ("older", "both"):
            for other in others + ([self] if self.market.policy == "both" else []):
                other.end()

    def read(self):
        """Reads one message; returns whether there was a whole one."""
        if len(self.bytes) < 6:
            return False
        size, at = self.bytes[1] & 0x7F, 2
        if size == 126:
            size, at = int.from_bytes(self.bytes[2:4], "big"), 4
        if len(self.bytes) < at + 4 + size:
            return False
        mask, body = self.bytes[at : at + 4], self.bytes[at + 4 : at + 4 + size]
        text = bytes(byte ^ mask[place % 4] for place, byte in enumerate(body))
        opcode = self.bytes[0] & 0x0F
        self.bytes = self.bytes[at + 4 + size :]
        if opcode == 8:
            self.transport.write(frame(text[:2], 8))
            self.transport.close()
        elif opcode == 9:
            self.transport.write(frame(text, 10))
        elif opcode == 1:
            message = json.loads(text)
            if message["type"] == "subscribe":
                self.symbols.add(message["symbol"])
            elif message["type"] == "unsubscribe":
                self.symbols.discard(message["symbol"])
        return True


class Market:
    def __init__(self, options):
        self.rate, self.tick = options.rate, options.tick / 1000
        self.symbols = options.symbols.split(",")
        self.connections, self.count, self.policy = set(), 0, "allow"
        # The time of each trade since the first, us since 1970.
        self.times = []

    async def trade(self):
        due, last = 0.0, time.monotonic()
        while True:
            await asyncio.sleep(self.tick)
            now = time.monotonic()
            due, last = due + (now - last) * self.rate, now
            made = []
            micros = time.time_ns() // 1000
            for _ in range(int(due)):
                self.times.append(micros)
                number = len(self.times)
                symbol = self.symbols[number % len(self.symbols)]
                price = f"{60_000 + number % 900}.{number % 9 + 1}"
                made.append((symbol, f'{{"c":null,"p":{price},"s":"{symbol}","t":{micros // 1000},"v":{number}}}'))
            due -= len(made)
            written = {}
            for connection in list(self.connections):
                key = frozenset(connection.symbols)
                if key not in written:
                    wanted = [text for symbol, text in made if symbol in key]
                    parts = (wanted[at : at + 10] for at in range(0, len(wanted), 10))
                    written[key] = b"".join(frame(f'{{"data":[{",".join(part)}],"type":"trade"}}') for part in parts)
                if written[key] and not connection.transport.is_closing():
                    connection.transport.write(written[key])

    def command(self, words):
        if words[0] == "policy" and words[1] in POLICIES:
            self.policy = words[1]
        elif words[0] == "end":
            for connection in list(self.connections):
                connection.end()
        elif words[0] == "rate":
            self.rate = float(words[1])
        elif words[0] == "dump":
            with open(words[1], "w") as file:
                json.dump({"times": self.times}, file)
            say("dumped", trades=len(self.times))


async def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--listen", required=True)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--tick", type=float, default=20)
    parser.add_argument("--symbols", default="BINANCE:BTCUSDT,BINANCE:ETHUSDT")
    options = parser.parse_args()
    market = Market(options)
    context = None
    if options.certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(options.certificate, options.key)
    host, port = options.listen.rsplit(":", 1)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(market), host, int(port), ssl=context)
    say("listening", port=server.sockets[0].getsockname()[1])
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    job = asyncio.create_task(market.trade())
    while line := await commands.readline():
        market.command(line.decode().split())
    job.cancel()


asyncio.run(main())

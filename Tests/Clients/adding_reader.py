"""Reads a relay's `/v1/stream` and counts the trades, one line of JSON per reader; uses the standard library only.

usage: adding_reader.py PORT PACE CA QUERY...
PACE: `fast`; `slow`, whose first 300 reads take at most 4 KiB each and wait 2 ms; or `pause`, which reads nothing for 1 s
after its 20th read. CA is the file of a trusted certificate for TLS, or `-` for no TLS. Each QUERY is one reader's query.

A reader keeps the texts and reads them as JSON after the last one. So it takes its bytes in time also on a machine that
is busy, where the relay would otherwise close it as a client that has stopped.
"""
import base64
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time


class Line:
    def __init__(self, port, pace, authority):
        self.pace, self.reads, self.data, self.at = pace, 0, bytearray(), 0
        self.line = socket.socket()
        if pace != "fast":
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.line.connect(("127.0.0.1", port))
        if authority != "-":
            context = ssl.create_default_context(cafile=authority)
            self.line = context.wrap_socket(self.line, server_hostname="localhost")

    def upgrade(self, port, query):
        key = base64.b64encode(os.urandom(16)).decode()
        self.line.sendall(
            f"GET /v1/stream?{query} HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            part = self.line.recv(1)
            if not part:
                break
            head += part
        if b" 101 " not in head:
            sys.exit(head.decode())

    def more(self, count):
        """Reads until `count` bytes follow the place; returns whether they came."""
        while len(self.data) - self.at < count:
            self.reads += 1
            is_slow = self.pace == "slow" and self.reads < 300
            if is_slow:
                time.sleep(0.002)
            if self.pace == "pause" and self.reads == 20:
                time.sleep(1)
            part = self.line.recv(4096 if is_slow else 1 << 16)
            if not part:
                return False
            del self.data[: self.at]
            self.at = 0
            self.data.extend(part)
        return True

    def frame(self):
        """Returns the opcode and the payload of the next frame; None at the end."""
        if not self.more(2):
            return None
        opcode, length, head = self.data[self.at] & 15, self.data[self.at + 1], 2
        if length == 126 and self.more(4):
            length, head = struct.unpack_from(">H", self.data, self.at + 2)[0], 4
        elif length == 127 and self.more(10):
            length, head = struct.unpack_from(">Q", self.data, self.at + 2)[0], 10
        if not self.more(head + length):
            return None
        begin = self.at + head
        self.at = begin + length
        return opcode, bytes(self.data[begin : self.at])

    def pong(self, payload):
        self.line.sendall(bytes([0x8A, 0x80 | len(payload)]) + bytes(4) + payload)


def add_up(port, pace, authority, query):
    line = Line(port, pace, authority)
    line.upgrade(port, query)
    # Trades before the connection; trades received one by one; trades reported as missed; trades in prices and their skips.
    told = {"query": query, "before": 0, "trades": 0, "missed": 0, "shown": 0, "inOrder": True, "code": None}
    newest, last, texts = {}, 0, []
    while frame := line.frame():
        opcode, payload = frame
        if opcode == 9:
            line.pong(payload)
        if opcode == 8:
            told["code"] = struct.unpack(">H", payload[:2])[0] if payload else None
            told["reason"] = payload[2:].decode()
            break
        if opcode == 1:
            texts.append(payload)
    for text in texts:
        message = json.loads(text)
        kind = message["type"]
        if kind == "hello":
            told["before"] = message["seq"] or 0
        elif kind == "trade":
            told["trades"] += 1
            told["inOrder"] = told["inOrder"] and message["seq"] > last
            last = message["seq"]
        elif kind == "skipped":
            told["missed"] += message["trades"]
        elif kind in ("snapshot", "price") and message["seq"] > told["before"]:
            told["shown"] += 1 + message["skipped"]
        if kind in ("snapshot", "price", "trade"):
            newest[message["symbol"]] = (message["seq"], message["price"])
    told["newest"] = max(newest.values())[1] if newest else None
    print(json.dumps(told) + "\n", end="", flush=True)


def main():
    port, pace, authority = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    readers = [threading.Thread(target=add_up, args=(port, pace, authority, query)) for query in sys.argv[4:]]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()


main()

"""Reads a relay's trades slowly at first, and prints the result as JSON; uses the standard library only.

usage: slow_reader.py PORT SYMBOL READS [CA]
The first READS reads take at most 4 KiB each and wait 2 ms. With CA, the file of an authority's certificate, it speaks TLS.
"""
import base64
import json
import os
import socket
import ssl
import struct
import sys
import time


def masked(text):
    data, mask = text.encode(), os.urandom(4)
    return bytes([0x81, 0x80 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def main():
    port, symbol, slow = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", port))
    if len(sys.argv) > 4:
        line = ssl.create_default_context(cafile=sys.argv[4]).wrap_socket(line, server_hostname="localhost")
    key = base64.b64encode(os.urandom(16)).decode()
    line.sendall(
        f"GET /?token=x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    data = b""
    while b"\r\n\r\n" not in data:
        data += line.recv(1)
    line.sendall(masked(json.dumps({"type": "subscribe", "symbol": symbol})))
    data, reads, numbers, code, reason = bytearray(), 0, [], None, ""

    def more(count):
        nonlocal reads
        while len(data) < count:
            if reads < slow:
                time.sleep(0.002)
            reads += 1
            part = line.recv(4096 if reads < slow else 1 << 16)
            if not part:
                return False
            data.extend(part)
        return True

    while more(2):
        length, head = data[1], 2
        if length == 126 and more(4):
            length, head = struct.unpack(">H", data[2:4])[0], 4
        elif length == 127 and more(10):
            length, head = struct.unpack(">Q", data[2:10])[0], 10
        if not more(head + length):
            break
        opcode, payload = data[0] & 15, bytes(data[head : head + length])
        del data[: head + length]
        if opcode == 8:
            code = struct.unpack(">H", payload[:2])[0] if payload else None
            reason = payload[2:].decode()
            break
        if opcode == 1:
            message = json.loads(payload)
            if message["type"] == "trade":
                numbers += [int(trade["p"]) for trade in message["data"]]
    in_order = numbers == list(range(1, len(numbers) + 1))
    print(json.dumps({"trades": len(numbers), "inOrder": in_order, "reads": reads, "code": code, "reason": reason}))


main()

#!/usr/bin/env python3
"""The conformance kit for clients of /v1/stream: a server that plays transcripts, and a judge of the client's reports.

    kit.py --client 'COMMAND' [--only NAME]... [--jobs N] [--patience F] [--quiet]
    kit.py --check          reads all transcripts and reports mistakes in them
    kit.py --list           prints the names and the subjects

For each transcript the kit starts `COMMAND URL OPTIONS`, plays the server's side on a port of 127.0.0.1 that the system
chooses, and compares the events that the client prints, one JSON object a line. ../README.md describes the driver's
interface and the steps. The kit needs Python 3.9 and no package.

The server is a small WebSocket server that can break every rule. It is not meant for anything but these tests.
"""

import argparse
import base64
import concurrent.futures
import hashlib
import json
import os
import pathlib
import select
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_SECONDS = 10
TRANSCRIPTS = pathlib.Path(__file__).resolve().parent / "transcripts"
ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
DEFAULTS = {"symbols": None, "delivery": "latest", "backoff": {"firstMs": 20, "maxMs": 100}, "silenceMs": 5000}
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA

# The members of each event.
EVENTS = {
    "connected": "attempt",
    "hello": "epoch seq state",
    "price": "symbol price size seq skipped snapshot received age",
    "trade": "symbol seq epoch price size time received id ahead possibleRepeat filled",
    "activity": "symbol seq trades",
    "gap": "from to reason cause symbol nextSeq epoch missing",
    "settled": "symbol from to missing lost reason",
    "venueDay": "symbol open high low last change volume received",
    "skipped": "trades from to",
    "resumed": "epoch from to trades complete",
    "status": "state reason cause",
    "symbol": "symbol state reason",
    "bar": "symbol width start open high low close volume vwap trades closed incomplete",
    "replay": "at paused",
    "error": "code message",
    "protocol-error": "message",
    "missed": "trades",
    "disconnected": "code reason retry",
    "failed": "message",
    "age": "symbol ms",
}
STEPS = {
    "request", "send", "fragments", "binary", "bytes", "ping", "close", "drop", "wait", "expect", "http", "refuse",
    "silence", "end", "do", "pong", "hang", "after", "within", "elapsed", "before", "repeat",
}  # fmt: skip
ENDINGS = {"close", "drop", "http", "refuse", "silence", "hang", "end"}
TIMES = {"after", "within", "elapsed", "before"}
BEFORE_UPGRADE = {"http", "refuse", "hang", *TIMES}


class Failure(Exception):
    """What a client did wrong, for people."""


class Left(Failure):
    """A client left while the server was sending."""


# Comparison


def equal(expected, actual):
    """Returns whether two JSON values are equal, where an expected value may be a condition."""
    if expected == "*":
        return True
    if isinstance(expected, dict):
        if expected.keys() <= {"atLeast", "atMost"} and expected:
            is_number = isinstance(actual, (int, float)) and not isinstance(actual, bool)
            return is_number and expected.get("atLeast", actual) <= actual <= expected.get("atMost", actual)
        if expected.keys() == {"contains"}:
            return isinstance(actual, str) and expected["contains"] in actual
        if not isinstance(actual, dict) or expected.keys() != actual.keys():
            return False
        return all(equal(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(expected) != len(actual):
            return False
        return all(equal(*pair) for pair in zip(expected, actual))
    # Python takes True for 1.
    return isinstance(expected, bool) == isinstance(actual, bool) and expected == actual


def matches(expected, event):
    """Returns whether an event has all the listed members."""
    return all(key in event and equal(value, event[key]) for key, value in expected.items())


def text_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# The client under test


class Driver:
    """A client's process, and the events that it prints."""

    def __init__(self, command, url, options, watch, deadline):
        self.deadline = deadline
        self.watch = watch
        self.events = []
        self.broken = None
        self.changed = threading.Condition()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*shlex.split(command), url, text_of(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                try:
                    event = json.loads(line)
                    if not isinstance(event, dict) or event.get("event") not in EVENTS:
                        raise ValueError
                    if self.watch(event["event"]):
                        self.events.append(event)
                except ValueError:
                    self.broken = self.broken or f"the client printed a line that is no event: {line[:200]!r}"
                self.changed.notify_all()

    def wait_for_events(self, count, what):
        with self.changed:
            while len(self.events) < count:
                if self.broken:
                    raise Failure(self.broken)
                left = self.deadline - time.monotonic()
                if left <= 0 or not self.reader.is_alive():
                    raise Failure(f"only {len(self.events)} of {count} events {what}")
                self.changed.wait(min(left, 0.1))

    def write(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Failure("the client's stdin is closed") from None

    def end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def wait_for_exit(self, status):
        try:
            actual = self.process.wait(max(0.01, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure("the client's process did not end") from None
        self.reader.join(max(0.1, self.deadline - time.monotonic()))
        if self.broken:
            raise Failure(self.broken)
        if actual != status:
            raise Failure(f"exit status {actual} instead of {status}; {self.last_words()}")

    def last_words(self):
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - 2_000))
        text = self.errors.read().decode("utf-8", "replace").strip()
        return f"stderr: {text}" if text else "stderr is empty"

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.end()
        self.reader.join(1)
        self.process.stdout.close()
        self.errors.close()


# The server


class Connection:
    """The server's side of one TCP connection: HTTP, then WebSocket frames of any kind."""

    def __init__(self, stream, deadline):
        self.stream = stream
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.deadline = deadline
        self.buffer = b""
        self.texts = []
        self.pongs = []
        self.partial = None
        # The code of the client's close frame (1005 without a code); and whether the stream ended.
        self.closed = None
        self.is_ended = False
        self.has_sent_close = False
        self.last_sent = time.monotonic()

    # Bytes

    def write(self, data):
        try:
            self.stream.settimeout(max(0.01, self.deadline - time.monotonic()))
            self.stream.sendall(data)
        except OSError as error:
            raise Left(f"the client left while the server was sending ({error})") from None
        self.last_sent = time.monotonic()

    def receive(self, until):
        """Reads what is there, at most until that moment; returns whether anything came."""
        if self.is_ended:
            return False
        left = max(0, min(until, self.deadline) - time.monotonic())
        if not select.select([self.stream], [], [], left)[0]:
            return False
        try:
            data = self.stream.recv(65536)
        except OSError:
            data = b""
        self.is_ended = not data
        self.buffer += data
        return True

    def head(self):
        """Reads the head of the request; returns its first line and its headers, or None if the client left."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.receive(self.deadline) or len(self.buffer) > 65536:
                if self.is_ended:
                    return None
                raise Failure("no complete HTTP request came")
            if self.is_ended:
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return first, {name.strip().lower(): value.strip() for name, _, value in pairs}

    # Frames

    def frame(self, opcode, payload=b"", is_last=True):
        length = len(payload)
        head = bytes([(0x80 if is_last else 0) | opcode])
        if length < 126:
            head += bytes([length])
        elif length < 65536:
            head += b"\x7e" + struct.pack(">H", length)
        else:
            head += b"\x7f" + struct.pack(">Q", length)
        self.write(head + payload)

    def take_frame(self):
        """Takes one frame of the client from the buffer; returns whether there was a whole one."""
        data = self.buffer
        if len(data) < 2:
            return False
        first, length, start = data[0], data[1] & 0x7F, 2
        if length == 126:
            length, start = int.from_bytes(data[2:4], "big"), 4
        elif length == 127:
            length, start = int.from_bytes(data[2:10], "big"), 10
        end = start + 4 + length
        if len(data) < end:
            return False
        if not data[1] & 0x80:
            raise Failure("the client sent a frame that is not masked")
        if first & 0x70:
            raise Failure("the client sent a frame with a reserved bit")
        mask, masked = data[start : start + 4], data[start + 4 : end]
        self.buffer = data[end:]
        payload = bytes(byte ^ mask[index & 3] for index, byte in enumerate(masked))
        self.took(first & 0x0F, bool(first & 0x80), payload)
        return True

    def took(self, opcode, is_last, payload):
        if opcode == PING:
            self.frame(PONG, payload)
        elif opcode == PONG:
            self.pongs.append(payload)
        elif opcode == CLOSE:
            self.closed = int.from_bytes(payload[:2], "big") if payload else 1005
            if not self.has_sent_close:
                self.has_sent_close = True
                try:
                    self.frame(CLOSE, payload[:2])
                except Failure:
                    pass
        elif opcode == TEXT or (opcode == CONTINUATION and self.partial is not None):
            whole = (self.partial or b"") + payload
            self.partial = None if is_last else whole
            if is_last:
                self.texts.append(whole.decode("utf-8"))
        else:
            raise Failure(f"the client sent a frame with the opcode {opcode}")

    def pump(self, until):
        """Takes what has come and waits for more, at most until that moment; returns whether anything came."""
        if self.closed is None and self.take_frame():
            return True
        if not self.receive(until):
            return False
        while self.closed is None and self.take_frame():
            pass
        return True

    def drain(self):
        """Takes what has come already."""
        while self.pump(0):
            pass

    @property
    def is_over(self):
        return self.is_ended or self.closed is not None

    def state(self):
        if self.closed is not None:
            return f"the client closed with {self.closed}"
        return "the client dropped the connection" if self.is_ended else "the client sent nothing"

    def next_text(self):
        while not self.texts:
            if self.is_over or not self.pump(self.deadline):
                return None
        return self.texts.pop(0)

    def close(self):
        """Ends TCP in order, so that what was sent is read: unread bytes would make a reset of it."""
        if not self.is_ended:
            try:
                self.drain()
                self.stream.shutdown(socket.SHUT_WR)
                while not self.is_ended and self.receive(time.monotonic() + 1):
                    self.buffer = b""
            except (OSError, Failure):
                pass
        self.stream.close()

    def reset(self):
        self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.stream.close()


class Play:
    """One transcript, played to one client."""

    def __init__(self, transcript, command, patience):
        self.transcript = transcript
        self.expected = transcript["expect"]
        self.deadline = time.monotonic() + LIMIT_SECONDS * patience
        self.patience = patience
        watched = set(transcript.get("watch", EVENTS.keys() - {"connected"}))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.driver = Driver(
            command,
            f"ws://127.0.0.1:{self.listener.getsockname()[1]}/v1/stream",
            {**DEFAULTS, **transcript["options"]},
            watched.__contains__,
            self.deadline,
        )
        self.last_refusal = None
        self.last_ping = None
        # The moments at which the first connection began, and the newest one ended.
        self.began_at = None
        self.ended_at = None

    def run(self):
        """Plays all connections; raises Failure."""
        try:
            for number, steps in enumerate(self.transcript["connections"], 1):
                try:
                    self.play_connection(steps)
                except Failure as failure:
                    raise Failure(f"connection {number}: {failure}") from None
            exit_status = self.transcript.get("exit", 0)
            self.driver.wait_for_exit(exit_status)
            self.compare()
        except Failure as failure:
            # A wrong event is the likely cause of what came after it.
            mistake = self.first_mistake()
            raise Failure(f"{failure}; {mistake}" if mistake and mistake != str(failure) else str(failure)) from None
        finally:
            self.listener.close()
            self.driver.stop()

    def first_mistake(self):
        events = list(self.driver.events)
        for index, (expected, event) in enumerate(zip(self.expected, events), 1):
            if not matches(expected, event):
                return f"event {index} is {text_of(event)} instead of {text_of(expected)}"
        if len(events) > len(self.expected):
            return f"an event too many: {text_of(events[len(self.expected)])}"
        return None

    def compare(self):
        mistake = self.first_mistake()
        if mistake:
            raise Failure(mistake)
        events = self.driver.events
        if len(events) < len(self.expected):
            raise Failure(f"event {len(events) + 1} is missing: {text_of(self.expected[len(events)])}")

    # Connections

    def accept(self):
        while True:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise Failure("the client did not connect in time")
            if select.select([self.listener], [], [], min(left, 0.1))[0]:
                return Connection(self.listener.accept()[0], self.deadline)
            if self.driver.process.poll() is not None:
                raise Failure(f"the client ended instead of connecting; {self.driver.last_words()}")

    def check_times(self, step, began):
        """`after` and `within` count from the end of the last connection, `elapsed` and `before` from the first."""
        ((name, limit),) = step.items()
        elapsed = (began - (self.began_at if name in ("elapsed", "before") else self.ended_at)) * 1000
        is_least = name in ("after", "elapsed")
        if (elapsed < limit) if is_least else (elapsed > limit * self.patience):
            bound = "at least" if is_least else "at most"
            raise Failure(f"the client came after {elapsed:.0f} ms instead of {bound} {limit} ({name})")

    def request_head(self, connection):
        """Reads the request of a connection. A request for no WebSocket gets the last refusal again."""
        while True:
            head = connection.head()
            if head is None:
                raise Failure("the client left without a request")
            first, headers = head
            if "upgrade" in headers:
                return connection, first, headers
            connection.write(self.http_answer(self.last_refusal or {"status": 426}))
            connection.close()
            connection = self.accept()

    @staticmethod
    def http_answer(answer):
        if "raw" in answer:
            return answer["raw"].encode("latin-1")
        body = answer.get("body", "").encode()
        headers = {"Content-Length": str(len(body)), "Connection": "close", **answer.get("headers", {})}
        if answer["status"] == 101:
            del headers["Content-Length"]
        lines = [f"HTTP/1.1 {answer['status']} Reason", *(f"{name}: {value}" for name, value in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + body

    @staticmethod
    def upgrade_answer(first, headers):
        method, _, rest = first.partition(" ")
        if method != "GET" or rest.split(" ")[0] != "/v1/stream":
            raise Failure(f"the request is {first!r} instead of GET /v1/stream")
        if headers.get("upgrade", "").lower() != "websocket" or headers.get("sec-websocket-version") != "13":
            raise Failure("the request is not an upgrade to WebSocket 13")
        key = headers.get("sec-websocket-key", "")
        accept = base64.b64encode(hashlib.sha1((key + ACCEPT_GUID).encode()).digest()).decode()
        answer = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        answer += f"Sec-WebSocket-Accept: {accept}\r\n"
        offers = [offer.strip() for offer in headers.get("sec-websocket-protocol", "").split(",")]
        if "tickertape.v1.json" in offers:
            answer += "Sec-WebSocket-Protocol: tickertape.v1.json\r\n"
        return (answer + "\r\n").encode()

    def play_connection(self, steps):
        connection = self.accept()
        began = time.monotonic()
        self.began_at = self.began_at or began
        steps = list(steps)
        while steps[0].keys() & TIMES:
            self.check_times(steps.pop(0), began)
        first = next(iter(steps[0]))
        if first == "refuse":
            self.ended_at = time.monotonic()
            connection.stream.close()
            return
        connection, request, headers = self.request_head(connection)
        try:
            if first in ("http", "hang", "drop"):
                return self.refuse(connection, first, steps[0][first])
            connection.write(self.upgrade_answer(request, headers))
            self.play_steps(connection, steps)
        finally:
            connection.stream.close()

    def refuse(self, connection, kind, value):
        if kind == "hang":
            while not connection.is_ended:
                if not connection.receive(self.deadline):
                    raise Failure("the client waits for the answer to its upgrade for ever")
            self.ended_at = time.monotonic()
            return
        self.ended_at = time.monotonic()
        if kind == "http":
            self.last_refusal = value
            connection.write(self.http_answer(value))
            connection.close()
        else:
            connection.reset() if value == "reset" else connection.close()

    def play_steps(self, connection, steps):
        for step, following in zip(steps, [*steps[1:], None]):
            (name, value), *_ = step.items()
            self.ended_at = time.monotonic()
            try:
                getattr(self, "step_" + name)(connection, value)
            except Failure as failure:
                # A client that has to leave may do so before it has read all of an oversized message.
                if isinstance(failure, Left) and following == {"silence": True}:
                    connection.is_ended = True
                    continue
                raise Failure(f"{text_of(step)[:200]}: {failure}") from None
            if name in ("close", "drop") and any("request" in step for step in steps):
                self.check_leftover(connection)

    @staticmethod
    def check_leftover(connection):
        if connection.texts:
            raise Failure(f"the client sent more than was expected: {connection.texts[0][:200]}")

    # Steps

    def step_request(self, connection, value):
        text = connection.next_text()
        if text is None:
            raise Failure(connection.state())
        try:
            request = json.loads(text)
        except ValueError:
            raise Failure(f"the client sent what is not JSON: {text[:200]}") from None
        if not equal(value, request):
            raise Failure(f"the client sent {text[:300]}")
        if isinstance(request, dict) and request.get("type") == "ping":
            self.last_ping = request

    def step_send(self, connection, value):
        text = value if isinstance(value, str) else text_of(value)
        connection.frame(TEXT, text.encode("utf-8"))

    def step_repeat(self, connection, value):
        before, unit, count, after = value
        self.step_send(connection, before + unit * count + after)

    def step_pong(self, connection, value):
        pong = {"type": "pong", "n": 1_000_000, "time": 1795239062500}
        if self.last_ping and "id" in self.last_ping:
            pong["id"] = self.last_ping["id"]
        self.step_send(connection, pong)

    def step_fragments(self, connection, value):
        parts = [part for part in value if not (isinstance(part, dict) and "ping" in part)]
        opcode, sent = TEXT, 0
        for part in value:
            if isinstance(part, dict) and "ping" in part:
                self.step_ping(connection, part["ping"])
                continue
            payload = bytes.fromhex(part["hex"]) if isinstance(part, dict) else part.encode("utf-8")
            sent += 1
            connection.frame(opcode, payload, is_last=sent == len(parts))
            opcode = CONTINUATION

    def step_binary(self, connection, value):
        connection.frame(BINARY, bytes.fromhex(value))

    def step_bytes(self, connection, value):
        connection.write(bytes.fromhex(value))

    def step_ping(self, connection, value):
        payload = value.encode("utf-8")
        connection.frame(PING, payload)
        while payload not in connection.pongs:
            if connection.is_over or not connection.pump(self.deadline):
                raise Failure(f"no pong came: {connection.state()}")
        connection.pongs.clear()

    def step_close(self, connection, value):
        payload = struct.pack(">H", value[0]) + value[1].encode("utf-8") if value else b""
        connection.has_sent_close = True
        connection.drain()
        connection.frame(CLOSE, payload)
        while not connection.is_over and connection.pump(self.deadline):
            pass
        if not connection.is_over:
            raise Failure("the client does not answer the close")
        connection.close()

    def step_drop(self, connection, value):
        connection.drain()
        if value == "reset":
            connection.reset()
        else:
            connection.close()

    def step_wait(self, connection, value):
        until = time.monotonic() + value / 1000
        while time.monotonic() < until and not connection.is_over:
            connection.pump(until)
        time.sleep(max(0, until - time.monotonic()))

    def step_expect(self, connection, value):
        # Control frames of the client are answered meanwhile.
        while len(self.driver.events) < value:
            if connection.is_over or time.monotonic() > self.deadline or not self.driver.reader.is_alive():
                break
            connection.pump(time.monotonic() + 0.005)
        self.driver.wait_for_events(value, "came")

    def step_do(self, connection, value):
        self.driver.write(text_of(value))

    def step_silence(self, connection, value):
        began = connection.last_sent
        while not connection.is_over:
            if not connection.pump(self.deadline):
                raise Failure("the client waits for ever")
        for text in connection.texts:
            if json.loads(text).get("type") != "ping":
                raise Failure(f"the client sent {text[:200]}")
        connection.texts.clear()
        elapsed = (time.monotonic() - began) * 1000
        if isinstance(value, dict):
            if elapsed < value.get("atLeast", 0) or elapsed > value.get("atMost", elapsed) * self.patience:
                raise Failure(f"the client left after {elapsed:.0f} ms")
        connection.close()

    def step_end(self, connection, value):
        self.step_expect(connection, len(self.expected))
        # The client has read everything when it answers this. What it must not report would be printed at once.
        self.step_ping(connection, "end")
        time.sleep(0.02)
        self.check_leftover(connection)
        if value == "SIGTERM":
            self.driver.process.terminate()
        else:
            self.driver.end()
        while not connection.is_over and connection.pump(self.deadline):
            pass
        self.check_leftover(connection)
        if connection.closed != 1000:
            raise Failure(f"{connection.state()} instead of closing with 1000 when it was ended")
        connection.close()


# Transcripts


def mistakes(transcript, path):
    """Yields what is wrong with a transcript."""
    if transcript.get("name") != path.stem:
        yield "its name is not the file's"
    if not transcript.get("about"):
        yield "it has no subject"
    unknown = transcript.keys() - {"name", "about", "options", "connections", "expect", "exit", "watch"}
    if unknown:
        yield f"unknown members {sorted(unknown)}"
    for expected in transcript["expect"]:
        kind = expected.get("event")
        if kind not in EVENTS:
            yield f"an unknown event {kind}"
        elif expected.keys() - {"event"} - set(EVENTS[kind].split()):
            yield f"{kind} has no {sorted(expected.keys() - {'event'} - set(EVENTS[kind].split()))}"
    connections = transcript["connections"]
    for steps in connections:
        for index, step in enumerate(steps):
            (name, value), *rest = step.items()
            if rest or name not in STEPS:
                yield f"an unknown step {text_of(step)}"
            if name in ENDINGS and index + 1 < len(steps):
                yield f"a step follows {name}"
            if name in BEFORE_UPGRADE and any(not step.keys() & BEFORE_UPGRADE for step in steps[:index]):
                yield f"{name} comes too late"
            if name == "wait" and value > 300:
                yield "a wait is longer than 300 ms"
        if not steps or not steps[-1].keys() & ENDINGS:
            yield "a connection has no end"
    if transcript.get("exit", 0) == 0 and "end" not in connections[-1][-1]:
        yield "it does not end with `end`"
    if transcript.get("exit", 0) == 3 and not any(event.get("event") == "failed" for event in transcript["expect"]):
        yield "exit 3 needs the event `failed`"


def load():
    """Returns all transcripts by name; ends the program if one is wrong."""
    transcripts, seen, wrong = {}, {}, []
    for path in sorted(TRANSCRIPTS.glob("*.json")):
        try:
            transcript = json.loads(path.read_text(encoding="utf-8"))
            wrong += [f"{path.name}: {mistake}" for mistake in mistakes(transcript, path)]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wrong.append(f"{path.name}: {error!r}")
            continue
        same = text_of([transcript["options"], transcript["connections"]])
        if same in seen:
            wrong.append(f"{path.name}: it is the same as {seen[same]}")
        seen[same] = path.name
        transcripts[path.stem] = transcript
    if wrong:
        sys.exit("\n".join(wrong))
    return transcripts


def judge(transcript, command, patience):
    """Returns the mistake of a client, or None; and how long it took."""
    began = time.monotonic()
    try:
        play = Play(transcript, command, patience)
        play.run()
        return None, time.monotonic() - began
    except Failure as failure:
        return str(failure), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", help="the command of a driver; the URL and the options are appended")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this one, or NAME*")
    parser.add_argument("--jobs", type=int, default=2, help="how many transcripts at the same time (default: 2)")
    parser.add_argument("--patience", type=float, default=1, help="multiplies the limit of 10 s, for slow machines")
    parser.add_argument("--quiet", action="store_true", help="print failures and the count only")
    parser.add_argument("--check", action="store_true", help="only read the transcripts")
    parser.add_argument("--list", action="store_true", help="only print names and subjects")
    arguments = parser.parse_args()
    transcripts = load()
    if arguments.only:
        chosen = {}
        for wanted in arguments.only:
            found = [n for n in transcripts if n == wanted or (wanted[-1:] == "*" and n.startswith(wanted[:-1]))]
            if not found:
                sys.exit(f"there is no transcript {wanted}")
            chosen.update((name, transcripts[name]) for name in found)
        transcripts = chosen
    if arguments.list:
        for name, transcript in transcripts.items():
            print(f"{name}: {transcript['about']}")
        return
    if arguments.check or not arguments.client:
        print(f"{len(transcripts)} transcripts")
        return
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = [
            (name, pool.submit(judge, transcript, arguments.client, arguments.patience))
            for name, transcript in transcripts.items()
        ]
        for name, future in futures:
            mistake, seconds = future.result()
            failed += mistake is not None
            if mistake is not None:
                print(f"FAIL {name}: {mistake}", flush=True)
            elif not arguments.quiet:
                print(f"ok   {name} ({seconds:.2f} s)", flush=True)
    print(f"{len(transcripts) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

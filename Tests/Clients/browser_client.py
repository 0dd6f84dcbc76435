"""Runs the JavaScript client in a headless Chromium, from a page of an allowed origin, against a relay with a simulated
market: every delivery, exact numbers, a relay that is killed and comes back, a token, and a page of a foreign origin.

usage: browser_client.py PROGRAM
"""
import ctypes
import http.server
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/clients/javascript/tickertape.mjs")
SYMBOL = "BINANCE:BTCUSDT"
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

# The page obeys this program: it asks for the next command, and posts what the client reports, in order.
PAGE = b"""<!doctype html>
<title>A client</title>
<link rel="icon" href="data:,">
<script type="module">
import { Tickertape, parse } from "./tickertape.mjs";
let client = null;
let posted = Promise.resolve();
const post = (event) => {
    const body = JSON.stringify(event, (_, value) => (typeof value === "bigint" ? `big ${value}` : value));
    posted = posted.then(() => fetch("/event", { method: "POST", body }));
};
addEventListener("error", (event) => post({ event: "problem", message: event.message }));
addEventListener("unhandledrejection", (event) => post({ event: "problem", message: String(event.reason) }));
async function follow(url, options) {
    client = new Tickertape(url, options);
    for await (const event of client) post(event);
    post({ event: "over" });
}
for (;;) {
    const { what, ...rest } = await (await fetch("/next")).json();
    if (what === "start") follow(rest.url, rest.options);
    if (what === "close") await client.close();
    if (what === "age") post({ event: "age", age: client.age(rest.symbol) });
    if (what === "add") client.subscribe(rest.symbol);
    if (what === "parse") post({ event: "parsed", value: parse(rest.text) });
    if (what === "go") location.href = rest.url;
    if (what === "go") break;
}
</script>
"""

commands = queue.Queue()
events = queue.Queue()


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            self.answer("text/html; charset=utf-8", PAGE)
        elif self.path == "/tickertape.mjs":
            with open(CLIENT, "rb") as file:
                self.answer("text/javascript", file.read())
        elif self.path == "/next":
            self.answer("application/json", json.dumps(commands.get()).encode())

    def do_POST(self):
        events.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer("text/plain", b"")

    def log_message(self, *_):
        pass


def until(found, seconds=30):
    """Returns the events up to the first for which `found` is true."""
    seen = []
    deadline = time.monotonic() + seconds
    while True:
        try:
            event = events.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            raise SystemExit(f"not within {seconds} s; the last events: {seen[-5:]}") from None
        assert event["event"] not in ("problem", "protocol-error"), event
        seen.append(event)
        if found(event):
            return seen


def of(kind, **members):
    return lambda event: event["event"] == kind and all(event[name] == value for name, value in members.items())


def start_relay(program, folder, port=0, *arguments):
    """Starts a relay; returns it and its port."""
    log = f"{folder}/relay.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [program, "simulate", "--rate", "100", "--quiet", "--relay", f"127.0.0.1:{port}", "--record",
             f"{folder}/tape.jsonl", "--set", "state.directory=off", *arguments],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with open(log, encoding="utf-8") as file:
            found = re.search(r"the relay is on ws://127\.0\.0\.1:(\d+)", file.read())
        if found:
            return process, int(found[1])
        assert process.poll() is None, f"the relay ended with {process.returncode}: see {log}"
        time.sleep(0.02)
    process.kill()
    raise SystemExit("the relay did not start")


def check(program, folder, page_port):
    relay, port = start_relay(program, folder)
    try:
        url = f"ws://127.0.0.1:{port}/v1/stream"
        backoff = {"firstMs": 50, "maxMs": 500}

        commands.put({"what": "parse", "text": '{"a":9007199254740993,"b":"9007199254740993","c":12}'})
        parsed = until(of("parsed"))[-1]["value"]
        assert parsed == {"a": "big 9007199254740993", "b": "9007199254740993", "c": 12}, parsed

        commands.put({"what": "start", "url": url, "options": {"symbols": [SYMBOL]}})
        seen = until(of("price", snapshot=False))
        assert [each["event"] for each in seen[:2]] == ["connected", "hello"], seen[:2]
        snapshot = next(each for each in seen if each["event"] == "price")
        assert snapshot["snapshot"] and re.fullmatch(r"\d+(\.\d+)?", snapshot["price"]), snapshot
        commands.put({"what": "age", "symbol": SYMBOL})
        age = until(of("age"))[-1]["age"]
        assert 0 <= age < 5000, age
        commands.put({"what": "add", "symbol": "BINANCE:ETHUSDT"})
        until(of("price", symbol="BINANCE:ETHUSDT"))
        commands.put({"what": "close"})
        until(of("over"))
        print("latest, the age, one more symbol")

        commands.put({"what": "start", "url": url, "options": {"symbols": None, "every": "100ms", "delivery": "every"}})
        until(of("price", snapshot=False))
        commands.put({"what": "close"})
        until(of("over"))
        print("every")

        commands.put({"what": "start", "url": url, "options": {"delivery": "all", "backoff": backoff}})
        seen = until(of("trade"))
        relay.kill()
        relay.wait()
        relay, _ = start_relay(program, folder, port)
        seen += until(of("resumed"), 60)
        seen += until(of("trade"))
        # Numbers have no holes within a run, and a gap lies between two runs.
        place = None
        for event in seen:
            if event["event"] == "gap":
                place = None
            elif event["event"] == "trade":
                name = (event["epoch"], event["seq"])
                assert place is None or name == (place[0], place[1] + 1), (place, name)
                place = name
        assert len({each["epoch"] for each in seen if each["event"] == "trade"}) == 2
        assert sum(each["event"] == "gap" for each in seen) == 1
        commands.put({"what": "close"})
        until(of("over"))
        print("all, over a restart of the relay")
        relay.kill()
        relay.wait()

        token = "0123456789abcdef0123456789abcdef"
        with open(f"{folder}/token", "w", encoding="utf-8") as file:
            os.chmod(file.name, 0o600)
            file.write(token)
        relay, _ = start_relay(program, folder, port, "--set", f"relay.token-file={folder}/token")
        commands.put({"what": "start", "url": url, "options": {"token": token}})
        until(of("price"))
        commands.put({"what": "close"})
        until(of("over"))
        print("a token")
        relay.kill()
        relay.wait()

        relay, _ = start_relay(program, folder, port)
        commands.put({"what": "go", "url": f"http://sample.example:{page_port}/"})
        commands.put({"what": "start", "url": url, "options": {"backoff": backoff}})
        ends = until(of("disconnected"))
        assert ends[-1]["retry"] and not any(each["event"] == "connected" for each in ends), ends
        print("a page of a foreign origin is refused")
    finally:
        relay.kill()
        relay.wait()


def main():
    if CHROMIUM is None:
        raise SystemExit("no chromium: scripts/setup --tests installs Debian's package")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-features=LocalNetworkAccessChecks", "--host-resolver-rules=MAP sample.example 127.0.0.1",
             f"--user-data-dir={folder}/profile", f"http://127.0.0.1:{server.server_port}/"],
            **QUIET, env={"PATH": "/usr/bin:/bin", "HOME": folder}, start_new_session=True,
            preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))  # It ends with this program.
        try:
            check(sys.argv[1], folder, server.server_port)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
    print("passed")


if __name__ == "__main__":
    main()

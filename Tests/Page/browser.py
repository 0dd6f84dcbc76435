"""Drives a headless Chromium by its devtools protocol and prints what a page shows, one JSON object a line.

usage: browser.py watch URL [DIR]       every change of price, state and freshness, until SIGTERM; then a picture in DIR
       browser.py layout URL [DIR]      measures the page in several sizes and colours, talks in a room if there is one,
                                        ends, and keeps pictures in DIR
       browser.py token URL TOKEN       types a wrong token into the page's form, then this one; then as watch
       browser.py chart URL [DIR]       touches the chart with mouse, fingers and keys, and asks for a wrong symbol; what the
                                        page then says
       browser.py speech URL            what a screen reader hears, by a clock that goes faster
       browser.py finding URL [DIR]     opens the news and types into the field for symbols; what the page then says
       browser.py sample URL            Finnhub's JavaScript sample as a page of http://sample.example, with URL for the
                                        service's; what it logs, until SIGTERM

Problems are printed as {"problem": ...}: an error in the console, an exception, a violation of the content security
policy. Chromium ends with this program, even if that is killed.
"""
import asyncio
import base64
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

import websockets

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
# A page of another origin. This program answers the request for it.
SAMPLE_ORIGIN = "http://sample.example/"
# A user's message that must stay text, within its line and in its writing direction.
HOSTILE = "<b>bold</b><img src=x> " + "w" * 300 + " \u05e9\u05dc\u05d5\u05dd"
SIZES = [(1280, 800), (1280, 717), (1366, 650), (1024, 768), (900, 480), (768, 1024), (390, 844), (360, 640), (320, 480)]

# Runs before the page's scripts and reports every change of the document.
OBSERVER = """
(() => {
    let told = "";
    const text = (id) => document.getElementById(id)?.textContent ?? "";
    const look = () => {
        if (document.body === null) return;
        const seen = {
            symbol: text("symbol"), price: text("price"), word: text("state-word"), level: document.body.dataset.level,
            freshness: document.body.dataset.freshness, marks: text("marks"),
        };
        // The age is by the page's clock, so a slow machine does not change it.
        const age = Number(document.getElementById("age")?.dataset.milliseconds ?? NaN);
        if (seen.level === "good" && age > 5000) observed(JSON.stringify({ problem: `${age} ms old and shown as live` }));
        const key = JSON.stringify(seen);
        if (key === told) return;
        told = key;
        seen.detail = text("state-detail");
        seen.chart = document.getElementById("chart")?.getAttribute("aria-label") ?? "";
        seen.rows = document.querySelectorAll("#tape tr:not([hidden])").length;
        seen.notes = [...document.querySelectorAll("#tape tr:not([hidden])[data-kind=note]")].map((row) => row.textContent);
        seen.figures = Object.fromEntries(["open", "high", "low", "volume", "trades", "change"].map((id) => [id, text(id)]));
        observed(JSON.stringify(seen));
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    document.addEventListener("securitypolicyviolation", (event) => observed(JSON.stringify({
        problem: `policy: ${event.violatedDirective} ${event.blockedURI}` })));
})();
"""

# Runs before the page's scripts: a clock that goes four times as fast, and what the live region says by it.
FAST_CLOCK = """
(() => {
    const real = performance.now.bind(performance);
    performance.now = () => real() * 4;
    globalThis.heard = [];
    document.addEventListener("DOMContentLoaded", () => {
        const region = document.getElementById("announcement");
        new MutationObserver(() => heard.push({ at: performance.now(), text: region.textContent, price: document.getElementById("price").textContent }))
            .observe(region, { subtree: true, childList: true, characterData: true });
    });
})();
"""

# The prices of the candles in the picture: their highest and lowest row, CSS px.
EXTENT = """
(() => {
    const canvas = document.getElementById("chart");
    const { width, height } = canvas;
    const probe = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
    const wanted = ["--up", "--down"].map((name) => {
        probe.fillStyle = getComputedStyle(canvas).getPropertyValue(name).trim();
        probe.fillRect(0, 0, 1, 1);
        return probe.getImageData(0, 0, 1, 1).data;
    });
    probe.clearRect(0, 0, 1, 1);
    probe.drawImage(canvas, 0, 0);
    const { data } = probe.getImageData(0, 0, width, height);
    const rows = [];
    for (let at = 0; at < data.length; at += 4) {
        if (wanted.some((each) => [0, 1, 2].every((part) => data[at + part] === each[part]))) rows.push(Math.floor(at / 4 / width));
    }
    return { top: rows[0], bottom: rows[rows.length - 1] };
})()
"""
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"

# The lowest contrast of any text with its background (WCAG 2, 1.4.3), and its place.
CONTRAST = """
(() => {
    const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const parts = (text) => text.match(/[0-9.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    let worst = { ratio: 99, where: "" };
    for (const element of document.querySelectorAll("body *")) {
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "")) continue;
        const box = element.getBoundingClientRect();
        if (box.width < 2 || box.height < 2) continue;
        let ground = element;
        while (ground !== null && (parts(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement;
        const a = light(parts(getComputedStyle(element).color));
        const b = light(ground === null ? [255, 255, 255] : parts(getComputedStyle(ground).backgroundColor));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < worst.ratio) worst = { ratio, where: `${element.tagName} ${element.id} ${element.className}` };
    }
    return worst;
})()
"""

# What covers or leaves something else: parts of the page, and parts of its cards.
OVERLAPS = """
(() => {
    const parts = [...document.querySelectorAll(".bar, .state, .asked, .card, .card > *, .foot")]
        .filter((each) => each.checkVisibility({ contentVisibilityAuto: true }))
        .map((each) => ({ each, box: each.getBoundingClientRect() })).filter(({ box }) => box.width > 2 && box.height > 2);
    const name = ({ each }) => each.id || each.className || each.tagName;
    const found = [];
    parts.forEach((one, place) => parts.slice(place + 1).forEach((other) => {
        const isInside = one.each.contains(other.each);
        const right = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (isInside && (other.box.bottom > one.box.bottom + 1 || other.box.right > one.box.right + 1)) found.push(`${name(other)} leaves ${name(one)}`);
        if (!isInside && right > 1 && down > 1) found.push(`${name(other)} covers ${name(one)}`);
    }));
    return found;
})()
"""


def say(**values):
    print(json.dumps(values), flush=True)


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Browser:
    """One Chromium with one tab."""

    def __init__(self, folder):
        self.folder = folder
        self.process = None
        self.socket = None
        self.number = 0
        self.answers = {}
        self.reader = None
        # Called with the method and the parameters of each event.
        self.listeners = []

    async def open(self, observes=True):
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--hide-scrollbars", "--disable-features=LocalNetworkAccessChecks", "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "HOME": self.folder}, preexec_fn=die_with_parent, start_new_session=True)
        port = None
        for _ in range(600):
            try:
                with open(os.path.join(self.folder, "DevToolsActivePort"), encoding="utf-8") as file:
                    port = int(file.readline())
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                    tab = next(each for each in json.load(answer) if each["type"] == "page")
                break
            except (OSError, ValueError, StopIteration):
                if self.process.poll() is not None:
                    raise SystemExit(f"chromium ended with {self.process.returncode}") from None
                await asyncio.sleep(0.1)
        else:
            raise SystemExit("chromium did not start within a minute")
        self.socket = await websockets.connect(tab["webSocketDebuggerUrl"], max_size=None)
        self.reader = asyncio.create_task(self.read())
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.call(f"{domain}.enable")
        if observes:
            await self.call("Runtime.addBinding", name="observed")
            await self.call("Page.addScriptToEvaluateOnNewDocument", source=OBSERVER)

    async def read(self):
        async for text in self.socket:
            message = json.loads(text)
            if "id" in message:
                self.answers.pop(message["id"]).set_result(message)
            else:
                self.event(message["method"], message["params"])

    def event(self, method, params):
        for listener in self.listeners:
            listener(method, params)
        if method == "Runtime.bindingCalled":
            print(params["payload"], flush=True)
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            say(problem=f"exception: {details.get('exception', {}).get('description', details['text'])}")
        elif method == "Runtime.consoleAPICalled" and params["type"] == "log":
            say(log=[each.get("value") for each in params["args"]])
        elif method == "Fetch.requestPaused":
            asyncio.ensure_future(self.answer(params))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            say(problem=f"console: {[each.get('value', each.get('description')) for each in params['args']]}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            say(problem=f"{entry['source']}: {entry['text']} {entry.get('url', '')}")

    async def call(self, method, **params):
        self.number += 1
        answer = self.answers[self.number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        message = await asyncio.wait_for(answer, 60)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    async def serve(self, origin, name, socket_url):
        """Answers requests to an origin with a page that holds only a script, with another address of the service."""
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
            parts = file.read().split("wss://ws.finnhub.io?")
        if len(parts) != 2:
            raise RuntimeError("the sample has not one URL")
        script = (socket_url + "?").join(parts)
        self.file = f"<!doctype html>\n<title>Finnhub's JavaScript sample</title>\n<script>\n{script}</script>\n"
        await self.call("Fetch.enable", patterns=[{"urlPattern": origin + "*"}])

    async def answer(self, paused):
        is_page = paused["request"]["url"] == SAMPLE_ORIGIN
        await self.call("Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200 if is_page else 204,
                        responseHeaders=[{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
                        body=base64.b64encode(self.file.encode() if is_page else b"").decode())

    async def value(self, expression):
        result = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    async def until(self, expression, seconds=30):
        for _ in range(seconds * 10):
            if await self.value(expression):
                return
            await asyncio.sleep(0.1)
        raise SystemExit(f"not within {seconds} s: {expression}")

    async def size(self, width, height):
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                        mobile=width < 768)

    async def colours(self, scheme):
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    async def enter(self):
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r" if kind == "keyDown" else "",
                            windowsVirtualKeyCode=13)

    async def picture(self, path):
        shot = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


async def layout(browser, pictures, url):
    await browser.until("![undefined, \"–\"].includes(document.getElementById('price')?.textContent)")
    await measure(browser, pictures, SIZES, "")
    if await browser.value("!document.getElementById('room').hidden"):
        await room(browser, url)
        await measure(browser, pictures, [SIZES[0], SIZES[-1]], "-room")
    tree = (await browser.call("Accessibility.getFullAXTree"))["nodes"]
    shown = [node for node in tree if not node.get("ignored")]
    named = lambda node: node.get("name", {}).get("value", "")
    role = lambda node: node.get("role", {}).get("value", "")
    say(roles=sorted({role(node) for node in shown}),
        nameless=[role(node) for node in shown
                  if role(node) in ("button", "link", "textbox", "image", "navigation", "table", "region") and not named(node)],
        chart=next((named(node) for node in shown if named(node).startswith("Chart of")), None))
    # The elements that the Tab key reaches.
    reached = []
    for _ in range(60):
        for kind in ("keyDown", "keyUp"):
            await browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.append(await browser.value("document.activeElement.id || document.activeElement.className || document.activeElement.tagName"))
    say(reached=sorted(set(reached)))


async def measure(browser, pictures, sizes, suffix):
    for scheme in ("light", "dark"):
        await browser.colours(scheme)
        for width, height in sizes:
            await browser.size(width, height)
            await browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 400))))")
            say(scheme=scheme, width=width,
                scrollWidth=await browser.value("document.documentElement.scrollWidth"),
                ground=await browser.value("getComputedStyle(document.body).backgroundColor"),
                canvas=await browser.value("document.getElementById('chart').width"),
                canvasHeight=await browser.value("document.getElementById('chart').clientHeight"),
                overlaps=await browser.value(OVERLAPS),
                contrast=await browser.value(CONTRAST))
            if pictures:
                await browser.picture(os.path.join(pictures, f"{width}x{height}-{scheme}{suffix}.png"))


async def room(browser, url):
    """Talks with another user in the room of the shown symbol, and prints what each of them sees."""
    text = lambda name: f"document.getElementById('room-{name}').textContent"
    lines = "[...document.querySelectorAll('#room-list li')].map((each) => each.textContent.replace(/^\\S+ /, ''))"

    async def type_and_enter(name, typed):
        for step in ("focus", "select"):
            await browser.value(f"document.getElementById('room-{name}').{step}()")
        await browser.call("Input.insertText", text=typed)
        await browser.enter()

    heard = []

    async def hear(expected):
        """Waits for the next such event at the other user."""
        told = ""
        while told != expected:
            event = json.loads(await asyncio.wait_for(other.recv(), 30))
            told = f"{event['type']} {event['user']}"
            heard.append(told)

    symbol = await browser.value("document.getElementById('symbol').textContent")
    place = url.replace("http", "ws", 1).rstrip("/") + "/v1/room/"
    async with websockets.connect(place + urllib.parse.quote(symbol, safe="")) as other:
        await other.recv()
        await other.send(json.dumps({"user": "Ann", "message": HOSTILE}))
        await hear("message Ann")
        await browser.value("document.querySelector('#room summary').click()")
        await browser.until(f"{text('list')}.includes('Ann')")
        await type_and_enter("text", "nameless")
        await browser.until(f"{text('note')} !== ''")
        nameless = await browser.value(text("note"))
        await type_and_enter("user", "ann")
        await browser.until(f"{text('note')}.startsWith('Not sent')")
        taken = await browser.value(text("note"))
        kept = await browser.value("document.getElementById('room-text').value")
        await type_and_enter("user", "bob")
        await browser.until("document.getElementById('room-text').value === ''")
        await hear("message bob")
        # Half of an emoji, sent twice at once.
        unanswered = await browser.value(
            "(() => { const part = (name) => document.getElementById(`room-${name}`); part('text').value = 'half \\ud83d';"
            " part('form').requestSubmit(); part('form').requestSubmit(); return part('note').textContent; })()")
        await browser.until(f"document.getElementById('room-text').value === '' && {text('note')} === ''")
        await hear("message bob")
        await other.send(json.dumps({"message": "welcome"}))
        await browser.until(f"{text('list')}.includes('welcome')")
        say(nameless=nameless, taken=taken, kept=kept, unanswered=unanswered, heard=heard,
            state=await browser.value(text("state")), lines=await browser.value(lines),
            elements=await browser.value("document.querySelectorAll('#room-list b, #room-list img').length"))
        # A half-typed name is not taken when the page comes back to the room, or enters another one.
        await browser.value("document.getElementById('room-user').value = 'Al'")
        await browser.value("document.querySelector('#room summary').click()")
        await hear("left bob")
        await browser.value("document.querySelector('#room summary').click()")
        await hear("joined bob")
        await browser.until(f"{text('state')} === '2 here: Ann, bob'")
    await browser.until(f"{text('list')}.includes('Ann left')")
    await browser.value("document.getElementById('room-choice').value = 'lobby'")
    await browser.value("document.getElementById('room-choice').dispatchEvent(new Event('change'))")
    await browser.until(f"{text('state')} === 'No users yet' && !{text('list')}.includes('welcome')")
    await type_and_enter("user", "bob")
    await browser.until(f"{text('state')} === '1 here: bob' && !{text('list')}.includes('Al')")
    await browser.value("document.getElementById('room-choice').selectedIndex = 0")
    await browser.value("document.getElementById('room-choice').dispatchEvent(new Event('change'))")
    await browser.until(f"{text('list')}.includes('welcome')")


async def press(browser, key, code=0):
    for kind in ("keyDown", "keyUp"):
        await browser.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)


async def finding(browser, pictures):
    """Prints the news, the news of one publisher, and the symbols that fit a typed text."""
    text = lambda name: f"document.getElementById('{name}').textContent"
    texts = lambda query: f"[...document.querySelectorAll('{query}')].map((each) => each.textContent)"
    await browser.until("![undefined, \"–\"].includes(document.getElementById('price')?.textContent)")
    await browser.value("document.getElementById('news').open = true")
    await browser.until(f"{text('news-note')} !== '' || {text('news-count')} !== ''")
    say(shown=await browser.value(text("news-note")), headlines=await browser.value(texts("#news-list li bdi")),
        publishers=await browser.value(texts("#news-publisher option")),
        links=await browser.value("[...document.querySelectorAll('#news-list a')].map((each) => [each.href, each.rel])"))
    if await browser.value(f"{text('news-count')} !== ''"):
        before = await browser.value(text("news-count"))
        await browser.value("(() => { const choice = document.getElementById('news-publisher');"
                            " choice.value = choice.options[1].value; choice.dispatchEvent(new Event('change')); })()")
        await browser.until(f"{text('news-count')} !== {json.dumps(before)}")
        say(chosen=await browser.value(texts("#news-list li bdi")))
    await browser.value("document.getElementById('add').focus()")
    await browser.call("Input.insertText", text="bitcoin")
    await browser.until(f"{text('found-note')} !== '' || document.querySelector('#found a') !== null")
    say(found=await browser.value(texts("#found .name")), note=await browser.value(text("found-note")))
    if pictures:
        await browser.picture(os.path.join(pictures, "finding.png"))
    # Enter opens the marked symbol; the arrow keys move the mark. What the relay finds comes after the rows that fit.
    marked = "[document.getElementById('match')?.closest('ul').id ?? null, document.querySelector('#match .name')?.textContent ?? null]"
    first = await browser.value(marked)
    await press(browser, "Escape", 27)
    await browser.call("Input.insertText", text="btcusdt")
    await browser.until("document.querySelector('#found a') !== null")
    marks = [await browser.value(marked)]
    for key, code in (("ArrowDown", 40), ("ArrowDown", 40), ("ArrowUp", 38)):
        await press(browser, key, code)
        marks.append(await browser.value(marked))
    say(first=first, marks=marks, options=await browser.value(texts("#sort option")))
    await browser.enter()
    await browser.until("document.getElementById('add').value === '' && document.querySelector('#found a') === null && location.hash === '#BINANCE:BTCUSDT'")
    say(address=await browser.value("location.hash"), hasRooms=await browser.value("!document.getElementById('room').hidden"))


async def chart(browser, pictures):
    """Prints what the chart says after each kind of input."""
    text = lambda name: f"document.getElementById('{name}').textContent"
    label = "document.getElementById('chart').getAttribute('aria-label')"
    pressed = "document.querySelector('[data-range][aria-pressed=true]')?.dataset.range ?? null"
    hidden = "document.getElementById('chart-now').hidden"
    await browser.until("document.getElementById('chart')?.getAttribute('aria-label').startsWith('Chart of')")
    # Some bars, so that there is something to move.
    await browser.until(f"/over ([1-9][0-9] s|[0-9]+m)/.test({label})")
    await browser.value("document.getElementById('chart-touch').scrollIntoView({ block: 'center' })")
    left, top, width, height = await browser.value(
        "(() => { const box = document.getElementById('chart-touch').getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })()")
    middle = top + height / 2

    async def mouse(kind, share, **more):
        await browser.call("Input.dispatchMouseEvent", type=kind, x=left + width * share, y=middle, **more)

    async def keep(name):
        if pictures:
            await browser.picture(os.path.join(pictures, f"chart-{name}.png"))

    say(step="first", range=await browser.value(pressed), followsNow=await browser.value(hidden))
    # The crosshair shows the values of a bar that is over: the volume of the newest one may not be known yet.
    newest = await browser.value(text("bar-time"))
    await mouse("mouseMoved", 0.6)
    await browser.until(f"{text('bar-time')} !== {json.dumps(newest)} && {text('bar-volume')} !== '–'")
    say(step="crosshair", bar=await browser.value(f"[...document.querySelectorAll('.values dd')].map((each) => each.textContent)"))
    await keep("crosshair")
    await mouse("mouseWheel", 0.3, deltaX=0, deltaY=-400)
    await browser.until(f"{pressed} === null")
    await mouse("mousePressed", 0.3, button="left", clickCount=1)
    for share in (0.4, 0.5, 0.6, 0.7):
        await mouse("mouseMoved", share, button="left", buttons=1)
    await mouse("mouseReleased", 0.7, button="left", clickCount=1)
    await browser.until(f"!{hidden}")
    say(step="dragged", followsNow=False)
    await keep("dragged")
    # A double click brings the range back, and now.
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            await mouse(kind, 0.5, button="left", clickCount=count)
    await browser.until(f"{hidden} && ({pressed}) === '5m'")
    await mouse("mousePressed", 0.3, button="left", clickCount=1)
    for share in (0.4, 0.5):
        await mouse("mouseMoved", share, button="left", buttons=1)
    await mouse("mouseReleased", 0.5, button="left", clickCount=1)
    await browser.until(f"!{hidden}")
    await browser.value("document.getElementById('chart-now').click()")
    await browser.until(f"{hidden} && document.activeElement.id === 'chart-touch'")
    # By keys: two bars back are said, with the relay's numbers.
    for _ in range(3):
        await press(browser, "ArrowLeft", 37)
    await browser.until(f"{text('chart-said')} !== ''")
    await browser.until(f"{text('chart-said')}.includes(`close ${{{text('bar-close')}}}, open`)")
    say(step="keys", said=await browser.value(text("chart-said")))
    await press(browser, "Escape", 27)
    for key in ("+", "-", "PageUp", "Home", "End"):
        await press(browser, key)
    await browser.until(hidden)

    async def choose(name, value):
        await browser.value(f"(() => {{ const field = document.getElementById('{name}'); field.value = '{value}';"
                            " field.dispatchEvent(new Event('change')); })()")

    # The axis of the prices, in a picture of the past, which stays as it is.
    fits = "document.getElementById('chart-auto').hidden"

    async def drag(*places):
        """Presses the mouse at the first of these places in the chart, moves it to the others, and returns the extent."""
        steps = [("mousePressed", places[0]), *(("mouseMoved", place) for place in places[1:]), ("mouseReleased", places[-1])]
        for kind, (x, y) in steps:
            await browser.call("Input.dispatchMouseEvent", type=kind, x=left + x, y=top + y, button="left",
                               buttons=int(kind != "mouseReleased"), clickCount=1)
        await browser.value(FRAMES)
        return await browser.value(EXTENT)

    await choose("chart-kind", "candles")
    await choose("chart-width", "1s")
    await browser.value("document.querySelector('[data-range=\"1m\"]').click()")
    for _ in range(4):
        await press(browser, "+")
    await browser.value(FRAMES)
    before = await drag((width * 0.5, 120), (width * 0.6, 120), (width * 0.65, 120))
    await browser.until(f"!{hidden} && {fits}")
    await keep("candles")
    scaled = await drag((width - 20, 100), (width - 20, 130), (width - 20, 175))
    is_free = await browser.value(f"!{fits}")
    await keep("scaled")
    moved = await drag((width * 0.5, 120), (width * 0.5 + 10, 110), (width * 0.5, 90))
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            await browser.call("Input.dispatchMouseEvent", type=kind, x=left + width - 20, y=middle, button="left", clickCount=count)
    await browser.until(fits)
    await browser.value(FRAMES)
    say(step="axis", isFree=is_free, extents=[before, scaled, moved, await browser.value(EXTENT)])
    await browser.value("document.getElementById('chart-now').click()")
    for name, value in (("chart-kind", "area"), ("chart-width", "1m")):
        await choose(name, value)
        await keep(value)
    await browser.value("document.querySelector('[data-range=\"1h\"]').click()")
    for name in ("chart-log", "chart-volume", "chart-full"):
        await browser.value(f"document.getElementById('{name}').click()")
    await browser.until(f"document.fullscreenElement?.id === 'chart-pane' && /[●◌✖■] [A-Z]/.test({text('chart-title')})")
    say(step="full", title=await browser.value(text("chart-title")), range=await browser.value(pressed),
        kept=await browser.value("localStorage.getItem('tickertape.chart')"))
    await keep("full")
    await browser.value("document.getElementById('chart-full').click()")
    await browser.until("document.fullscreenElement === null")
    # With fingers: drag, pinch, the axis of the prices, and a tap for a crosshair that stays.
    await browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    await browser.value("document.getElementById('chart-touch').scrollIntoView({ block: 'center' })")
    left, top, width, height = await browser.value(
        "(() => { const box = document.getElementById('chart-touch').getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })()")

    async def touch(kind, *shares, down=0):
        points = [{"x": left + width * share, "y": top + height / 2 + down, "id": id} for id, share in enumerate(shares)]
        await browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    async def times(*shares):
        """Returns the times of the bars at these places, in seconds of the day."""
        found = []
        for share in shares:
            await browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + width * share, y=top + height / 2)
            await browser.value(FRAMES)
            hours, minutes, seconds = (await browser.value(text("bar-time"))).split()[0].split(":")
            found.append(int(hours) * 3600 + int(minutes) * 60 + int(seconds))
        return found

    await choose("chart-width", "1s")
    async def swipe(*shares):
        await touch("touchStart", shares[0])
        for share in shares[1:]:
            await touch("touchMove", share)
        await touch("touchEnd")

    await browser.value("document.querySelector('[data-range=\"1m\"]').click()")
    for _ in range(4):
        await press(browser, "+")
    # From now on the picture stays as it is.
    await swipe(0.5, 0.52, 0.56, 0.6)
    await browser.until(f"!{hidden}")
    shown = await times(0.6, 0.7)
    await swipe(0.4, 0.45, 0.6)
    dragged = await times(0.8, 0.9)
    apart = await times(0.7, 0.82, 0.9)
    await touch("touchStart", 0.7)
    await touch("touchStart", 0.7, 0.82)
    for by in (0.02, 0.04):
        await touch("touchMove", 0.7 - by, 0.82 + by)
    await touch("touchEnd")
    pinched = await times(0.66, 0.86, 0.7, 0.9)
    scroll = await browser.value("scrollY")
    await touch("touchStart", 0.98)
    for down in (10, 30, 60):
        await touch("touchMove", 0.98, down=down)
    await touch("touchEnd")
    await browser.until(f"!{fits}")
    await keep("fingers")
    say(step="fingers", shown=shown, dragged=dragged, apart=apart, pinched=pinched, scrolled=await browser.value("scrollY") - scroll)
    await browser.value("document.getElementById('chart-auto').click()")
    await browser.until(f"{fits} && document.activeElement.id === 'chart-touch'")
    await browser.value("document.querySelector('[data-range=\"1m\"]').click()")
    await browser.until(f"!{text('bar-time')}.includes('-')")
    newest = await browser.value(text("bar-time"))
    await touch("touchStart", 0.6)
    await touch("touchEnd")
    await browser.until(f"{text('bar-time')} < {json.dumps(newest)}")
    say(step="touched")
    # A wrong symbol is said in its row, and not selected; what was meant can be.
    chosen = await browser.value(text("symbol"))
    await browser.value("document.getElementById('add').focus()")
    await browser.call("Input.insertText", text="binance:ethusdt")
    filtered = await browser.value(text("filter-note"))
    await browser.enter()
    await browser.until("document.querySelector('#symbols [data-wrong=true] .meant:not([hidden])') !== null")
    row = await browser.value("document.querySelector('#symbols [data-wrong=true]').innerText.replaceAll('\\n', ' ')")
    say(step="wrong", row=row, filtered=filtered, isSame=await browser.value(text("symbol")) == chosen,
        address=await browser.value("location.hash"), links=await browser.value("document.querySelectorAll('#symbols [data-wrong=true] > a[href]').length"))
    asked = await browser.value("document.getElementById('asked').innerText.replaceAll('\\n', ' ')")
    await keep("wrong")
    # It is forgotten by its ×, or when another symbol is chosen.
    rows = "[...document.querySelectorAll('#symbols .name')].map((each) => each.textContent)"
    await browser.value("document.querySelector('#symbols [data-wrong=true] .remove:not([hidden])').click()")
    await browser.until(f"document.getElementById('asked').hidden && {rows}.length === 1")
    await browser.value("location.hash = 'binance:ethusdt'")
    await browser.until("document.querySelector('#symbols .meant:not([hidden])') !== null && !document.getElementById('asked').hidden")
    again = await browser.value("location.hash")
    await browser.value("document.querySelector('#symbols .meant:not([hidden]) a').click()")
    await browser.until(f"{text('symbol')} === 'BINANCE:ETHUSDT' && document.getElementById('asked').hidden")
    status = "fetch('/v1/status').then((answer) => answer.json()).then(({ symbols }) => symbols.map(({ symbol }) => symbol))"
    await browser.until(f"{status}.then((names) => names.length === 2)")
    say(step="forgotten", asked=asked, address=again, rows=await browser.value(status))
    # A symbol that is added later is asked for like the first ones: its last hour, and the time 24 hours ago.
    requests = ("performance.getEntriesByType('resource').map(({ name }) => decodeURIComponent(new URL(name).pathname + new URL(name).search))"
                ".filter((name) => name.startsWith('/v1/bars/BINANCE:ETHUSDT?width=1m&') && /limit=(60|67)$/.test(name))")
    await browser.until(f"{requests}.length === 2")
    say(step="asked", requests=await browser.value(requests))
    say(step="meant", address=await browser.value("location.hash"),
        rows=await browser.value(rows))
    # The keys of the page, with the focus nowhere.
    await browser.value("document.activeElement.blur()")
    is_open = "document.getElementById('keys').open"
    await press(browser, "?", 191)
    await browser.until(is_open)
    await keep("keys")
    await press(browser, "Escape", 27)
    await browser.until(f"!{is_open}")
    await press(browser, "/", 191)
    say(step="slash", focus=await browser.value("document.activeElement.id"))
    # The times of the page in the zone of the settings, and in another one.
    named = await browser.value(text("tape-zone"))
    await browser.value("(() => { const zone = document.getElementById('zone'); zone.value = 'utc'; zone.dispatchEvent(new Event('change')); })()")
    say(step="zone", named=named, zone=await browser.value(text("tape-zone")))


async def speech(browser):
    """Prints what a screen reader hears of prices."""
    prices = "heard.filter(({ text }) => /[0-9]$/.test(text))"
    await browser.until(f"{prices}.length >= 3", 100)
    say(heard=await browser.value(prices), live=await browser.value("document.getElementById('announcement').getAttribute('aria-live')"))


async def give_token(browser, token):
    """Prints the text above the form at first and after a wrong token, and the address after the right one."""
    form = "document.getElementById('token-form')"
    help_text = "document.getElementById('token-help').textContent"
    for text in ("x" * len(token), token):
        await browser.until(f"{form} !== null && !{form}.hidden && document.activeElement.id === 'token'")
        asked = await browser.value(help_text)
        say(asked=asked)
        await browser.call("Input.insertText", text=text)
        await browser.enter()
        await browser.until(f"{form}.hidden || {help_text} !== {json.dumps(asked)}")
    await browser.until(f"{form}.hidden")
    say(address=await browser.value("location.href"))


async def main():
    if CHROMIUM is None:
        raise SystemExit("no chromium: scripts/setup --tests installs Debian's package")
    command, url = sys.argv[1], sys.argv[2]
    pictures = sys.argv[3] if len(sys.argv) > 3 and command != "token" else None
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    # In the caller's folder, so that the caller can remove the files if this program is killed.
    with tempfile.TemporaryDirectory(dir=os.environ.get("XDG_STATE_HOME"), ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            await browser.open()
            # The browser or the reader has gone.
            browser.reader.add_done_callback(lambda _: stop.set())
            await browser.size(1280, 800)
            if command == "sample":
                await browser.serve(SAMPLE_ORIGIN, "../Clients/Finnhub/sample.js", url)
                url = SAMPLE_ORIGIN
            if command == "speech":
                await browser.call("Page.addScriptToEvaluateOnNewDocument", source=FAST_CLOCK)
            await browser.call("Page.navigate", url=url)
            if command == "layout":
                await layout(browser, pictures, url)
            elif command == "chart":
                await chart(browser, pictures)
            elif command == "speech":
                await speech(browser)
            elif command == "finding":
                await finding(browser, pictures)
            elif command == "sample":
                await stop.wait()
            else:
                if command == "token":
                    await give_token(browser, sys.argv[3])
                await stop.wait()
                if pictures:
                    await browser.picture(os.path.join(pictures, "watch.png"))
            say(ended=True)
        finally:
            browser.close()


if __name__ == "__main__":
    asyncio.run(main())

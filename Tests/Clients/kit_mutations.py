"""Tests the conformance kit: plants one fault at a time in a copy of the Python client, and checks that a transcript
finds it.

usage: kit_mutations.py [--all] [--jobs N] [NAME]...      NAME: only these faults; --all: with every transcript

Each fault names transcripts that must find it, and only those are played. With --all every transcript is played, and
all that find the fault are listed. The Python that runs this must have `websockets`.
"""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

CLIENTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients"
CLIENT, MESSAGES = "python/tickertape.py", "python/messages.py"

# Name: transcripts, file, the text that occurs once, and its replacement.
FAULTS = {
    "resumes without a place": (
        "resume-complete resume-place-hello", CLIENT,
        '        self.requests[-len(self.wishes)] |= since', '        pass'),
    "asks for a place that it does not know": (
        "subscribe-one", CLIENT,
        'since = {"since": f"{self.epoch}:{self.seq}"} if self.is_resuming else {}',
        'since = {"since": f"{self.epoch or hello.epoch}:{self.seq}"}'),
    "keeps repeated trades": (
        "resume-seam", CLIENT,
        "if trade.seq <= self.newest.get(trade.symbol, -1):", "if False:"),
    "reports repeats of a resume as errors": (
        "resume-seam", CLIENT,
        "            if self.is_resuming:\n                return []\n", ""),
    "drops repeats after a resume silently": (
        "resume-then-repeat", CLIENT,
        'raise ValueError(f"the trade {trade.seq} of {trade.symbol} came again")', "return []"),
    "takes numbers that go back between symbols for repeats": (
        "trades-across-symbols", CLIENT,
        "if trade.seq <= self.newest.get(trade.symbol, -1):", "if trade.seq <= max(self.newest.values(), default=-1):"),
    "makes decimals from floats": (
        "decimals-long decimals-zeros", MESSAGES,
        "value = Decimal(value)", "value = Decimal(str(float(value)))"),
    "rounds decimals to 28 digits": (
        "decimals-long", MESSAGES,
        "value = Decimal(value)", "value = +Decimal(value)"),
    "drops zeros at the end of decimals": (
        "decimals-zeros", MESSAGES,
        "value = Decimal(value)", "value = Decimal(value).normalize()"),
    "takes any text for a decimal": (
        "wrong-decimal", MESSAGES,
        "if Decimal in allowed and isinstance(value, str) and is_decimal(value):",
        "if Decimal in allowed and isinstance(value, str) and value[:1].isdigit():"),
    "takes numbers for decimals": (
        "wrong-decimal", MESSAGES,
        "isinstance(value, str) and is_decimal(value)", "is_decimal(str(value))"),
    "fails at an unknown type": (
        "unknown-type", MESSAGES,
        "    if kind is None:\n        return None\n", "    if kind is None:\n        raise ValueError\n"),
    "takes True for a number": (
        "wrong-number", MESSAGES,
        "(type(value) in allowed or object in allowed)", "isinstance(value, tuple(allowed))"),
    "does not need the members of an event": (
        "missing-members wrong-number", MESSAGES,
        'raise ValueError(f"{kind.TYPE}: {key} is missing or has a wrong type")', "values[name] = 0"),
    "reads epochs as floats": (
        "epoch-beyond-2-53", CLIENT,
        "self.epoch, self.seq = hello.epoch, hello.seq or 0", "self.epoch, self.seq = int(float(hello.epoch)), hello.seq or 0"),
    "reads numbers as floats": (
        "numbers-beyond-2-53", MESSAGES,
        "message = json.loads(text, parse_constant=refuse)",
        "message = json.loads(text, parse_constant=refuse, parse_int=lambda digits: int(float(digits)))"),
    "takes NaN for JSON": (
        "not-json", MESSAGES,
        ", parse_constant=refuse", ""),
    "ignores what is not JSON": (
        "not-json not-an-object", CLIENT,
        "return [ProtocolError(str(error))]", "return []"),
    "ends at deep nesting": (
        "nested-deep", MESSAGES,
        "except RecursionError:", "except ZeroDivisionError:"),
    "ignores binary messages": (
        "binary", CLIENT,
        '                yield ProtocolError("a binary message")\n', ""),
    "takes binary messages for texts": (
        "binary", CLIENT,
        "if isinstance(data, bytes):", "if False:"),
    "takes messages before hello": (
        "hello-late", CLIENT,
        "if isinstance(value, Hello) == (self.hello is not None):",
        "if isinstance(value, Hello) and self.hello is not None:"),
    "takes a second hello": (
        "hello-again", CLIENT,
        "if isinstance(value, Hello) == (self.hello is not None):",
        "if not isinstance(value, Hello) and self.hello is None:"),
    "ignores that a gap names another epoch": (
        "epoch-restart-with-recording epoch-during-connection", CLIENT,
        "if gap.symbol is None and gap.epoch != self.epoch:", "if False:"),
    "keeps the numbers of trades over epochs": (
        "epoch-restart-with-recording", CLIENT,
        "        self.newest.clear()\n", ""),
    "moves its place at every gap": (
        "gap-keeps-place", CLIENT,
        "if gap.symbol is None and gap.epoch != self.epoch:", "if gap.symbol is None:"),
    "makes no gap for an epoch that none names": (
        "epoch-no-gap-snapshot epoch-no-gap-price epoch-no-gap-activity epoch-no-gap-trade", CLIENT,
        "self.is_unnamed = hello.epoch not in (None, self.epoch)", "self.is_unnamed = False"),
    "takes the epoch of hello for that of resumed trades": (
        "epoch-restart-with-recording epoch-break-in-old-run", CLIENT,
        "is_first = self.is_unnamed and (not self.is_resuming or trade.seq <= self.seq)", "is_first = self.is_unnamed"),
    "takes no epoch from resumed": (
        "epoch-no-gap-resumed", CLIENT,
        "if resumed.epoch != self.epoch else []", "if False else []"),
    "forgets the place at hello": (
        "epoch-break-in-old-run", CLIENT,
        "        if self.epoch is None:\n            self.epoch, self.seq =", "        if True:\n            self.epoch, self.seq ="),
    "takes the last number for its place": (
        "resume-place-greatest", CLIENT,
        "self.seq = max(self.seq, value.seq)\n        self._keep(self.arrivals, value.symbol, now - (",
        "self.seq = value.seq\n        self._keep(self.arrivals, value.symbol, now - ("),
    "takes no place from prices": (
        "resume-place-price resume-place-activity", CLIENT,
        "self.seq = max(self.seq, value.seq)\n        self._keep(self.arrivals, value.symbol, now - (",
        "self._keep(self.arrivals, value.symbol, now - ("),
    "takes no place from trades": (
        "resume-broken-twice resume-complete", CLIENT,
        "        self.seq = max(self.seq, trade.seq)\n", ""),
    "takes no place from resumed": (
        "resume-place-resumed", CLIENT,
        "        self.seq = max(self.seq, resumed.to)\n", ""),
    "does not wait between attempts": (
        "backoff-grows", CLIENT,
        "await asyncio.sleep(max(pause, ", "await asyncio.sleep(max(0, "),
    "does not lengthen its waits": (
        "backoff-grows", CLIENT,
        "            failures += 1\n", ""),
    "lengthens its waits for ever": (
        "backoff-longest", CLIENT,
        "random.uniform(0, min(longest, first * 2 ** min(failures, 30)))", "first * 2 ** min(failures, 30)"),
    "waits without jitter": (
        "backoff-jitter", CLIENT,
        "random.uniform(0, min(longest, first * 2 ** min(failures, 30)))", "min(longest, first * 2 ** min(failures, 30))"),
    "never ends its backoff": (
        "backoff-reset", CLIENT,
        "                failures = 0\n", "                pass\n"),
    "ignores Retry-After": (
        "http-503-retry-after http-429-retry-after", CLIENT,
        "max(pause, min(self._retry_after, longest))", "pause"),
    "obeys any Retry-After": (
        "http-503-retry-after", CLIENT,
        "max(pause, min(self._retry_after, longest))", "max(pause, self._retry_after)"),
    "tries again after 401": (
        "http-401", CLIENT,
        "FINAL_STATUSES = {400, 401, 403, 404, 421}", "FINAL_STATUSES = {400, 403, 404, 421}"),
    "gives up at 503": (
        "http-503", CLIENT,
        "FINAL_STATUSES = {400, 401,", "FINAL_STATUSES = {400, 503, 401,"),
    "follows redirects": (
        "http-302", CLIENT,
        "self._socket = await _Connect(", "self._socket = await connect("),
    "tries again after 1008": (
        "close-1008", CLIENT,
        "FINAL_CODES = {1002, 1003, 1007, 1008, 1009}", "FINAL_CODES = {1002, 1003, 1007, 1009}"),
    "gives up at 1013": (
        "close-1013-missed", CLIENT,
        "FINAL_CODES = {1002,", "FINAL_CODES = {1013, 1002,"),
    "gives up at a close without a code": (
        "close-without-code", CLIENT,
        "FINAL_CODES = {1002,", "FINAL_CODES = {1005, 1002,"),
    "does not report missed trades": (
        "close-1013-missed", CLIENT,
        "            yield Missed(int(missed[1]))\n", "            pass\n"),
    "reports its own close code as the relay's": (
        "text-not-utf8 oversized frame-masked", CLIENT,
        "close = error.rcvd if error.rcvd_then_sent else None", "close = error.sent"),
    "takes messages of any size": (
        "oversized", CLIENT,
        '"max_size": MAXIMUM_MESSAGE_BYTES', '"max_size": None'),
    "waits for ever in silence": (
        "silence silence-before-hello", CLIENT,
        "                if is_asked:\n", "                if False:\n"),
    "does not ask before it drops": (
        "silence-answered silence", CLIENT,
        "                if is_asked:\n", "                if True:\n"),
    "drops a connection after its second question": (
        "silence-answered", CLIENT,
        "            is_asked = False\n", ""),
    "waits for ever for the upgrade": (
        "hang", CLIENT,
        '{"open_timeout": 2 * silence}', '{"open_timeout": None}'),
    "takes an empty list for everything": (
        "subscribe-nothing symbol-last-removed", CLIENT,
        '        if self.symbols == []:\n            return [hello]\n', ""),
    "asks for more symbols than the relay takes": (
        "limit-symbols", CLIENT,
        '{"symbols": self.symbols[: self.limit]}', '{"symbols": self.symbols}'),
    "asks later for more symbols than the relay takes": (
        "limit-symbols-added", CLIENT,
        "room = max(0, self.limit - len(self.symbols or []))", "room = MAXIMUM_SYMBOLS"),
    "takes symbols from the end if it has too many": (
        "limit-symbols-added", CLIENT,
        "room = max(0, self.limit - len(self.symbols or []))", "room = self.limit - len(self.symbols or [])"),
    "takes an outcome without its lost trades": (
        "settled-wrong", MESSAGES,
        "    lost: list[GapMissing]  #", "    lost: list[GapMissing] | None = None  #"),
    "sets the policy after the subscription": (
        "overflow-request", CLIENT,
        'self.requests.append({"type": "overflow", "policy": self.overflow})',
        'self.requests = Late([{"type": "overflow", "policy": self.overflow}])'),
    "forgets symbols that were added": (
        "symbol-added", CLIENT,
        "            self.symbols += new\n", "            pass\n"),
    "remembers symbols that were removed": (
        "symbol-removed", CLIENT,
        "            self.symbols.remove(name)\n", ""),
    "keeps the age of a removed symbol": (
        "symbol-removed", CLIENT,
        "            self.arrivals.pop(name, None)\n", ""),
    "ignores the age of a snapshot": (
        "age-snapshot", CLIENT,
        '(getattr(value, "age", None) or 0) / 1000', "0"),
    "takes resumed trades for new ones": (
        "age-of-resumed-trade", CLIENT,
        "is_dated = self.is_resuming and self.hello.time is not None", "is_dated = False"),
    "takes filled trades for prices": (
        "trade-filled", CLIENT,
        "if not trade.filled:", "if True:"),
    "stops ages without a connection": (
        "age-without-connection", CLIENT,
        "        self.is_resuming = False  # until `resumed`\n",
        "        self.is_resuming = False\n        self.arrivals.clear()\n"),
    "counts open connections as attempts": (
        "attempts", CLIENT,
        "attempt, opened, self._retry_after = attempt + 1, time.monotonic(), 0.0",
        "attempt, opened, self._retry_after = attempt + (attempt == 0 or self._reading.hello is not None), time.monotonic(), 0.0"),
    "does not close in order": (
        "subscribe-one", CLIENT,
        "await self._socket.close(1000)", "self._socket.transport.abort()"),
}  # fmt: skip

# Appended to the client, for one of the faults.
LATE = '''

class Late(list):
    def __iadd__(self, requests):
        self[:0] = requests
        return self
'''


def planted(name, folder):
    """Copies the clients into a folder and plants the fault."""
    _, file, old, new = FAULTS[name]
    shutil.copytree(CLIENTS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / file
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        return f"the text of the fault occurs {text.count(old)} times in {file}"
    path.write_text(text.replace(old, new) + LATE * (file == CLIENT), encoding="utf-8")
    return None


def find(name, plays_all):
    """Returns the transcripts that find a fault, and what is wrong."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "clients"
        wrong = planted(name, folder)
        if wrong:
            return [], wrong
        command = [sys.executable, str(folder / "kit/kit.py"), "--quiet", "--jobs", "2"]
        command += ["--client", f"{sys.executable} {folder / 'kit/driver.py'}"]
        if not plays_all:
            command += [part for one in FAULTS[name][0].split() for part in ("--only", one)]
        output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = [line.split(":")[0].removeprefix("FAIL ") for line in output.splitlines() if line.startswith("FAIL")]
    missed = set(FAULTS[name][0].split()) - set(found)
    return found, f"not found by {', '.join(sorted(missed))}" if missed else None


def main():
    arguments = sys.argv[1:]
    jobs = 2
    if "--jobs" in arguments:
        index = arguments.index("--jobs")
        jobs = int(arguments[index + 1])
        del arguments[index : index + 2]
    plays_all = "--all" in arguments
    names = [name for name in arguments if name != "--all"] or list(FAULTS)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, (found, wrong) in zip(names, pool.map(lambda name: find(name, plays_all), names)):
            failed += wrong is not None
            print(f"{'FAIL' if wrong else 'ok  '} {name}: {wrong or 'found by ' + ', '.join(found)}", flush=True)
    print(f"{len(names) - failed} faults found, {failed} not")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""Runs Finnhub's sample with the URL in the first argument, and unsubscribes the symbols on standard input, one per line."""
import pathlib
import sys
import threading

theirs = "wss://ws.finnhub.io?token="
path = pathlib.Path(__file__).with_name("sample.py")
text = path.read_text()
assert text.count(theirs) == 1
names = {"__name__": "__main__"}


def unsubscribe():
    for line in sys.stdin:
        names["ws"].send('{"type":"unsubscribe","symbol":"%s"}' % line.rstrip("\n"))


threading.Thread(target=unsubscribe, daemon=True).start()
# The test reads the sample's output while it runs.
sys.stdout.reconfigure(line_buffering=True)
exec(compile(text.replace(theirs, sys.argv[1]), str(path), "exec"), names)

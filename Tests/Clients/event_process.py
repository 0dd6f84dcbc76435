"""The processes of scripts/cluster-lab and Benchmarks/cluster.py: each prints an event a line.

An event is a JSON object with the time on the monotonic clock, which is the same for all processes of a machine.
"""

import json
import subprocess
import threading
import time


class Missed(Exception):
    """Something did not happen within its limit."""


class EventProcess:
    """A process that prints an event a line, and takes commands."""

    def __init__(self, command, log):
        self.events, self.changed = [], threading.Condition()
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "w"), text=True,
        )  # fmt: skip
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self.events.append({"at": time.monotonic(), "event": "ended"})
            self.changed.notify_all()

    def all(self, event, since=0.0, **members):
        with self.changed:
            found = [one for one in self.events if one["event"] == event and one["at"] >= since]
        return [one for one in found if all(one.get(name) == value for name, value in members.items())]

    def wait(self, limit, event, since=0.0, **members):
        """Waits for an event at or after a moment; returns the first one."""
        end = time.monotonic() + limit
        while not (found := self.all(event, since, **members)):
            if self.all("ended") or time.monotonic() > end:
                raise Missed(f"not within {limit:.0f} s: {event} {members or ''}")
            with self.changed:
                self.changed.wait(0.05)
        return found[0]

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def end(self, limit=60):
        """Closes its input, and returns its result."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.wait(limit, "ended")
        return (self.all("result") or [None])[0]

"""Fills the disk under a recorder and empties it again: see scripts/fill-recorder.

usage: fill_recorder.py PROGRAM FOLDER      FOLDER: on a separate small disk
"""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from kill_recorder import in_order, market, served

# The expected output, and its time limit.
FULL = "No space left on device; what comes now is missing there"
AGAIN = "is written again;"


def wait(what, condition, seconds=60):
    deadline = time.time() + seconds
    while not condition():
        assert time.time() < deadline, f"waited {seconds} s in vain: {what}"
        time.sleep(0.02)


def fill(path):
    """Fills the disk, and returns the number of bytes that were free."""
    with open(path, "wb", buffering=0) as file:
        total = 0
        for piece in (1 << 16, 1 << 12):
            try:
                while True:
                    total += file.write(bytes(piece))
            except OSError:
                continue
    return total


def main():
    program, folder = sys.argv[1], sys.argv[2]
    environment = {**os.environ, "FINNHUB_TOKEN": "none-of-yours", "SWIFT_BACKTRACE": "enable=no"}
    with tempfile.TemporaryDirectory() as base:
        market(f"{base}/market.jsonl", 60_000)
        server, port = served(program, f"{base}/market.jsonl", base)
        # The program shares the file's offset, which reading moves; only appended lines overwrite none.
        log = open(f"{base}/recorder.log", "a+", encoding="utf-8")

        def said():
            log.seek(0)
            return log.read()

        recorder = subprocess.Popen(
            [
                program, "record", "--quiet", "--relay", "off", "--upstream", f"ws://127.0.0.1:{port}", "--symbol",
                "BINANCE:BTCUSDT", "--set", "record.segment-size=1MiB", "--set", "record.compress=false", "--set",
                "state.directory=off", f"{folder}/a.jsonl",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=environment,
        )

        def size():
            return sum(map(os.path.getsize, glob.glob(f"{folder}/a*")))

        try:
            wait("frames", lambda: size() > 100_000)
            filler = f"{folder}/filler"
            assert fill(filler) > 0
            wait("a word about the full disk", lambda: FULL in said())
            # The program must continue while it cannot write.
            time.sleep(3)
            assert recorder.poll() is None, said()
            os.remove(filler)
            before = size()
            wait("more in the files", lambda: size() > before + 50_000)
            wait("a word that it is written again", lambda: AGAIN in said())
            recorder.send_signal(signal.SIGTERM)
            assert recorder.wait(timeout=60) == 0, said()
        finally:
            for process in (recorder, server):
                if process.poll() is None:
                    process.kill()
                process.wait()
        paths = glob.glob(f"{folder}/a*.jsonl") + glob.glob(f"{folder}/a*.jsonl.zst")
        answer = subprocess.run(
            [program, "recording", "verify", "--json", *in_order(paths)], capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, (answer.stderr, answer.stdout)
        found = [json.loads(line) for line in answer.stdout.splitlines()]
        assert all(one["intact"] and one["ended"] and one["missingLines"] == 0 for one in found), found
        dropped = sum(one["droppedFrames"] for one in found)
        frames = sum(one["frames"] for one in found)
        words = said().split()
        assert "recorded" in words, said()
        told = int(words[words.index("recorded") + 1])
        missing = int(words[words.index("warning:", words.index("recorded")) + 1])
        assert dropped > 0 and dropped == missing, (dropped, missing, said())
        assert frames == told, (frames, told)
        reasons = [hole["reason"] for one in found for hole in one["gapList"]]
        assert any("No space left on device" in reason for reason in reasons), reasons
    print(f"filled and emptied: {len(found)} files, all intact, {frames} frames in them, {dropped} missing and counted")


if __name__ == "__main__":
    main()

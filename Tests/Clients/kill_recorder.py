"""Kills a recorder at random moments under load, and checks the files: see scripts/kill-recorder.

usage: kill_recorder.py COUNT PROGRAM [SECONDS]      SECONDS: the largest age of the newest line at the kill (default: 1)
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time


def market(path, frames):
    """Writes a recording in the plain form: 2,000 frames a second."""
    with open(path, "w", encoding="utf-8") as file:
        for number in range(frames):
            trades = [
                {"c": None, "p": 60000 + number % 1000, "s": "BINANCE:BTCUSDT", "t": 1723161255342 + number, "v": 0.01}
                for _ in range(3)
            ]
            frame = json.dumps({"data": trades, "type": "trade"}, separators=(",", ":"))
            file.write(json.dumps({"at": number * 500_000, "frame": frame}, separators=(",", ":")) + "\n")


def served(program, path, folder):
    """Starts the mock server; returns it and its port."""
    log = open(f"{folder}/serve.log", "a+", encoding="utf-8")
    server = subprocess.Popen(
        [program, "serve", path, "--plain", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, stdin=subprocess.DEVNULL
    )
    deadline = time.time() + 60
    while time.time() < deadline:
        log.seek(0)
        found = re.search(r"ws://127\.0\.0\.1:(\d+)", log.read())
        if found:
            return server, int(found[1])
        time.sleep(0.05)
    server.kill()
    raise SystemExit("the stand-in did not start")


def files_of(folder):
    return sorted(
        f"{folder}/{name}"
        for name in os.listdir(folder)
        if name.startswith("a") and (name.endswith(".jsonl") or name.endswith(".jsonl.zst"))
    )


def in_order(paths):
    return sorted(paths, key=lambda path: int((re.search(r"-(\d{4})\.", path) or [0, "1"])[1]))


def check(program, folder, killed):
    """Checks the files of a killed recorder; returns (frames, files, torn, lost seconds)."""
    paths = files_of(folder)
    plain = [path for path in paths if not (path.endswith(".zst") and path[:-4] in paths)]
    answer = subprocess.run(
        [program, "recording", "verify", "--json", *in_order(plain)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, (answer.returncode, answer.stderr, answer.stdout)
    found = [json.loads(line) for line in answer.stdout.splitlines()]
    assert len(found) == len(plain)
    for one in found:
        assert one["intact"] and one["missingLines"] == 0 and one["droppedFrames"] == 0, one
    # The next file is created before the last one is ended, so that the last one continues if that fails. A program that
    # is killed in between leaves a file without a complete line, after one without an end.
    if len(found) > 1 and found[-1]["lines"] == 0:
        found.pop()
    assert all(one["ended"] and one["tornAt"] is None for one in found[:-1]), found
    assert [one["segment"] for one in found] == list(range(1, len(found) + 1)), found
    last = max(one["lastWall"] for one in found if "lastWall" in one)
    return sum(one["frames"] for one in found), len(found), found[-1]["tornAt"] is not None, killed - last / 1e6


def main():
    count, program = int(sys.argv[1]), sys.argv[2]
    longest_loss = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    chance = random.Random(1)
    frames = files = torn = 0
    worst = 0.0
    environment = {**os.environ, "FINNHUB_TOKEN": "none-of-yours", "SWIFT_BACKTRACE": "enable=no"}
    with tempfile.TemporaryDirectory() as base:
        market(f"{base}/market.jsonl", 60_000)
        server, port = served(program, f"{base}/market.jsonl", base)
        try:
            for number in range(count):
                folder = f"{base}/{number}"
                os.mkdir(folder)
                recorder = subprocess.Popen(
                    [
                        program, "record", "--quiet", "--relay", "off", "--upstream", f"ws://127.0.0.1:{port}",
                        "--symbol", "BINANCE:BTCUSDT", "--set", "record.segment-size=1MiB", "--set",
                        "state.directory=off", f"{folder}/a.jsonl",
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment,
                )
                deadline = time.time() + 60
                # Under load, the first frames must be in the file.
                while time.time() < deadline and sum(map(os.path.getsize, files_of(folder))) < 2_000:
                    time.sleep(0.005)
                time.sleep(chance.random() * 2)
                killed = time.time()
                recorder.send_signal(signal.SIGKILL)
                recorder.wait()
                had, made, is_torn, lost = check(program, folder, killed)
                frames, files, torn = frames + had, files + made, torn + is_torn
                worst = max(worst, lost)
                assert had > 0 and lost < longest_loss, (number, had, lost)
                subprocess.run(["rm", "-r", folder], check=True)
        finally:
            server.terminate()
            server.wait()
    print(f"killed {count} times: {files} files, all intact, {torn} with a torn end, {frames} frames; "
          f"the youngest line was at most {worst * 1000:.0f} ms old")


if __name__ == "__main__":
    main()

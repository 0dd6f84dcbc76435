#!/usr/bin/env python3
"""Measures recording from outside: CPU a frame, the check's pace, the size on disk, and how long it takes to find a time.

usage: Benchmarks/recording.py PROGRAM [MEBIBYTES]      a release build; the size of the large recording, 1024

CPU a frame is the difference between a replay at full speed with and without --record, user and system time, median of
five pairs, over the frames. The large recording is the bundled one, again and again.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def cpu(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(arguments, runs=5):
    times = []
    for _ in range(runs):
        start = time.monotonic()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        times.append(time.monotonic() - start)
    return min(times)


def plain(path, size):
    """Writes the plain form of about so many bytes; answers with the frames, their bytes, and the time they take in s."""
    frames = []
    with open(f"{ROOT}/Sources/Tickertape/Resources/demo.jsonl", encoding="utf-8") as file:
        for line in file:
            found = json.loads(line)
            if "frame" in found:
                frames.append((found["at"], json.dumps(found["frame"]), len(found["frame"].encode())))
    span = frames[-1][0] + 1_000_000_000
    count = raw = written = shift = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"tickertape":1,"symbols":["BINANCE:BTCUSDT"],"start":1767225600000000000}\n')
        while written < size:
            for at, text, length in frames:
                line = f'{{"at":{shift + at},"frame":{text}}}\n'
                file.write(line)
                written += len(line)
                count += 1
                raw += length
            shift += span
    return count, raw, shift / 1e9


def main():
    program = sys.argv[1]
    size = int(sys.argv[2] if len(sys.argv) > 2 else 1024) << 20
    with tempfile.TemporaryDirectory() as folder:
        count, raw, _ = plain(f"{folder}/some.jsonl", 64 << 20)
        replay = [program, "replay", f"{folder}/some.jsonl", "--speed", "max", "--quiet", "--relay", "off"]
        costs = []
        for number in range(5):
            without = cpu(replay)
            recorded = cpu(replay + ["--set", "record.compress=false", "--record", f"{folder}/r{number}.jsonl"])
            costs.append((recorded - without) / count * 1e6)
        print(f"recording, CPU a frame of {raw / count:.0f} bytes: {statistics.median(costs):.2f} us "
              f"({min(costs):.2f} to {max(costs):.2f})")

        count, raw, span = plain(f"{folder}/plain.jsonl", size)
        large = f"{folder}/large.jsonl"
        subprocess.run([program, "recording", "repair", f"{folder}/plain.jsonl", large], check=True, stdout=subprocess.DEVNULL)
        os.remove(f"{folder}/plain.jsonl")
        length = os.path.getsize(large)
        best = timed([program, "recording", "verify", large], 3)
        print(f"verify: {length / best / 1e6:.0f} MB/s of {length / 1e6:.0f} MB")
        for part in (0.1, 0.5, 0.9):
            at = part * span
            best = timed(["sh", "-c", f"rm -f {folder}/c && exec {program} recording cut --from {at:.0f}s --to "
                          f"{at + 0.01:.2f}s {large} {folder}/c"])
            print(f"open and seek to {part:.0%} of {length / 1e6:.0f} MB, whole program: {best * 1000:.0f} ms")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Prints the functions that a trade runs through on its way from the service to the readers, the dearest first.

usage: hot_functions.py PROGRAM [--seconds 20] > ../scripts/hot-functions.txt

`scripts/build` lays them side by side in the program. A trade a millisecond finds the processor cold every time, and the
functions lie all over 28 MB of code: to look up where their pages are costs more than to run them. PROGRAM is a release by
`scripts/build`, which runs here under callgrind (Debian's valgrind): with a feed of the seeded market, ten readers of the
relay in each of its protocols, and a recording. (A screen draws ten times a second, not with every trade.) A function that the next compiler names otherwise stays where it
is, so the list may be old; made anew it is after changes on a trade's way.
"""
import argparse
import os
import re
import socket
import subprocess
import tempfile
import time

READERS = 10
# Of each wait, s. Under callgrind the program takes some fifty times as long.
LIMIT = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"not within {LIMIT} s: {what}")
        time.sleep(0.1)


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def costs(path, program):
    """Instructions by function of the program itself; callgrind writes each name once and then its number."""
    names, objects, cost = {}, {}, {}

    def name(table, text):
        number, _, text = re.fullmatch(r"(\(\d+\))( (.*))?", text).group(1, 2, 3)
        if text is not None:
            table[number] = text
        return table[number]

    function, where, is_call = None, None, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, separator, value = line.rstrip("\n").partition("=")
            if separator and key == "ob":
                where = name(objects, value)
            elif separator and key == "cob":
                name(objects, value)
            elif separator and key == "fn":
                # 'N at the end counts a recursion.
                function = name(names, value).split("'")[0]
            elif separator and key == "cfn":
                name(names, value)
            elif separator and key == "calls":
                is_call = True
            elif line[0].isdigit() or line[0] in "+-*":
                if not is_call and where == program:
                    cost[function] = cost.get(function, 0) + int(line.split()[1])
                is_call = False
    return cost


def profile(given, folder, program, readers):
    """What the functions cost with such readers at the relay."""
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": os.path.join(folder, "state")}
    upstream, relay = free_port(), free_port()
    started = []

    def start(*command, key="measured"):
        started.append(subprocess.Popen(command, env={**environment, "FINNHUB_TOKEN": key}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL))
        return started[-1]

    try:
        start(program, "serve", "--simulate", "--plain", "--rate", "200", "--listen", f"127.0.0.1:{upstream}")
        until(lambda: answers(upstream), "the stand-in listens")
        output = os.path.join(folder, f"callgrind.{relay}")
        measured = start(
            "valgrind", "--quiet", "--tool=callgrind", "--demangle=no", "--instr-atstart=no",
            f"--callgrind-out-file={output}", program, "--upstream", f"ws://127.0.0.1:{upstream}",
            "--relay", f"127.0.0.1:{relay}", "--record", os.path.join(folder, f"{relay}.jsonl"), "--quiet")
        until(lambda: answers(relay), "the relay listens")
        for number in range(READERS):
            address = f"ws://127.0.0.1:{relay}"
            if readers == "drop-in":
                start(program, "--upstream", address, "--relay", "off", "--format", "json", key=f"reader-{number}")
            else:
                start(program, "watch", address, "--format", "json")
        time.sleep(10)
        for state in ("on", "off"):
            subprocess.run(["callgrind_control", "--instr=" + state, str(measured.pid)], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(given.seconds if state == "on" else 0)
        measured.terminate()
        measured.wait(LIMIT)
        return costs(output, program)
    finally:
        for process in started:
            process.kill()
            process.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--seconds", type=int, default=20)
    given = arguments.parse_args()
    ordered = {}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "tickertape")
        # Without debug information callgrind says the names that the linker knows.
        subprocess.run(["strip", "--strip-debug", "-o", program, given.program], check=True)
        # What every trade goes through lies close together, and behind it what /v1/stream needs besides.
        for readers in ("drop-in", "stream"):
            cost = profile(given, folder, program, readers)
            for function in sorted(cost, key=lambda function: (-cost[function], function)):
                ordered.setdefault(function)
    print("# Functions in the order of what they cost on a trade's way: made by Benchmarks/hot_functions.py, for scripts/build.")
    print("\n".join(ordered))


if __name__ == "__main__":
    main()

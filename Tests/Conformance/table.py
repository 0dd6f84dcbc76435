"""Prints a report of the Autobahn suite as a table, and judges it.

usage: table.py REPORT_DIRECTORY EXPECTED_CASES

Exit status 0 when as many cases as expected were run and all are OK, those aside that are informational for everyone;
1 otherwise.
"""
from __future__ import print_function

import collections
import io
import json
import os
import sys

COLUMNS = ["OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED", "FAILED"]
# What a peer does there is its own choice; the suite has no right answer.
INFORMATIONAL = {"7.1.6", "7.13.1", "7.13.2"}


def main(directory, expected):
    try:
        with io.open(os.path.join(directory, "index.json"), encoding="utf-8") as file:
            agents = json.load(file)
    except (IOError, ValueError) as error:
        print("no report: {0}".format(error))
        return 1
    cases = {}
    for report in agents.values():
        cases.update(report)

    groups = collections.defaultdict(collections.Counter)
    bad = []
    for name in sorted(cases, key=lambda name: [int(part) for part in name.split(".")]):
        behaviour = cases[name]["behavior"]
        close = cases[name]["behaviorClose"]
        column = behaviour if behaviour in COLUMNS else "FAILED"
        groups[name.split(".")[0]][column] += 1
        is_excused = behaviour == "INFORMATIONAL" and name in INFORMATIONAL
        if not is_excused and (behaviour != "OK" or close not in ("OK", "INFORMATIONAL")):
            bad.append("{0} ({1}, close {2})".format(name, behaviour, close))

    row = "{0:>7}" + "".join("{%d:>15}" % (place + 1) for place in range(len(COLUMNS)))
    print(row.format("group", *[column.lower() for column in COLUMNS]))
    for group in sorted(groups, key=int):
        print(row.format(group, *[groups[group][column] or "" for column in COLUMNS]))
    print(row.format("all", *[sum(counts[column] for counts in groups.values()) for column in COLUMNS]))
    for line in bad:
        print("   bad: " + line)
    if len(cases) != expected:
        print("   {0} cases were run, not {1}".format(len(cases), expected))
    return 1 if bad or len(cases) != expected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))

"""Reads an exported CSV as a stranger would, and prints what is in it: rows, then the sum of all sizes, exactly.

usage: read_csv.py FILE
"""
import csv
import sys
from decimal import Decimal, getcontext

getcontext().prec = 60

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))

if "size" in rows[0]:
    total = sum(Decimal(row["size"]) for row in rows)
else:
    total = sum(Decimal(row["volume"]) for row in rows)
print(f"rows {len(rows)}")
print(f"total {total.normalize():f}")
print(f"columns {','.join(rows[0].keys())}")

"""Reads an exported CSV with the standard library, and prints its number of rows and the exact sum of all sizes.

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

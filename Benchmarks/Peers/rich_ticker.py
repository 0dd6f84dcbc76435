#!/usr/bin/env python3
"""A ticker as one writes it with rich and websockets: a live table, ten times a second, of what a relay sends in Finnhub's
protocol. usage: rich_ticker.py URL SYMBOL..."""
import json
import sys
import threading
import time

import rich.live
import rich.table
import websockets.sync.client

url, symbols = sys.argv[1], sys.argv[2:]
rows = {}


def read():
    with websockets.sync.client.connect(url) as connection:
        for symbol in symbols:
            connection.send(json.dumps({"type": "subscribe", "symbol": symbol}))
        for message in connection:
            for trade in json.loads(message).get("data", []):
                price, symbol = trade["p"], trade["s"]
                row = rows.setdefault(symbol, {"high": price, "low": price, "volume": 0.0, "trades": 0})
                row["price"], row["at"] = price, time.monotonic()
                row["high"], row["low"] = max(row["high"], price), min(row["low"], price)
                row["volume"] += trade["v"]
                row["trades"] += 1


def table():
    table = rich.table.Table("SYMBOL", "PRICE", "AGE", "HIGH", "LOW", "VOLUME", "TRADES")
    for symbol, row in sorted(rows.items()):
        table.add_row(
            symbol,
            f"{row['price']:.2f}",
            f"{time.monotonic() - row['at']:.0f} s",
            f"{row['high']:.2f}",
            f"{row['low']:.2f}",
            f"{row['volume']:.4f}",
            str(row["trades"]),
        )
    return table


threading.Thread(target=read, daemon=True).start()
with rich.live.Live(get_renderable=table, refresh_per_second=10, screen=True):
    while True:
        time.sleep(3600)

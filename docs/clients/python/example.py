"""Prints the trades of symbols, and where trades may be missing. usage: example.py URL SYMBOL..."""

import asyncio
import sys

from tickertape import Gap, Stream, Trade


async def main():
    async with Stream(sys.argv[1], sys.argv[2:], delivery="all") as stream:
        async for event in stream:
            match event:
                case Trade(symbol=symbol, price=price):
                    print(symbol, price, flush=True)
                case Gap(reason=reason):
                    print("gap:", reason, flush=True)


asyncio.run(main())

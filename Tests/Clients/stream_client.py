"""A client of /v1/stream on the `websockets` package: prints every message with its arrival (monotonic seconds)."""
import asyncio
import json
import sys
import time

import websockets


async def main():
    async with websockets.connect(sys.argv[1]) as ws:
        for symbol in sys.argv[2:]:
            await ws.send(json.dumps({"type": "subscribe", "symbol": symbol}))
        try:
            async for message in ws:
                print(json.dumps({"at": time.monotonic(), "message": json.loads(message)}), flush=True)
        except websockets.ConnectionClosedError as error:
            print(error, file=sys.stderr)
        print("### closed ###", ws.close_code, ws.close_reason, file=sys.stderr)


asyncio.run(main())

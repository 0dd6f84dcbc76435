"""A client of /v1/stream that wants every trade, and comes back with `since` when the connection ends: one line a message."""
import asyncio
import json
import sys

import websockets


def say(*words):
    print(*words, flush=True)


async def main():
    since = None
    epoch = None
    while True:
        url = f"{sys.argv[1]}?symbols=*&delivery=all" + (f"&since={since[0]}:{since[1]}" if since else "")
        hello = None
        try:
            async with websockets.connect(url, open_timeout=60) as ws:
                async for text in ws:
                    message = json.loads(text)
                    kind = message["type"]
                    if kind == "hello":
                        hello = message["epoch"]
                        # What is caught up with belongs to the run that was left, until a gap names the next one.
                        epoch = since[0] if since else hello
                    elif kind == "gap":
                        epoch = message.get("epoch") or epoch
                    elif kind == "resumed":
                        epoch = hello
                    elif kind == "trade":
                        since = (epoch, message["seq"])
                        say("trade", since[0], since[1], message["price"])
                        continue
                    if kind in ("hello", "gap", "resumed", "skipped", "error"):
                        say(kind, text)
                say("closed", ws.close_code, ws.close_reason)
        except (OSError, EOFError, websockets.WebSocketException) as error:
            say("lost", type(error).__name__)
            await asyncio.sleep(0.05)


asyncio.run(main())

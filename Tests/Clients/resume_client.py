"""Reads every trade of /v1/stream, reconnects with `since` after a disconnection, and prints one line per message.

    resume_client.py URL [COUNT]      leaves after COUNT trades, and reconnects on SIGUSR1
"""
import asyncio
import json
import signal
import sys

import websockets


def say(*words):
    print(*words, flush=True)


async def main():
    since = None
    epoch = None
    left = int(sys.argv[2]) if len(sys.argv) > 2 else -1
    again = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, again.set)
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
                        # The trades of the catch-up belong to the previous run, until a gap names the next one.
                        epoch = since[0] if since else hello
                    elif kind == "gap":
                        epoch = message.get("epoch") or epoch
                    elif kind == "resumed":
                        epoch = hello
                    elif kind == "trade":
                        since = (epoch, message["seq"])
                        say("trade", since[0], since[1], message["price"])
                        left -= 1
                        if left == 0:
                            break
                        continue
                    if kind in ("hello", "gap", "resumed", "skipped", "error"):
                        say(kind, text)
                if left == 0:
                    await ws.close()
                    left = -1
                    say("left")
                    await again.wait()
                    continue
                say("closed", ws.close_code, ws.close_reason)
        except (OSError, EOFError, websockets.WebSocketException) as error:
            say("lost", type(error).__name__)
            await asyncio.sleep(0.05)


asyncio.run(main())

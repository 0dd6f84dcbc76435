"""A client of /v1/stream that wants every trade, and comes back with `since` when the connection ends: one line a message.

    resume_client.py URL [COUNT]      leaves after COUNT trades, and comes back with SIGUSR1
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
                        # What is caught up with belongs to the run that was left, until a gap names the next one.
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

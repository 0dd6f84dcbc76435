"""What the documentation needs of websocat: lines of standard input are messages to a WebSocket server, and its messages
are lines of standard output.

usage: websocat.py URL
"""
import asyncio
import sys

import websockets


async def main():
    async with websockets.connect(sys.argv[1], proxy=None) as connection:

        async def send():
            loop = asyncio.get_running_loop()
            while line := await loop.run_in_executor(None, sys.stdin.readline):
                await connection.send(line.rstrip("\n"))

        sending = asyncio.create_task(send())
        async for message in connection:
            print(message, flush=True)
        sending.cancel()


asyncio.run(main())

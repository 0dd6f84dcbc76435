#!/usr/bin/env python3
"""A user of a room.

usage: room_client.py URL USER [MESSAGE...]

It prints every message of the relay, and ends when its own messages have come back; without any, after the first message.
"""
import asyncio
import json
import sys

from websockets.asyncio.client import connect


async def main(url, user, messages):
    async with connect(url) as socket:
        print(await socket.recv(), flush=True)
        for message in messages:
            await socket.send(json.dumps({"message": message, "user": user}))
        left = len(messages)
        while left:
            text = await socket.recv()
            print(text, flush=True)
            event = json.loads(text)
            if event["type"] == "error":
                sys.exit(1)
            left -= event["type"] == "message" and event["user"] == user


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))

#!/usr/bin/env python3
"""Passes the bytes of connections on to another port, and reports each connection.

usage: counting_proxy.py FROM-HOST:PORT TO-HOST:PORT

Standard output has an event a line, with the time on the monotonic clock:
  {"at":S,"event":"listening","port":P}
  {"at":S,"event":"open","connection":N,"peer":ADDRESS}
  {"at":S,"event":"close","connection":N,"peer":ADDRESS}    the first of the two sides has ended it
The end of standard input ends it.
"""

import asyncio, json, sys, time


def say(event, **members):
    print(json.dumps({"at": time.monotonic(), "event": event, **members}), flush=True)


async def main(here, there):
    count = 0

    async def copy(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass

    async def take(reader, writer):
        nonlocal count
        count += 1
        members = {"connection": count, "peer": writer.get_extra_info("peername")[0]}
        say("open", **members)
        writers = [writer]
        try:
            other, onward = await asyncio.open_connection(*there.rsplit(":", 1))
            writers.append(onward)
            ways = [asyncio.ensure_future(copy(reader, onward)), asyncio.ensure_future(copy(other, writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            say("close", **members)
            await asyncio.wait(ways, timeout=1)
        except OSError:
            say("close", **members)
        for one in writers:
            one.transport.abort()

    server = await asyncio.start_server(take, *here.rsplit(":", 1))
    say("listening", port=server.sockets[0].getsockname()[1])
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main(*sys.argv[1:]))

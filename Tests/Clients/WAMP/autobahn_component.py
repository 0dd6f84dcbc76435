#!/usr/bin/env python3
"""A component of autobahn-python that subscribes whenever its session opens, and so again after each reconnect.

usage: autobahn_component.py URL TOPIC SESSIONS

It prints `joined` for each session and each event as JSON, and ends after the first event of the last session.
"""

import asyncio
import json
import sys

from autobahn.asyncio.component import Component

url, topic, sessions = sys.argv[1], sys.argv[2], int(sys.argv[3])


async def main():
    loop = asyncio.get_running_loop()
    component = Component(
        transports=[{"type": "websocket", "url": url, "serializers": ["json"], "max_retries": -1, "max_retry_delay": 2}],
        realm="tickertape",
    )
    ended = loop.create_future()
    joined = 0

    @component.on_join
    async def join(session, details):
        nonlocal joined
        joined += 1
        print("joined", flush=True)

        def event(message):
            print(json.dumps(message), flush=True)
            if joined == sessions and not ended.done():
                ended.set_result(None)

        await session.subscribe(event, topic)

    component.start(loop=loop)
    await asyncio.wait_for(ended, 60)
    # Autobahn ends a component by its loop alone.
    sys.exit(0)


asyncio.run(main())

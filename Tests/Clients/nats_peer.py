#!/usr/bin/env python3
"""A NATS client on nats-py, with which this program's own client exchanges messages.

usage: nats_peer.py URL

It prints "ready" when its subscriptions are known to the server, and then does what messages ask for:
  python.echo   answers with the payload and the headers, and one more header
  python.send   publishes as many messages on python.out.N as the payload says, and answers after the last
  python.ask    requests swift.echo with the payload, and prints the answer
  python.key    reads KEY of the bucket B, whose names and a new value are the payload "B KEY VALUE", answers with its
                revision and value, and writes the new value, expecting that revision
  swift.out.N   counts it; swift.out.end prints the count and the sum of the payloads' lengths
"""

import asyncio
import sys

import nats


async def main(url):
    client = await nats.connect(url, max_reconnect_attempts=-1, reconnect_time_wait=0.1)
    counts = {"messages": 0, "bytes": 0}

    async def echo(message):
        headers = dict(message.headers or {})
        headers["Peer"] = "python"
        await client.publish(message.reply, message.data, headers=headers)

    async def send(message):
        for number in range(int(message.data)):
            await client.publish(f"python.out.{number}", str(number).encode(), headers={"Number": str(number)})
        await client.publish(message.reply, b"sent")

    async def ask(message):
        answer = await client.request("swift.echo", message.data, timeout=20)
        print("answer", answer.data.decode(), answer.headers, flush=True)

    async def key(message):
        bucket, name, value = message.data.decode().split()
        store = await client.jetstream().key_value(bucket)
        entry = await store.get(name)
        revision = await store.update(name, value.encode(), last=entry.revision)
        await client.publish(message.reply, f"{entry.revision} {entry.value.decode()} {revision}".encode())

    async def count(message):
        if message.subject == "swift.out.end":
            print("received", counts["messages"], counts["bytes"], flush=True)
        else:
            counts["messages"] += 1
            counts["bytes"] += len(message.data)

    await client.subscribe("python.echo", cb=echo)
    await client.subscribe("python.send", cb=send)
    await client.subscribe("python.ask", cb=ask)
    await client.subscribe("python.key", cb=key)
    await client.subscribe("swift.out.>", cb=count)
    await client.flush()
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1]))

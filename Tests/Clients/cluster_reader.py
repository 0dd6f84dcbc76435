#!/usr/bin/env python3
"""Prints a cluster's trades, each once and in order, with nats-py (docs/cluster.md): cluster_reader.py [SERVER] [NAME]"""
import asyncio, json, sys, nats


async def main(server="nats://127.0.0.1:4222", name="main"):
    cluster = await nats.connect(server, max_reconnect_attempts=-1)
    arrived, place = asyncio.Queue(100_000), {"epoch": 0, "frame": 0, "seq": 0}
    for kind in ("tape", "beat"):
        await cluster.subscribe(f"tickertape.{name}.{kind}", cb=arrived.put)

    def take(messages):
        for message in messages:
            if message["type"] in ("frame", "snapshot"):
                place.update({key: message[key] for key in place})
            elif message["type"] in ("trade", "gap", "status"):
                print(place["epoch"], *message.values(), flush=True)

    async def ask(kind, **request):
        text = json.dumps({"type": kind, **request}).encode()
        while True:
            try:
                answer = await cluster.request(f"tickertape.{name}.{kind}", text, timeout=2)
                return [json.loads(line) for line in answer.data.splitlines()]
            except nats.errors.Error:  # There is no ingest, no connection, or no answer in time.
                await asyncio.sleep(0.5)

    async def join(**after):
        head, *state = await ask("snapshot", epoch=place["epoch"], **after)
        if "upTo" in head:  # The further parts come first here, so that the place is that of the first part.
            await join(after=head["upTo"])
        take([head, *state])

    await join()
    while True:
        head, *messages = [json.loads(line) for line in (await arrived.get()).data.splitlines()]
        if head["epoch"] > place["epoch"] and "afterEpoch" not in head:
            print("gap: another ingest has taken over", flush=True)
            place.update(epoch=head["epoch"], frame=0, seq=0)
        while (place["epoch"], place["frame"]) < (head["epoch"], head["frame"] - (head["type"] == "frame")):
            answer, *missed = await ask("history", **place)
            take(missed)
            if not answer["complete"]:
                print("gap: frames are lost", flush=True)
                await join()
        if (head["epoch"], head["frame"]) == (place["epoch"], place["frame"] + 1):
            take([head, *messages])


asyncio.run(main(*sys.argv[1:]))

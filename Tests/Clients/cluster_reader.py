#!/usr/bin/env python3
"""Prints the trades of a cluster, each once and in order, from NATS alone (docs/cluster.md).

usage: cluster_reader.py [nats://127.0.0.1:4222] [NAME]      needs nats-py
"""
import asyncio, json, sys

import nats


async def main(server="nats://127.0.0.1:4222", name="main"):
    cluster = await nats.connect(server)
    subject = f"tickertape.{name}."
    frames = asyncio.Queue(100_000)
    await cluster.subscribe(subject + "tape", cb=frames.put)
    await cluster.subscribe(subject + "beat", cb=frames.put)
    place = None

    def show(head, lines):
        for line in lines:
            message = json.loads(line)
            if message["type"] == "trade":
                print(head["epoch"], message["seq"], message["symbol"], message["price"], message["size"], flush=True)
            elif message["type"] in ("gap", "status"):
                print(message["type"], message.get("state", ""), message.get("reason") or "", flush=True)

    async def ask(kind, request):
        answer = await cluster.request(subject + kind, json.dumps(request).encode(), timeout=2)
        first, *lines = answer.data.decode().splitlines()
        return json.loads(first), lines

    async def join(epoch):
        start, part = None, {"upTo": None}
        while "upTo" in part:
            after = {"after": part["upTo"]} if start else {}
            part, state = await ask("snapshot", {"type": "snapshot", "epoch": epoch, **after})
            start = start or part
            show(part, state)
        return start

    while True:
        head, *lines = (await frames.get()).data.decode().splitlines()
        head = json.loads(head)
        if place is None or head["epoch"] > place["epoch"]:
            print("joined" if place is None else "gap: another ingest has taken over", flush=True)
            place = await join(head["epoch"])
            continue
        if head["epoch"] < place["epoch"]:
            continue
        while head["frame"] > place["frame"] + (head["type"] == "frame"):
            known = {key: place[key] for key in ("epoch", "frame", "seq")}
            answer, missed = await ask("history", {"type": "history", **known})
            starts = [at for at, line in enumerate(missed) if line.startswith('{"type":"frame"')]
            if not answer["complete"] or not starts:
                print("gap: frames are lost", flush=True)
                place = await join(head["epoch"])
                break
            for at, end in zip(starts, starts[1:] + [len(missed)]):
                place = json.loads(missed[at])
                show(place, missed[at + 1 : end])
        if head["type"] == "frame" and head["frame"] == place["frame"] + 1:
            place = head
            show(head, lines)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

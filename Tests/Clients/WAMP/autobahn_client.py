#!/usr/bin/env python3
"""Two sessions of autobahn-python with one router, which may be a relay's /wamp or another program's.

usage: autobahn_client.py URL json|msgpack|cbor [--feed SYMBOL]

It publishes, subscribes, registers and calls from one session to the other, and ends by itself: with status 0 and a line
for each step, or with 1 and what went wrong. With --feed it asks for the topics and procedures of tickertape's feed as well.
"""

import argparse
import asyncio
import os
import sys

from autobahn.asyncio.wamp import ApplicationSession
from autobahn.asyncio.websocket import WampWebSocketClientFactory
from autobahn.wamp import serializer
from autobahn.wamp.exception import ApplicationError
from autobahn.wamp.types import CallOptions, ComponentConfig, PublishOptions, RegisterOptions, SubscribeOptions
from autobahn.websocket.util import parse_url

SERIALIZERS = {
    "json": serializer.JsonSerializer,
    "msgpack": serializer.MsgPackSerializer,
    "cbor": serializer.CBORSerializer,
}
PATIENCE = 20


class Session(ApplicationSession):
    """A session that says when it is open and why it has ended."""

    def __init__(self, config):
        super().__init__(config)
        loop = asyncio.get_running_loop()
        self.opened = loop.create_future()
        self.ended = loop.create_future()

    def onJoin(self, details):
        self.opened.set_result(details)

    def onUserError(self, failure, message):
        """Says nothing: the procedures here fail on purpose, and the caller looks at that."""

    def onLeave(self, details):
        if not self.opened.done():
            self.opened.set_exception(RuntimeError(f"{details.reason}: {details.message}"))
        if not self.ended.done():
            self.ended.set_result(details)
        self.disconnect()


async def connect(url, kind, realm="tickertape"):
    """Opens a session; returns it with the details of its WELCOME."""
    secure, host, port, *_ = parse_url(url)
    sessions = []

    def make():
        sessions.append(Session(ComponentConfig(realm, None)))
        return sessions[0]

    factory = WampWebSocketClientFactory(make, url=url, serializers=[SERIALIZERS[kind]()])
    loop = asyncio.get_running_loop()
    factory.loop = loop
    await loop.create_connection(factory, host, port, ssl=secure or None)
    for _ in range(PATIENCE * 100):
        if sessions:
            break
        await asyncio.sleep(0.01)
    return sessions[0], await asyncio.wait_for(sessions[0].opened, PATIENCE)


class Inbox:
    """The events of one subscription."""

    def __init__(self):
        self.queue = asyncio.Queue()

    def __call__(self, *arguments, details=None, **keywords):
        self.queue.put_nowait((arguments, keywords, details))

    async def next(self):
        return await asyncio.wait_for(self.queue.get(), PATIENCE)


def check(name, holds):
    if not holds:
        raise AssertionError(name)
    print(f"ok: {name}", flush=True)


async def refused(name, uri, call):
    try:
        await call
    except ApplicationError as error:
        return check(f"{name}: {uri}", error.error == uri)
    raise AssertionError(f"{name} was not refused")


async def between_clients(first, second):
    """What any router does."""
    inbox = Inbox()
    exact = await first.subscribe(inbox, "com.example.chat")
    await second.publish("com.example.chat", "hi", 7, key=None, options=PublishOptions(acknowledge=True))
    arguments, keywords, _ = await inbox.next()
    check("an event comes with its arguments", arguments == ("hi", 7) and keywords == {"key": None})
    await first.publish("com.example.chat", "own", options=PublishOptions(acknowledge=True))
    await first.publish("com.example.chat", "mine", options=PublishOptions(acknowledge=True, exclude_me=False))
    check("a publisher gets its own event only if it asks", (await inbox.next())[0] == ("mine",))
    prefix = Inbox()
    await first.subscribe(prefix, "com.example", SubscribeOptions(match="prefix", details=True))
    wildcard = Inbox()
    await first.subscribe(wildcard, "com..chat", SubscribeOptions(match="wildcard", details=True))
    await second.publish("com.example.chat", {"a": [1.5, "ü", b"\x00\x01"]}, options=PublishOptions(acknowledge=True))
    for name, matched in (("prefix", prefix), ("wildcard", wildcard)):
        arguments, _, details = await matched.next()
        check(f"a {name} subscription gets the topic's name", details.topic == "com.example.chat")
        check("values come as they were", arguments == ({"a": [1.5, "ü", b"\x00\x01"]},))
    await inbox.next()
    await exact.unsubscribe()
    await second.publish("com.example.chat", "late", options=PublishOptions(acknowledge=True))
    await prefix.next()
    check("after unsubscribing nothing comes", inbox.queue.empty())

    async def count(limit, details=None):
        for number in range(limit):
            if details.progress:
                details.progress(number)
        return limit

    async def fails():
        raise ApplicationError("com.example.error", "no", code=3)

    async def sleeps():
        await asyncio.sleep(PATIENCE)

    registration = await first.register(count, "com.example.count", RegisterOptions(details=True))
    await first.register(fails, "com.example.fails")
    await first.register(sleeps, "com.example.sleeps")
    check("a call has a result", await second.call("com.example.count", 3) == 3)
    progress = []
    result = await second.call("com.example.count", 3, options=CallOptions(on_progress=progress.append))
    check("progressive results come in order", progress == [0, 1, 2] and result == 3)
    try:
        await second.call("com.example.fails")
        raise AssertionError("the failure is lost")
    except ApplicationError as error:
        check("a failure comes with its arguments", error.args == ("no",) and error.kwargs == {"code": 3})
    waiting = second.call("com.example.sleeps")
    await asyncio.sleep(0.2)
    waiting.cancel()
    await asyncio.sleep(0.2)
    check("a canceled call disturbs no other", await second.call("com.example.count", 1) == 1)
    await refused("a procedure twice", "wamp.error.procedure_already_exists", second.register(fails, "com.example.fails"))
    await registration.unregister()
    await refused("a call of nothing", "wamp.error.no_such_procedure", second.call("com.example.count", 1))
    check("the sessions are counted", await second.call("wamp.session.count") >= 2)


async def feed(session, symbol):
    """The topics and procedures of tickertape."""
    prices, trades, status, everything = Inbox(), Inbox(), Inbox(), Inbox()
    subscription = await session.subscribe(prices, f"tickertape.price.{symbol}")
    await session.subscribe(trades, f"tickertape.trades.{symbol}")
    await session.subscribe(status, "tickertape.status")
    await session.subscribe(everything, "tickertape.price.", SubscribeOptions(match="prefix", details=True))
    check("the status comes at once", (await status.next())[0][0]["type"] == "status")
    first = (await prices.next())[0][0]
    check("the first price is a snapshot", first["type"] == "snapshot" and first["symbol"] == symbol)
    sequences = [(await trades.next())[0][0]["seq"] for _ in range(20)]
    check("trades come in order", sequences == sorted(set(sequences)))
    second = (await prices.next())[0][0]
    if second["type"] == "snapshot":
        # The prefix subscription came after trades that were not shown yet, so all subscriptions got a snapshot.
        second = (await prices.next())[0][0]
    check("prices go on", second["type"] == "price")
    check("a prefix names the topic", (await everything.next())[2].topic.startswith("tickertape.price."))
    snapshot = await session.call("tickertape.snapshot", symbol)
    check("a snapshot has the symbol", snapshot["symbol"] == symbol)
    check("all snapshots are a list", symbol in [one["symbol"] for one in await session.call("tickertape.snapshot")])
    check("the symbols are known", symbol in [one["symbol"] for one in await session.call("tickertape.symbols")])
    check("trades are answered", len((await session.call("tickertape.trades", symbol, 5))["trades"]) == 5)
    bars = await session.call("tickertape.bars", symbol=symbol, width="1s", limit=3)
    check("bars are answered", bars["width"] == "1s" and 1 <= len(bars["bars"]) <= 3)
    await refused("an unknown symbol", "tickertape.error.no_such_symbol", session.call("tickertape.trades", "NO:SUCH"))
    await refused("another topic", "tickertape.error.no_such_topic", session.subscribe(prices, "tickertape.other"))
    await refused(
        "publishing a price",
        "wamp.error.not_authorized",
        session.publish(f"tickertape.price.{symbol}", 1, options=PublishOptions(acknowledge=True)),
    )
    await refused("registering", "wamp.error.not_authorized", session.register(check, "tickertape.snapshot"))
    await subscription.unsubscribe()


async def main(options):
    first, welcome = await connect(options.url, options.serializer)
    print(f"session {welcome.session} in {welcome.realm}, {type(first._transport._serializer).__name__}")
    second, _ = await connect(options.url, options.serializer)
    await between_clients(first, second)
    if options.feed:
        await feed(second, options.feed)
        try:
            await connect(options.url, options.serializer, realm="other")
            raise AssertionError("another realm was accepted")
        except RuntimeError as error:
            check("another realm is refused", "wamp.error.no_such_realm" in str(error))
    for session in (first, second):
        session.leave()
        details = await asyncio.wait_for(session.ended, PATIENCE)
        check("the end is agreed on", details.reason in ("wamp.close.goodbye_and_out", "wamp.close.normal"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("serializer", choices=SERIALIZERS)
    parser.add_argument("--feed", metavar="SYMBOL")
    try:
        asyncio.run(asyncio.wait_for(main(parser.parse_args()), 120))
        print("ok")
    except BaseException as error:
        print(f"failed: {type(error).__name__} {error}", file=sys.stderr, flush=True)
        os._exit(1)

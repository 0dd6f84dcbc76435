#!/usr/bin/env python3
"""Checks what each role of config/cluster/nats-server.conf may do, with a server of its own. Needs nats-py.

usage: nats_permissions.py NATS-SERVER [CONFIG]

Prints a line for each check, and "all as expected" at the end. Exit status: 0 that, 1 something else is allowed or
refused.
"""

import asyncio, json, pathlib, re, subprocess, sys, tempfile, time

import nats

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config" / "cluster" / "nats-server.conf"
PASSWORDS = {role: f"password-of-{role}" for role in ("ingest", "edge", "reader")}

INGEST = [
    "tickertape.main.tape", "tickertape.main.beat", "tickertape.main.prices.0", "$KV.tickertape.finnhub",
    "$JS.API.STREAM.CREATE.KV_tickertape",
]  # fmt: skip
EDGE = [
    "tickertape.main.snapshot", "tickertape.main.history", "tickertape.main.wanted.edge-1", "tickertape.main.members",
]  # fmt: skip
# What a role may publish, and what it must not.
PUBLISHES = {
    "ingest": (
        [*INGEST, *EDGE, "_INBOX.a.b", "_INBOX.members.a"],
        ["$JS.API.STREAM.DELETE.KV_tickertape", "$KV.other.key", "$SYS.REQ.SERVER.PING"],
    ),
    "edge": (
        [*EDGE, "_INBOX.members.a"],
        [
            *INGEST,
            "_INBOX.a.b",
            "$JS.API.STREAM.DELETE.KV_tickertape",
            "$JS.API.STREAM.MSG.GET.KV_tickertape",
            "_INBOX.ingest.a.b",
            "$SYS.REQ.SERVER.PING",
        ],
    ),
    "reader": (
        ["tickertape.main.snapshot", "tickertape.main.history"],
        [*INGEST, "tickertape.main.wanted.edge-1", "_INBOX.a.b"],
    ),
}
SUBSCRIBES = {
    "ingest": (
        ["_INBOX.ingest.a.*", "tickertape.main.wanted.*", "tickertape.main.snapshot", "tickertape.main.tape"],
        [">", "$KV.>"],
    ),
    "edge": (
        ["tickertape.main.tape", "tickertape.main.beat", "tickertape.main.members"],
        [">", "tickertape.main.>", "$KV.tickertape.>", "_INBOX.ingest.>"],
    ),
    "reader": (
        ["tickertape.main.tape", "tickertape.main.prices.0"],
        [">", "tickertape.main.wanted.*", "_INBOX.ingest.>"],
    ),
}


def configure(config, folder, passwords):
    """Writes the configuration for a server on a free port of 127.0.0.1, with these passwords; returns its path."""
    text = config.read_text()
    text = re.sub(r"^listen: .*$", 'listen: "127.0.0.1:-1"', text, flags=re.MULTILINE)
    text = text.replace('store_dir: "/var/lib/nats"', f'store_dir: "{folder}/jetstream"')
    lines = [f'{role.upper()}_PASSWORD: "{password}"\n' for role, password in passwords.items()]
    (folder / "nats-passwords.conf").write_text("".join(lines))
    path = folder / "nats-server.conf"
    path.write_text(text)
    return path


class Role:
    """A connection of a role, and what the server has refused to it."""

    def __init__(self, name):
        self.name, self.refusals = name, []

    async def connect(self, address):
        self.client = await nats.connect(
            address, user=self.name, password=PASSWORDS[self.name], error_cb=self.refused, allow_reconnect=False
        )
        return self

    async def refused(self, error):
        self.refusals.append(str(error))

    async def is_allowed(self, act):
        before = len(self.refusals)
        await act
        await self.client.flush()
        # The refusal comes before the answer to the flush, and its callback runs soon after.
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        return len(self.refusals) == before


async def check(address):
    wrong = 0
    roles = {name: await Role(name).connect(address) for name in PUBLISHES}

    def line(is_right, words):
        nonlocal wrong
        wrong += not is_right
        print(f"{'ok  ' if is_right else 'FAIL'}  {words}", flush=True)

    for verb, table in (("publish", PUBLISHES), ("subscribe to", SUBSCRIBES)):
        for name, (allowed, forbidden) in table.items():
            for subject in allowed + forbidden:
                client = roles[name].client
                act = client.publish(subject, b"{}") if verb == "publish" else client.subscribe(subject)
                may = await roles[name].is_allowed(act)
                line(may == (subject in allowed), f"{name} {'may' if may else 'may not'} {verb} {subject}")

    # Messages arrive only from those who may send them.
    heard = []

    async def hear(message):
        heard.append(message.data)

    await roles["reader"].client.subscribe("tickertape.main.tape", cb=hear)
    await roles["reader"].client.flush()
    await roles["edge"].client.publish("tickertape.main.tape", b"from an edge")
    await roles["edge"].client.flush()

    # A request to oneself, whose answer would be a frame.
    async def answer(message):
        await message.respond(b"from an edge by an answer")

    await roles["edge"].client.subscribe("tickertape.main.members", cb=answer)
    await roles["edge"].client.publish("tickertape.main.members", b"{}", reply="tickertape.main.tape")
    await roles["edge"].client.flush()
    await asyncio.sleep(0.1)
    await roles["edge"].client.flush()
    await roles["ingest"].client.publish("tickertape.main.tape", b"from the ingest")
    await roles["ingest"].client.flush()
    deadline = time.monotonic() + 10
    while b"from the ingest" not in heard and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    line(
        heard[-1:] == [b"from the ingest"] and len(set(heard)) == 1, f"a reader of the tape heard {sorted(set(heard))}"
    )

    # The lease: an ingest has the bucket, and an edge cannot change it.
    stream = {"name": "KV_tickertape", "subjects": ["$KV.tickertape.>"], "max_msgs_per_subject": 1, "storage": "file"}
    ingest = roles["ingest"].client
    made = json.loads((await ingest.request("$JS.API.STREAM.CREATE.KV_tickertape", json.dumps(stream).encode())).data)
    line("error" not in made, f"an ingest makes the bucket: {made.get('error', 'made')}")
    stored = json.loads((await ingest.request("$KV.tickertape.lab", b"held")).data)
    line(stored.get("seq") == 1, f"an ingest writes a key: {stored}")
    await roles["edge"].client.publish("$KV.tickertape.lab", b"taken")
    await roles["edge"].client.flush()
    question = json.dumps({"last_by_subj": "$KV.tickertape.lab"}).encode()
    read = json.loads((await ingest.request("$JS.API.STREAM.MSG.GET.KV_tickertape", question)).data)
    line(read["message"]["seq"] == 1, f"an edge has not written it: revision {read['message']['seq']}")
    try:
        await nats.connect(address, allow_reconnect=False, error_cb=roles["edge"].refused)
        line(False, "a client without a password is connected")
    except nats.errors.Error as error:
        line(True, f"a client without a password is refused: {error}")
    for role in roles.values():
        await role.client.close()
    return wrong


def main():
    server, config = sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else CONFIG
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = configure(config, folder, PASSWORDS)
        with open(folder / "log", "w") as log:
            process = subprocess.Popen([server, "-c", path], stdin=subprocess.DEVNULL, stderr=log, stdout=log)
        try:
            deadline = time.monotonic() + 20
            while not (found := re.search(r"client connections on (127\.0\.0\.1:\d+)", (folder / "log").read_text())):
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit((folder / "log").read_text())
                time.sleep(0.02)
            wrong = asyncio.run(check(f"nats://{found[1]}"))
        finally:
            process.kill()
            process.wait()
    print("all as expected" if not wrong else f"{wrong} checks failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

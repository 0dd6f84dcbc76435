// A client of Tickertape's /v1/stream that keeps its place: it reconnects, resumes after the last trade, and reports
// what is missing as events. For browsers and node 22; for node 18 and 20 with a WebSocket class such as that of `ws`.
//
//     for await (const event of new Tickertape("ws://127.0.0.1:8080/v1/stream", { symbols: ["BINANCE:BTCUSDT"] }))
//         if (event.event === "price") console.log(event.symbol, event.price);
//
// Prices and sizes are exact decimal texts; integers beyond 2^53 are BigInts. tickertape.d.mts has the types of the
// options and events. A browser hides why a handshake was refused: there the client retries where elsewhere it fails.

const MAX_MESSAGE = 1 << 20;
const FINAL = new Set([400, 401, 403, 404, 421, 1002, 1003, 1007, 1008, 1009]); // Waiting does not cure these.

// The members of a message that its event has: i an integer, s a text, d a decimal, b a boolean, o ids, a a list, f a flag
// (true or false). With : it is needed, with :? needed but may be null, with ? it is null if absent or wrong.
const MEMBERS = new Map(Object.entries({
    hello: "epoch:?i seq:?i", trades: "symbol:s seq:i trades:i",
    snapshot: "symbol:s price:d size:d seq:i skipped?i received:i age?i",
    price: "symbol:s price:d size:d seq:i skipped?i received:i",
    trade: "symbol:s seq:i price:d size:d time:i received:i id?s ahead?f possibleRepeat?f filled?f",
    gap: "from?i to:i reason?s cause?s symbol?s nextSeq:i epoch:i missing?o",
    skipped: "trades:i from:i to:i", resumed: "epoch:i from:i to:i trades:i complete:b",
    venueDay: "symbol:s open?d high:d low:d last:d change?d volume:d received:i",
    status: "state:s reason?s cause?s", symbol: "symbol:s state:s reason?s", replay: "at:i paused:b",
    bar: "symbol:s width:s start:i open:d high:d low:d close:d volume?s vwap?s trades:i closed:b incomplete:b",
    error: "code?s msg:s", subscribed: "", pong: "", settled: "symbol:s from:i to:i missing?o lost:a reason?s",
}).map(([type, text]) => [type, (text.match(/\S+/g) ?? []).map((each) => each.split(/([:?]+)/))]));
const CHECKS = {
    i: (value) => typeof value === "bigint" || Number.isSafeInteger(value), s: (value) => typeof value === "string",
    d: (value) => typeof value === "string" && /^-?[0-9]+([.][0-9]+)?$/.test(value), f: (value) => value === true,
    b: (value) => typeof value === "boolean", o: (value) => typeof value?.first === "string", a: Array.isArray,
};
const integer = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));
const sum = (one, other) => integer(String(BigInt(one) + BigInt(other)));

// Integers beyond 2^53 are set aside as marked texts and become BigInts. A message with such numbers gets a mark of
// chance, so no text in it is taken for one.
export function parse(text) {
    if (!/\d{17}|9\d{15}/.test(text)) return JSON.parse(text);
    const mark = `${Math.random()}:`;
    const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
        /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token);
    return JSON.parse(marked, (_, value) =>
        typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value);
}

export const toNumber = (decimal) => Number(decimal);

/** Returns a message's event; null if its type is not known. */
function eventOf(message) {
    if (typeof message?.type !== "string") throw new TypeError("not an object with a type");
    if (!MEMBERS.has(message.type)) return null;
    const event = { event: message.type };
    for (const [name, need, check] of MEMBERS.get(message.type)) {
        const isRight = CHECKS[check](message[name]);
        const isNeeded = need === ":" || (need === ":?" && message[name] !== null);
        if (isNeeded && !isRight) throw new TypeError(`${message.type} with a wrong ${name}`);
        event[name] = isRight ? message[name] : check === "f" ? false : null;
    }
    return event;
}

export class Tickertape {
    place = null;
    hello = null;
    #url; #options; #symbols; #Socket; #listener = null;
    #socket = null; #attempt = 0; #failures = 0; #pings = 0; #timer = 0; #isClosed = false;
    #helloAt = null; // when this connection's hello came, monotonic ms
    #live = null; // the epoch of the trades that come now
    #isResuming = false;
    #newest = new Map(); // the number of each symbol's newest trade, in the epoch of the place
    #arrivals = new Map(); // the arrival of each symbol's newest price, monotonic ms
    #queue = []; #isPaused = false; #wake = () => {};

    constructor(url, options = {}) {
        const backoff = { firstMs: 250, maxMs: 30_000, ...options.backoff };
        this.#options = { delivery: "latest", silenceMs: 30_000, maxQueued: 10_000, ...options, backoff };
        this.#url = url;
        this.#symbols = options.symbols ? new Set(options.symbols) : undefined; // everything
        this.#Socket = options.WebSocket ?? globalThis.WebSocket;
        if (this.#Socket === undefined) throw new TypeError("no WebSocket here: pass a class as options.WebSocket");
        const [epoch, seq] = options.since?.split(":").map(integer) ?? [];
        if (seq !== undefined) this.place = { epoch, seq };
    }

    start(listener) {
        if (this.#listener !== null) throw new Error("started already");
        this.#listener = listener;
        this.#connect();
    }

    async *[Symbol.asyncIterator]() {
        this.start((event) => this.#wake(this.#queue.push(event)));
        try {
            while (!this.#isClosed || this.#queue.length > 0) {
                yield* this.#queue.splice(0);
                if (this.#isClosed || this.#queue.length > 0) continue;
                if (this.#isPaused) this.#connect();
                await new Promise((resolve) => (this.#wake = resolve));
            }
        } finally {
            this.close();
        }
    }

    close() {
        const socket = this.#socket;
        this.#end();
        if (socket === null) return Promise.resolve();
        return new Promise((resolve) => {
            const timer = setTimeout(resolve, 1000);
            socket.onclose = () => resolve(clearTimeout(timer));
            socket.close(1000);
        });
    }

    age(symbol) {
        const arrival = this.#arrivals.get(symbol);
        return Number.isFinite(arrival) ? Math.round(performance.now() - arrival) : null;
    }

    subscribe(...symbols) {
        if (this.#symbols === undefined) return;
        const added = this.#bounded(symbols.filter((each) => !this.#symbols.has(each)), this.#symbols.size);
        for (const each of added) this.#symbols.add(each);
        if (this.#helloAt !== null && added.length > 0) this.#request(added);
    }

    unsubscribe(...symbols) {
        const left = symbols.filter((each) => this.#symbols?.delete(each));
        for (const all of [this.#newest, this.#arrivals]) for (const each of left) all.delete(each);
        if (this.#helloAt !== null && left.length > 0) this.#send({ type: "unsubscribe", symbols: left });
    }

    #bounded(names, present = 0) {
        const limit = this.hello?.limits?.symbols;
        const room = Math.max(0, (typeof limit === "number" && limit > 0 ? limit : Infinity) - present);
        const message = `the relay allows ${limit} symbols; left out: ${names.slice(room).join(", ")}`;
        if (names.length > room) this.#emit({ event: "error", code: "too-many-symbols", message });
        return names.slice(0, room);
    }

    // The connection

    #connect() {
        const { token } = this.#options; // A browser cannot send headers.
        const protocols = token === undefined ? [] : ["tickertape.v1.json", `bearer.${token}`];
        [this.#isPaused, this.#attempt] = [false, this.#attempt + 1];
        const socket = this.#socket = new this.#Socket(this.#url, protocols, { maxPayload: MAX_MESSAGE });
        const when = (handler) => (...all) => { if (this.#socket === socket) handler(...all); };
        socket.binaryType = "arraybuffer";
        socket.onopen = when(() => this.#emit({ event: "connected", attempt: this.#attempt }));
        socket.onmessage = when(({ data }) => this.#received(data));
        // After an error no close frame comes, and some classes do not report the close.
        socket.onerror = when(({ message }) => this.#disconnected(null, message || "the connection failed"));
        socket.onclose = when(({ code, reason }) => this.#disconnected(code === 1006 ? null : code, reason));
        // Only `ws` shows the answer that refused the handshake.
        socket.on?.("unexpected-response", when((request, { statusCode, statusMessage, headers }) => {
            const retryAfter = Number(headers["retry-after"]) * 1000 || 0;
            this.#disconnected(null, `HTTP ${statusCode} ${statusMessage}`, FINAL.has(statusCode), retryAfter);
            request.destroy();
        }));
        this.#listen(false);
    }

    /** Waits for a message; if none comes asks for one, and if none comes then either, reconnects. */
    #listen(hasAsked) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            if (hasAsked) return this.#drop("nothing came, not even the answer to a ping");
            if (this.#socket.readyState === 1) this.#send({ type: "ping", id: (this.#pings += 1) });
            this.#listen(true);
        }, this.#options.silenceMs);
    }

    #drop(reason, code) {
        const socket = this.#socket;
        this.#disconnected(null, reason);
        if (code === undefined && socket.terminate) return socket.terminate(); // Nobody would answer a close frame.
        try { socket.close(code ?? 1000); } catch { socket.close(code + 3000); } // Browsers allow 1000 and 3000 on.
    }

    #disconnected(code, reason, isFinal = FINAL.has(code), retryAfter = 0) {
        const { firstMs, maxMs } = this.#options.backoff;
        if (this.#helloAt !== null && performance.now() - this.#helloAt >= Math.min(maxMs, 10_000)) this.#failures = 0;
        clearTimeout(this.#timer);
        this.#socket = this.#helloAt = null;
        const missed = code === 1013 ? /^too slow: (\d+) trades missed/.exec(reason) : null;
        if (missed !== null) this.#emit({ event: "missed", trades: integer(missed[1]) });
        this.#emit({ event: "disconnected", code, reason, retry: !isFinal });
        if (isFinal) this.#end(this.#emit({ event: "failed", message: reason || `closed with ${code}` }));
        if (this.#isPaused || this.#isClosed) return;
        const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures++, 30));
        const delay = Math.max(Math.random() * ceiling, Math.min(retryAfter, maxMs));
        this.#timer = setTimeout(() => this.#connect(), delay);
    }

    #end() {
        this.#isClosed = true;
        this.#socket = this.#helloAt = null;
        clearTimeout(this.#timer);
        this.#wake();
    }

    #emit(event) { if (!this.#isClosed) this.#listener(event); }
    #send(message) { this.#socket.send(JSON.stringify(message)); }

    #received(data) {
        this.#listen(false);
        if (data.length > MAX_MESSAGE) return this.#drop("a message of more than 1 MiB", 1009);
        let message, event;
        try {
            if (typeof data !== "string") throw new TypeError("a binary message");
            message = parse(data);
            event = eventOf(message);
            const isHello = event?.event === "hello";
            if (event && isHello === (this.#helloAt !== null)) throw new TypeError(`${event.event} at a wrong time`);
        } catch (error) {
            return this.#emit({ event: "protocol-error", message: error.message });
        }
        if (event !== null) this.#take(event, message);
        if (this.#queue.length <= this.#options.maxQueued || this.#socket === null) return;
        // Nothing is lost: the relay keeps the trades, and the client resumes once these events are read.
        this.#isPaused = true;
        this.#drop(`${this.#queue.length} events wait to be read`, 1000);
    }

    #take(event, message) {
        const { event: type, symbol, epoch, seq } = event;
        switch (type) {
        case "subscribed": case "pong": return;
        case "hello": return this.#greeted(event, message);
        case "trade": return this.#traded(event);
        case "snapshot": case "price": case "trades":
            this.#reach(this.#live, seq, seq); // Prices are always of the present run.
            this.#arrivals.set(symbol, performance.now() - (type === "snapshot" ? Number(event.age ?? NaN) : 0));
            if (type === "trades") return this.#emit({ ...event, event: "activity" });
            event.skipped ??= 0;
            return this.#emit({ age: null, ...event, event: "price", snapshot: type === "snapshot" });
        case "gap":
            this.#emit(event);
            if (symbol !== null || epoch === this.place?.epoch) return;
            if (!this.#isResuming || epoch > this.#live) this.#live = epoch;
            return this.#reach(epoch, event.nextSeq > 0 ? sum(event.nextSeq, -1) : 0, null);
        case "resumed":
            this.#reach(epoch, event.to, sum(event.to, 1));
            [this.#live, this.#isResuming] = [epoch, false];
            return this.#emit(event);
        case "error": return this.#emit({ event: type, code: event.code, message: event.msg });
        default: return this.#emit(event);
        }
    }

    #greeted({ epoch, seq }, message) {
        const since = this.place === null ? undefined : `${this.place.epoch}:${this.place.seq}`;
        this.hello = message;
        this.#helloAt = performance.now();
        [this.#live, this.#isResuming] = [epoch, since !== undefined && this.#symbols?.size !== 0];
        if (since === undefined) this.#reach(epoch, seq ?? 0, null);
        this.#emit({ event: "hello", epoch, seq, state: message.status?.state ?? null });
        const names = this.#symbols && this.#bounded([...this.#symbols]);
        if (this.#socket === null || names?.length === 0) return;
        if (this.#options.overflow !== undefined) this.#send({ type: "overflow", policy: this.#options.overflow });
        this.#request(names, since);
    }

    /** Subscribes; JSON leaves out what is undefined. */
    #request(symbols, since) {
        const { delivery, every, bars } = this.#options;
        this.#send({ type: "subscribe", symbols, delivery, every, since });
        if (bars !== undefined) this.#send({ type: "subscribe", symbols, bars });
    }

    #traded(event) {
        const { symbol, seq } = event;
        // While an earlier run is resumed, its trades have numbers beyond the place.
        const epoch = this.#isResuming && seq > this.place.seq ? this.place.epoch : this.#live;
        if (epoch === (this.place?.epoch ?? null) && seq <= (this.#newest.get(symbol) ?? -1)) {
            if (this.#isResuming) return; // The resume brings it again.
            return this.#emit({ event: "protocol-error", message: `trade ${seq} of ${symbol} comes again` });
        }
        this.#reach(epoch, seq, seq);
        this.#newest.set(symbol, seq);
        const now = performance.now(); // A resumed trade is older, by the relay's own clock; a filled one is no price.
        const arrival = this.#helloAt + Number(event.received) / 1000 - Number(this.hello.time);
        if (!event.filled) this.#arrivals.set(symbol, this.#isResuming && arrival < now ? arrival : now);
        this.#emit({ ...event, epoch });
    }

    /** Moves the place forward; to another epoch with a gap, if the relay sent none: then `nextSeq` is not null. */
    #reach(epoch, seq, nextSeq) {
        const known = this.place;
        if (epoch === null || (epoch === known?.epoch && seq <= known.seq)) return;
        this.place = { epoch, seq };
        if (epoch === known?.epoch) return;
        this.#newest.clear(); // Numbers begin anew.
        if (known === null || nextSeq === null) return;
        const gap = { event: "gap", from: null, to: this.hello.time ?? 0, reason: "the relay was restarted" };
        this.#emit({ ...gap, cause: "epoch", symbol: null, nextSeq, epoch });
    }
}

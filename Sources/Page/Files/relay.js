// A connection to the relay: opens it, detects when it is dead, and opens it again. It knows no symbols.

// With this policy a slow client continues with the newest prices and receives the count of the trades it missed.
const stream = { path: "/v1/stream?overflow=latest", greeting: "hello", pings: true };
const subprotocol = "tickertape.v1.json";
const openLimit = 5000; // ms until the greeting
const silence = 2000; // ms without a message until a ping
const answerLimit = 2000; // ms from a ping until any message must have arrived
const firstDelay = 500;
const longestDelay = 15_000;
const mostWaiting = 256; // messages that wait to be taken
const stableAfter = 5000; // ms after which an ended connection resets the backoff
const sleepAfter = 10_000; // ms by which the wall clock must run ahead of the monotonic one after a sleep

export class RelayConnection {
    /**
     * @param hooks message(object, now): a message that arrived at `now`, the greeting first; changed(): the state has
     *     changed; interrupted(lastMessageAt): an open connection ended; waiting(): messages wait for `take()`, if this
     *     hook is there: many at once cost a fraction of as many one by one.
     * @param endpoint path: with the query; greeting: the type of the first message; pings: whether the endpoint
     *     answers pings, by which a silent connection is found to be dead.
     */
    constructor(hooks, { path, greeting, pings } = stream) {
        this.hooks = hooks;
        this.path = path;
        this.greeting = greeting;
        this.pings = pings;
        // connecting | open | waiting | token | closed
        this.state = "connecting";
        this.attempt = 0;
        this.retryAt = 0;
        this.reason = null;
        this.token = null;
        this.wasTokenRefused = false;
        this.socket = null;
        this.startedAt = 0;
        this.openedAt = 0;
        this.lastMessageAt = 0;
        this.askedAt = null;
        // The messages that wait, with their arrivals: [data, now].
        this.queue = [];
        this.clocks = Date.now() - performance.now();
    }

    /** Opens a connection in place of the present one. */
    connect() {
        this.#drop();
        this.state = "connecting";
        this.startedAt = performance.now();
        this.askedAt = null;
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const offers = this.token === null ? [subprotocol] : [subprotocol, `bearer.${this.token}`];
        let socket;
        try {
            socket = new WebSocket(`${scheme}//${location.host}${this.path}`, offers);
        } catch {
            this.#needToken("This token has characters that cannot be sent.");
            return;
        }
        this.socket = socket;
        socket.onmessage = (event) => { if (this.socket === socket) this.#received(event.data); };
        socket.onclose = (event) => { if (this.socket === socket) this.#closed(event); };
        this.hooks.changed();
    }

    send(request) {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(request));
    }

    useToken(token) {
        this.token = token;
        this.attempt = 0;
        this.connect();
    }

    /** Ends the connection until the next `connect()`. */
    close() {
        this.#drop();
        this.state = "closed";
        this.attempt = 0;
        this.reason = null;
        this.hooks.changed();
    }

    /** Handles the messages that wait. */
    take() {
        const waiting = this.queue;
        if (waiting.length === 0) return;
        this.queue = [];
        const { socket } = this;
        for (const [data, at] of waiting) {
            if (this.socket === socket) this.#handle(data, at);
        }
    }

    /** Handles the messages that wait, and checks the deadlines; must be called a few times a second. */
    tick(now) {
        this.take();
        const clocks = Date.now() - now;
        const slept = clocks - this.clocks > sleepAfter;
        this.clocks = clocks;
        switch (this.state) {
        case "connecting":
            if (now - this.startedAt > openLimit) this.#fail(`no answer within ${openLimit / 1000} s`);
            break;
        case "open":
            if (slept) {
                this.#fail("this device slept");
            } else if (!this.pings) {
                break;
            } else if (this.askedAt !== null) {
                if (now - this.askedAt > answerLimit) this.#fail(`no message from the relay for ${(silence + answerLimit) / 1000} s`);
            } else if (now - this.lastMessageAt > silence) {
                this.askedAt = now;
                this.send({ type: "ping", id: "page" });
            }
            break;
        case "waiting":
            if (now >= this.retryAt) this.connect();
            break;
        case "token": case "closed":
            break;
        }
    }

    /** Ends the wait for a retry when the page is shown again or the network is back. */
    wake() {
        if (this.state === "waiting" && performance.now() - this.startedAt > 1000) this.connect();
    }

    #received(data) {
        const now = performance.now();
        this.lastMessageAt = now;
        this.askedAt = null;
        this.queue.push([data, now]);
        if (this.state === "open" && this.hooks.waiting !== undefined && this.queue.length < mostWaiting) this.hooks.waiting();
        else this.take();
    }

    #handle(data, now) {
        let message;
        try {
            message = JSON.parse(data);
        } catch {
            return this.#fail("the relay sent invalid JSON");
        }
        if (message === null || typeof message !== "object") return;
        if (message.type === this.greeting) {
            this.state = "open";
            this.openedAt = now;
            this.reason = null;
            this.hooks.message(message, now);
            this.hooks.changed();
        } else if (this.state === "open") {
            this.hooks.message(message, now);
        }
    }

    #closed(event) {
        const { socket } = this;
        this.take();
        if (this.socket !== socket) return; // ended by a message
        if (this.state === "open" || event.reason !== "") {
            const text = event.reason !== "" ? event.reason : event.code === 1006 ? "the connection was lost" : `closed with ${event.code}`;
            return this.#fail(text);
        }
        // A browser does not report why a WebSocket was refused. A request for the status over HTTP finds the reason.
        this.socket = null;
        this.#askWhy().then((answer) => {
            if (this.state !== "connecting" || this.socket !== null) return; // another attempt is under way
            if (answer.needsToken) {
                this.#needToken(this.token === null ? null : "The relay does not accept this token.");
            } else {
                this.#fail(answer.reason);
            }
        });
    }

    async #askWhy() {
        try {
            const headers = this.token === null ? {} : { Authorization: `Bearer ${this.token}` };
            const response = await fetch("/v1/status", { headers, cache: "no-store", signal: AbortSignal.timeout(3000) });
            if (response.status === 401) return { needsToken: true };
            if (response.ok) return { needsToken: false, reason: "the relay did not open the connection" };
            const refusal = await response.json();
            return { needsToken: false, reason: String(refusal.message ?? `status ${response.status}`) };
        } catch {
            return { needsToken: false, reason: navigator.onLine ? "the relay does not answer" : "this device is offline" };
        }
    }

    #needToken(problem) {
        this.wasTokenRefused = problem !== null;
        this.reason = problem;
        this.state = "token";
        this.#drop();
        this.hooks.changed();
    }

    #fail(reason) {
        const now = performance.now();
        const wasOpen = this.state === "open";
        this.#drop();
        if (wasOpen && now - this.openedAt > stableAfter) this.attempt = 0;
        this.attempt += 1;
        const longest = Math.min(longestDelay, firstDelay * 2 ** Math.min(this.attempt - 1, 10));
        // Half of the delay is random, so that many pages do not reconnect at once.
        this.retryAt = now + longest * (0.5 + Math.random() / 2);
        this.reason = reason;
        this.state = "waiting";
        if (wasOpen) this.hooks.interrupted(this.lastMessageAt);
        this.hooks.changed();
    }

    #drop() {
        const socket = this.socket;
        this.socket = null;
        this.queue = [];
        if (socket === null) return;
        socket.onmessage = socket.onclose = null;
        socket.close();
    }
}

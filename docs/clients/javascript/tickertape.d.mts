// The types of tickertape.mjs. Those of the messages are made from docs/asyncapi.yaml.
import type { HelloMessage } from "./messages";

/** A Number up to 2^53, a BigInt beyond. */
export type Integer = number | bigint;
export type Place = { epoch: Integer; seq: Integer };

export interface Options {
    /** null or absent for everything */
    symbols?: string[] | null;
    /** absent: "latest" */
    delivery?: "latest" | "all" | "every";
    /** the interval of "every": "250ms", or milliseconds */
    every?: string | number;
    /** also subscribe to bars */
    bars?: "1s" | "1m" | "5m" | "1h";
    /** what happens when this client is too slow */
    overflow?: "latest" | "close";
    /** EPOCH:SEQ, the `place` that an earlier run kept */
    since?: string;
    /** the relay's token, sent as a subprotocol */
    token?: string;
    /** 250 and 30,000 */
    backoff?: { firstMs?: number; maxMs?: number };
    /** 30,000: without a message for this long the client asks, for twice this long it reconnects */
    silenceMs?: number;
    /** 10,000: with more events unread by `for await` the client disconnects until they are read */
    maxQueued?: number;
    /** a class for node 18 and 20, such as that of the package ws */
    WebSocket?: new (url: string, protocols?: string[], options?: any) => any;
}

/** Times are milliseconds since 1970, `received` microseconds. */
export type Event =
    | { event: "connected"; attempt: number }
    | { event: "hello"; epoch: Integer | null; seq: Integer | null; state: string }
    | { event: "price"; symbol: string; price: string; size: string; seq: Integer; skipped: Integer; snapshot: boolean;
        received: Integer; age: number | null }
    | { event: "trade"; symbol: string; seq: Integer; epoch: Integer | null; price: string; size: string; time: Integer;
        received: Integer; id: string | null; ahead: boolean; possibleRepeat: boolean; filled: boolean }
    | { event: "activity"; symbol: string; seq: Integer; trades: Integer }
    | { event: "gap"; from: Integer | null; to: Integer; reason: string; cause: string | null; symbol: string | null;
        nextSeq: Integer; epoch: Integer; missing: { first: string; last: string; count: string } | null }
    | { event: "settled"; symbol: string; from: Integer; to: Integer;
        missing: { first: string; last: string; count: string } | null;
        lost: { first: string; last: string; count: string }[]; reason: string | null }
    | { event: "venueDay"; symbol: string; open: string | null; high: string; low: string; last: string;
        change: string | null; volume: string; received: Integer }
    | { event: "skipped"; trades: Integer; from: Integer; to: Integer }
    | { event: "resumed"; epoch: Integer; from: Integer; to: Integer; trades: Integer; complete: boolean }
    | { event: "status"; state: string; reason: string | null; cause: string | null }
    | { event: "symbol"; symbol: string; state: string; reason: string | null }
    | { event: "bar"; symbol: string; width: string; start: Integer; open: string; high: string; low: string;
        close: string; volume: string | null; vwap: string | null; trades: Integer; closed: boolean;
        incomplete: boolean }
    | { event: "replay"; at: Integer; paused: boolean }
    | { event: "error"; code: string; message: string }
    | { event: "protocol-error"; message: string }
    | { event: "missed"; trades: Integer }
    | { event: "disconnected"; code: number | null; reason: string; retry: boolean }
    | { event: "failed"; message: string };

/** JSON with exact integers. */
export function parse(text: string): any;
/** The nearest Number of an exact decimal, to show or draw it. */
export function toNumber(decimal: string): number;

export class Tickertape {
    constructor(url: string, options?: Options);
    /** where to resume, for `since` of a later run: `${epoch}:${seq}` */
    place: Place | null;
    /** the newest hello, with the relay's limits */
    hello: HelloMessage | null;
    /** Connects, and calls the listener with each event, in order. */
    start(listener: (event: Event) => void): void;
    /** Connects, and gives each event, in order, until `failed` or close(). */
    [Symbol.asyncIterator](): AsyncGenerator<Event>;
    /** Follows more symbols. */
    subscribe(...symbols: string[]): void;
    /** Stops following symbols, and forgets them. */
    unsubscribe(...symbols: string[]): void;
    /** Milliseconds since a symbol's newest price arrived at the relay, by monotonic clocks; null if unknown. */
    age(symbol: string): number | null;
    /** Ends the connection with 1000; resolves when it is closed, or after a second. */
    close(): Promise<void>;
}

// The messages of /v1/stream. Made by make_messages.py from docs/asyncapi.yaml; do not edit.

/** An exact decimal as text. */
export type Decimal = string;

/** A number within 2^53, and a BigInt beyond. */
export type Integer = number | bigint;

/** The object resume. */
export interface Resume {
  trades: Integer;
  seconds: Integer;
}

/** The object limits. */
export interface Limits {
  symbols: Integer;
  messageBytes: Integer;
  waitingBytes: Integer;
  waitingMessages: Integer;
  requestBurst: Integer;
  requestsPerSecond: Integer;
  /** ms */
  everyMin: Integer;
  /** ms */
  everyMax: Integer;
}

/** The object statusObject. */
export interface StatusObject {
  state: "connecting" | "waiting" | "live" | "late" | "stale" | "reconnecting" | "rate-limited" | "key-rejected" | "key-in-use" | "no-such-symbol" | "not-permitted" | "ended" | "stopped";
  /** ms since 1970 */
  since: Integer;
  reason: string | null;
  source: "live" | "replay" | "demo" | "simulated";
  file: string | null;
  speed: number | null;
  certificateChecked: boolean;
  cause: string | null;
  paused?: boolean;
  seed?: string;
  via?: string;
  attempt?: Integer;
  /** ms since 1970 */
  retryAt?: Integer;
}

/** The object replayObject. */
export interface ReplayObject {
  /** ms since 1970 */
  start: Integer;
  /** ms since 1970; null for a simulated market without an end */
  end: Integer | null;
  /** ms since 1970 */
  at: Integer;
  /** null if there is no end */
  percent: number | null;
  speed: unknown;
  paused: boolean;
}

/** The object symbolObject. */
export interface SymbolObject {
  symbol: string;
  /** exact */
  price?: Decimal;
  /** exact */
  size?: Decimal;
  /** ms since 1970 */
  time?: Integer;
  /** us since 1970 */
  received?: Integer;
  seq?: Integer;
  /** exact */
  open?: Decimal;
  /** exact */
  high?: Decimal;
  /** exact */
  low?: Decimal;
  /** exact; null if it is incomplete */
  volume?: Decimal | null;
  trades?: Integer;
  age?: Integer;
  state: "asked" | "live" | "quiet" | "no-such-symbol" | "not-permitted" | "over-limit" | "released";
}

/** The object gapOverlapBounds. */
export interface GapOverlapBounds {
  least: Integer;
  most: Integer;
}

/** The object gapMissing. */
export interface GapMissing {
  first: string;
  last: string;
  count: string;
}

/** The first message of a connection: the limits, the status and the symbols. */
export interface HelloMessage {
  type: "hello";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  protocol: "tickertape.v1";
  version: string;
  epoch: Integer | null;
  seq: Integer | null;
  oldest: Integer | null;
  /** the oldest kept trade of an earlier run, EPOCH:SEQ */
  earliest?: string;
  /** The limits of how far since reaches back. */
  resume: Resume;
  limits: Limits;
  /** ms since 1970 */
  time: Integer;
  status: StatusObject;
  replay?: ReplayObject;
  symbols: SymbolObject[];
}

/** The newest price of a symbol that was just subscribed to, or of which single trades were missed. */
export interface SnapshotMessage {
  type: "snapshot";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  /** exact */
  price: Decimal;
  /** exact */
  size: Decimal;
  /** ms since 1970 */
  time: Integer;
  /** us since 1970 */
  received: Integer;
  seq: Integer;
  skipped: Integer;
  /** exact */
  open: Decimal;
  /** exact */
  high: Decimal;
  /** exact */
  low: Decimal;
  /** exact; null if it is incomplete */
  volume: Decimal | null;
  trades: Integer;
  /** the price is that of a trade that is ahead */
  ahead?: true;
  /** ms since it arrived */
  age?: Integer;
}

/** A new price; skipped is the number of trades left out since the one before. */
export interface PriceMessage {
  type: "price";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  /** exact */
  price: Decimal;
  /** exact */
  size: Decimal;
  /** ms since 1970 */
  time: Integer;
  /** us since 1970 */
  received: Integer;
  seq: Integer;
  skipped: Integer;
  /** exact */
  open: Decimal;
  /** exact */
  high: Decimal;
  /** exact */
  low: Decimal;
  /** exact; null if it is incomplete */
  volume: Decimal | null;
  trades: Integer;
  /** the price is that of a trade that is ahead */
  ahead?: true;
}

/** Trades came while the debounced price stood still. */
export interface TradesMessage {
  type: "trades";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  /** exact */
  price: Decimal;
  /** exact */
  size: Decimal;
  /** ms since 1970 */
  time: Integer;
  /** us since 1970 */
  received: Integer;
  seq: Integer;
  skipped: Integer;
  /** exact */
  open: Decimal;
  /** exact */
  high: Decimal;
  /** exact */
  low: Decimal;
  /** exact; null if it is incomplete */
  volume: Decimal | null;
  trades: Integer;
  /** the price is that of a trade that is ahead */
  ahead?: true;
}

/** One trade, for clients with delivery all. */
export interface TradeMessage {
  type: "trade";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  seq: Integer;
  /** exact */
  price: Decimal;
  /** exact */
  size: Decimal;
  /** ms since 1970 */
  time: Integer;
  /** us since 1970 */
  received: Integer;
  /** the venue's own number of the trade; absent if the source sends none */
  id?: string;
  /** the time is later than the arrival by more than clocks explain */
  ahead?: true;
  /** it equals one that came within 2 s or before a gap, and may be that one; otherwise absent */
  possibleRepeat?: true;
  /** it was missing and came after newer trades: it is no price and changes no age; otherwise absent */
  filled?: true;
}

/** The state of the feed. */
export interface StatusMessage {
  type: "status";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  state: "connecting" | "waiting" | "live" | "late" | "stale" | "reconnecting" | "rate-limited" | "key-rejected" | "key-in-use" | "no-such-symbol" | "not-permitted" | "ended" | "stopped";
  /** ms since 1970 */
  since: Integer;
  reason: string | null;
  source: "live" | "replay" | "demo" | "simulated";
  file: string | null;
  speed: number | null;
  certificateChecked: boolean;
  cause: string | null;
  paused?: boolean;
  seed?: string;
  via?: string;
  attempt?: Integer;
  /** ms since 1970 */
  retryAt?: Integer;
}

/** The state of one symbol. */
export interface SymbolMessage {
  type: "symbol";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  state: "asked" | "live" | "quiet" | "no-such-symbol" | "not-permitted" | "over-limit" | "released";
  /** ms since 1970 */
  since: Integer;
  reason: string | null;
  /** ms since 1970 */
  retryAt?: Integer;
}

/** Between from and to trades may be missing. */
export interface GapMessage {
  type: "gap";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  /** ms since 1970; null if unknown */
  from: Integer | null;
  /** ms since 1970 */
  to: Integer;
  reason: string;
  nextSeq: Integer;
  epoch: Integer;
  /** an estimate of the trades after the gap that likely came before it; null if nothing could be compared */
  overlap: Integer | null;
  cause: string | null;
  /** the bounds of the true number; present if trades were compared */
  overlapBounds?: GapOverlapBounds;
  symbol?: string;
  /** the venue's numbers of missing trades of the symbol, all from first to last, and how many */
  missing?: GapMissing;
}

/** What became of a gap: each of its missing trades came later, or is lost for good; without missing, none was. */
export interface SettledMessage {
  type: "settled";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  /** ms since 1970 */
  from: Integer;
  /** ms since 1970 */
  to: Integer;
  /** the venue's numbers of missing trades of the symbol, all from first to last, and how many */
  missing?: GapMissing;
  /** the trades that stay missing for good, in ascending order; empty if all came */
  lost: GapMissing[];
  /** why the lost ones cannot be had; null if none is lost */
  reason: string | null;
}

/** The venue's own figures of a symbol's last 24 hours, which are not the session's. */
export interface VenueDayMessage {
  type: "venueDay";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  /** exact */
  open?: Decimal;
  /** exact */
  high: Decimal;
  /** exact */
  low: Decimal;
  /** exact */
  last: Decimal;
  /** exact */
  change?: Decimal;
  /** exact */
  volume: Decimal;
  /** us since 1970 */
  received: Integer;
}

/** The answer to a subscribe; symbols is null for everything. */
export interface SubscribedMessage {
  type: "subscribed";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbols: string[] | null;
  delivery: "latest" | "all" | "every" | "bars";
  /** ms */
  every?: Integer;
  bars?: "1s" | "1m" | "5m" | "1h";
}

/** The end of a resume after since. */
export interface ResumedMessage {
  type: "resumed";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  epoch: Integer;
  from: Integer;
  to: Integer;
  trades: Integer;
  complete: boolean;
}

/** The number of trades left out for a client that was too slow and goes on. */
export interface SkippedMessage {
  type: "skipped";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  trades: Integer;
  from: Integer;
  to: Integer;
}

/** A bar of a symbol, sent when it is over, and before that at most once a second. */
export interface BarMessage {
  type: "bar";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  symbol: string;
  width: "1s" | "1m" | "5m" | "1h";
  /** ms since 1970 */
  start: Integer;
  /** exact */
  open: Decimal;
  /** exact */
  high: Decimal;
  /** exact */
  low: Decimal;
  /** exact */
  close: Decimal;
  /** exact; null if it is incomplete */
  volume: Decimal | null;
  /** null if nothing was traded */
  vwap: Decimal | null;
  trades: Integer;
  /** its time is over; a late trade can still change it, and then it comes again */
  closed: boolean;
  /** some of its trades may be missing; false again, with revised, once all trades have come of all gaps that touched it */
  incomplete: boolean;
  /** it was closed before and has changed since; otherwise absent */
  revised?: true;
  /** the number of its trades that may have been counted before; absent if 0 */
  possibleRepeats?: Integer;
}

/** The answer to a ping. */
export interface PongMessage {
  type: "pong";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  /** ms since 1970 */
  time: Integer;
  /** the id of the ping; absent if it had none */
  id?: unknown;
}

/** A request that cannot be met. */
export interface ErrorMessage {
  type: "error";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  msg: string;
  code: "invalid-message" | "unknown-type" | "bad-delivery" | "bad-every" | "bad-since" | "bad-overflow" | "bad-id" | "bad-bars" | "invalid-symbol" | "too-many-symbols" | "no-such-symbol" | "not-permitted" | "over-limit" | "refused" | "rate-limited" | "busy" | "not-a-replay" | "replay-control-off" | "replay-refused";
}

/** A replay was paused or resumed, or its speed or place changed. Times are the recording's own clock. */
export interface ReplayMessage {
  type: "replay";
  /** grows from message to message; holes are messages to other clients */
  n: Integer;
  /** ms since 1970 */
  start: Integer;
  /** ms since 1970; null for a simulated market without an end */
  end: Integer | null;
  /** ms since 1970 */
  at: Integer;
  /** null if there is no end */
  percent: number | null;
  speed: unknown;
  paused: boolean;
}

/** Subscribes to the named symbols, or to everything without a name. */
export interface SubscribeRequest {
  type: "subscribe";
  symbol?: string;
  symbols?: string[];
  delivery?: "latest" | "all" | "every";
  every?: unknown;
  since?: string;
  bars?: "1s" | "1m" | "5m" | "1h";
}

/** Unsubscribes from the named symbols, or from everything. */
export interface UnsubscribeRequest {
  type: "unsubscribe";
  symbol?: string;
  symbols?: string[];
  bars?: "1s" | "1m" | "5m" | "1h" | "all";
}

/** Sets the policy for this client when it is too slow. */
export interface OverflowRequest {
  type: "overflow";
  policy: "latest" | "close";
}

/** Asks for a pong. */
export interface PingRequest {
  type: "ping";
  /** any JSON of at most 256 bytes; the pong repeats it */
  id?: unknown;
}

/** Commands a replay, if relay.replay-control allows it. */
export interface ReplayRequest {
  type: "replay";
  request: "pause" | "resume" | "toggle" | "speed" | "faster" | "slower" | "step" | "seek";
  speed?: unknown;
  messages?: Integer;
  time?: string;
  to?: string;
}

export type Message =
  | HelloMessage
  | SnapshotMessage
  | PriceMessage
  | TradesMessage
  | TradeMessage
  | StatusMessage
  | SymbolMessage
  | GapMessage
  | SettledMessage
  | VenueDayMessage
  | SubscribedMessage
  | ResumedMessage
  | SkippedMessage
  | BarMessage
  | PongMessage
  | ErrorMessage
  | ReplayMessage;

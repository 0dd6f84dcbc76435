#ifndef RECEIVERS_H
#define RECEIVERS_H

#include <stdint.h>

// The clients of a relay in all its protocols, and the trades that are sent to the relay, on one thread that never
// sleeps: so no send of the relay pays for waking a receiver. Each trade has a number, which its time contains.

/// How a client's bytes are written.
enum receiver_protocol {
    RECEIVER_FINNHUB,
    RECEIVER_STREAM,
    RECEIVER_WAMP_JSON,
    RECEIVER_WAMP_MSGPACK,
    RECEIVER_WAMP_CBOR,
    RECEIVER_LINES,
    RECEIVER_LINES_JSON,
    RECEIVER_PROTOCOLS,
};

/// What a client expects.
enum receiver_kind {
    /// Every trade.
    RECEIVER_TRADES,
    /// Every trade, but it reads nothing while trades are sent.
    RECEIVER_SLOW,
    /// The newest price, with the number of trades that were left out.
    RECEIVER_PRICES,
    RECEIVER_KINDS,
};

/// What the clients of one protocol and kind got.
struct receiver_figures {
    int members;
    /// The trades, or prices, that they received in this phase.
    int64_t delivered;
    /// The trades that came again, or after a later one, since the clients came.
    int64_t repeated;
    /// The trades that are missing between the first of each client and the last that was sent, and were not reported.
    int64_t missing;
    /// The trades that were reported as missed or left out.
    int64_t reported;
    /// The clients to whom missing trades were reported, so that nothing is unaccounted for.
    int told;
    /// The clients whose connection has ended.
    int closed;
    /// The times from just before the send of a frame to just after the receive of its last trade, ns.
    const int64_t *latencies;
    int64_t latency_count;
};

struct receivers;

/// Makes an empty set of clients.
///
/// - first_time: the time of trade 0, ms since 1970.
/// - upstream: the connection to which trades are sent. It stays the caller's.
struct receivers *receivers_make(int upstream, int64_t first_time);

/// Closes all clients.
void receivers_free(struct receivers *receivers);

/// Adds a client that has made its handshake and its subscription; `bytes` followed the handshake's answer. Returns 0, or
/// -1. The descriptor belongs to the set.
int receivers_add(struct receivers *receivers, int descriptor, enum receiver_protocol protocol, enum receiver_kind kind,
                  const uint8_t *bytes, int64_t count);

/// Asks for `/metrics` on this connection, four times a second while trades are sent. Returns 0, or -1. The descriptor
/// belongs to the set.
int receivers_observe(struct receivers *receivers, int descriptor, const char *request);

/// Begins a phase, in which frames of `trades` consecutive trades are sent at an even pace. The frames are copied.
///
/// - frames: the bytes of all frames.
/// - lengths: the length of each.
/// - interval: the time between two frames, ns.
/// - slow_read: whether slow clients read as well.
/// Returns 0, or -1.
int receivers_begin(struct receivers *receivers, const uint8_t *frames, const int32_t *lengths, int count, int trades,
                    int64_t interval, int slow_read);

/// Goes on with the phase. Returns 0 when all frames are sent, and all clients have everything or nothing has come for
/// 3 s; 1 when the upstream is readable, which is the caller's to read; -1 for a failure.
int receivers_run(struct receivers *receivers);

/// Whether each client has received a trade.
int receivers_are_warm(const struct receivers *receivers);

/// The figures of one group. The latencies stay valid until the next phase.
struct receiver_figures receivers_figures(const struct receivers *receivers, enum receiver_protocol protocol,
                                          enum receiver_kind kind);

/// The largest delay of a send after its planned time in this phase, ns.
int64_t receivers_lateness(const struct receivers *receivers);

/// The most bytes that waited for clients in the relay, as it said so far; -1 if it never did.
int64_t receivers_backlog(const struct receivers *receivers);

#endif

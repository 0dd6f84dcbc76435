#define _GNU_SOURCE
#include "receivers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000;
static const int64_t PATIENCE = 3 * SECOND;
static const int64_t OBSERVATION_INTERVAL = SECOND / 4;
static const int64_t DAY_MS = 86400000;

enum { SCRATCH_BYTES = 1 << 18, ANSWER_BYTES = 1 << 18, EVENTS = 64 };
static const uint32_t UPSTREAM = UINT32_MAX, OBSERVER = UINT32_MAX - 1;

struct needle {
    const char *bytes;
    size_t length;
};
#define NEEDLE(text) {text, sizeof(text) - 1}

enum encoding { ENCODING_TEXT, ENCODING_MSGPACK, ENCODING_CBOR };

/// What identifies the messages of one encoding, and the keys of their numbers.
struct form {
    enum encoding encoding;
    struct needle trade, price, snapshot, time, skipped;
};

static const struct form JSON = {ENCODING_TEXT, NEEDLE("\"type\":\"trade\""), NEEDLE("\"type\":\"price\""),
                                 NEEDLE("\"type\":\"snapshot\""), NEEDLE("\"time\":"), NEEDLE("\"skipped\":")};
static const struct form MSGPACK = {ENCODING_MSGPACK, NEEDLE("\xA4type\xA5trade"), NEEDLE("\xA4type\xA5price"),
                                    NEEDLE("\xA4type\xA8snapshot"), NEEDLE("\xA4time"), NEEDLE("\xA7skipped")};
static const struct form CBOR = {ENCODING_CBOR, NEEDLE("\x64type\x65trade"), NEEDLE("\x64type\x65price"),
                                 NEEDLE("\x64type\x68snapshot"), NEEDLE("\x64time"), NEEDLE("\x67skipped")};
static const struct needle FINNHUB_TIME = NEEDLE("\"t\":"), TOO_SLOW = NEEDLE("too slow: ");

struct member {
    int descriptor;
    enum receiver_protocol protocol;
    enum receiver_kind kind;
    bool is_closed;
    /// The number of its newest trade; -1 before the first.
    int64_t newest;
    int64_t repeated, missing, reported;
    /// Whether the relay has said how many trades it missed.
    bool is_told;
    /// The start of an incomplete frame or line.
    uint8_t *rest;
    size_t rest_count, rest_capacity;
};

struct group {
    int64_t delivered;
    int64_t *latencies;
    int64_t latency_count, latency_capacity;
};

struct receivers {
    int poll, upstream;
    int64_t first_time;
    struct member *members;
    int member_count, member_capacity;
    struct group groups[RECEIVER_PROTOCOLS][RECEIVER_KINDS];
    /// The time at which each trade was sent, by its number.
    int64_t *sent_at;
    int64_t trades_sent, sent_capacity;
    bool slow_read;
    // The phase.
    uint8_t *frames;
    int32_t *lengths;
    int frame_count, frames_sent, trades_per_frame;
    size_t frame_offset;
    int64_t phase_first, interval, start, last_receipt, lateness;
    // The observation.
    int observer;
    const char *request;
    char *answer;
    size_t answer_count;
    bool is_asking;
    int64_t next_question, backlog;
    uint8_t *scratch;
};

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void *grown(void *memory, int64_t *capacity, int64_t wanted, size_t size) {
    if (wanted <= *capacity) return memory;
    int64_t larger = *capacity * 2 > wanted ? *capacity * 2 : wanted + 1024;
    void *moved = realloc(memory, (size_t)larger * size);
    if (!moved) abort();
    *capacity = larger;
    return moved;
}

// MARK: Numbers in messages

/// The place behind a needle, or NULL.
static const uint8_t *behind(const uint8_t *bytes, const uint8_t *end, struct needle needle) {
    const uint8_t *found = memmem(bytes, (size_t)(end - bytes), needle.bytes, needle.length);
    return found ? found + needle.length : NULL;
}

static int64_t digits(const uint8_t *here, const uint8_t *end) {
    if (here == end || *here < '0' || *here > '9') return -1;
    int64_t value = 0;
    while (here < end && *here >= '0' && *here <= '9') value = value * 10 + (*here++ - '0');
    return value;
}

static int64_t big_endian(const uint8_t *here, const uint8_t *end, int bytes) {
    if (end - here < bytes) return -1;
    int64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | here[i];
    return value;
}

/// The unsigned number at `here`; -1 for anything else.
static int64_t number_at(enum encoding encoding, const uint8_t *here, const uint8_t *end) {
    if (encoding == ENCODING_TEXT) return digits(here, end);
    if (here == end) return -1;
    // MessagePack: 0xCC to 0xCF; CBOR: 0x18 to 0x1B; a number of 1, 2, 4 or 8 bytes follows.
    uint8_t small = encoding == ENCODING_MSGPACK ? 0x7F : 0x17, wide = encoding == ENCODING_MSGPACK ? 0xCC : 0x18;
    if (*here <= small) return *here;
    if (*here < wide || *here > wide + 3) return -1;
    return big_endian(here + 1, end, 1 << (*here - wide));
}

static int64_t number_of(const struct form *form, struct needle key, const uint8_t *bytes, const uint8_t *end) {
    const uint8_t *here = behind(bytes, end, key);
    return here ? number_at(form->encoding, here, end) : -1;
}

/// The number of the trade in a plain line, from the time in its fourth word: 2023-11-14T22:13:20.123Z.
static int64_t number_in_line(const struct receivers *r, const uint8_t *line, const uint8_t *end) {
    const uint8_t *here = line;
    for (int word = 0; word < 3; word++) {
        here = memchr(here, ' ', (size_t)(end - here));
        if (!here) return -1;
        here++;
    }
    if (end - here < 23 || here[10] != 'T' || here[19] != '.') return -1;
    int64_t hours = digits(here + 11, here + 13), minutes = digits(here + 14, here + 16);
    int64_t seconds = digits(here + 17, here + 19), milliseconds = digits(here + 20, here + 23);
    if (hours < 0 || minutes < 0 || seconds < 0 || milliseconds < 0) return -1;
    int64_t time = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
    return (time - r->first_time % DAY_MS + DAY_MS) % DAY_MS;
}

// MARK: What a client receives

static struct group *group_of(struct receivers *r, const struct member *member) {
    return &r->groups[member->protocol][member->kind];
}

static void received_trade(struct receivers *r, struct member *member, int64_t number, int64_t now) {
    if (number < 0 || number >= r->trades_sent) return;
    if (number <= member->newest) {
        member->repeated++;
        return;
    }
    if (member->newest >= 0) member->missing += number - member->newest - 1;
    member->newest = number;
    if (number < r->phase_first) return;
    struct group *group = group_of(r, member);
    group->delivered++;
    if ((number - r->phase_first + 1) % r->trades_per_frame) return;
    group->latencies =
        grown(group->latencies, &group->latency_capacity, group->latency_count + 1, sizeof *group->latencies);
    group->latencies[group->latency_count++] = now - r->sent_at[number];
}

static void received_price(struct receivers *r, struct member *member, int64_t number, int64_t skipped) {
    if (number < 0 || number >= r->trades_sent) return;
    if (number <= member->newest) {
        member->repeated++;
        return;
    }
    if (member->newest >= 0) {
        int64_t left_out = number - member->newest - 1;
        member->missing += llabs(left_out - skipped);
        member->reported += skipped;
        member->is_told = true;
    }
    member->newest = number;
    if (number >= r->phase_first) group_of(r, member)->delivered++;
}

static void noted_loss(struct member *member, const uint8_t *bytes, const uint8_t *end) {
    const uint8_t *here = behind(bytes, end, TOO_SLOW);
    int64_t count = here ? digits(here, end) : -1;
    if (count < 0) return;
    member->reported += count;
    member->is_told = true;
}

static void received_message(struct receivers *r, struct member *member, const uint8_t *bytes, size_t count,
                             int64_t now) {
    const uint8_t *end = bytes + count;
    const struct form *form = &JSON;
    switch (member->protocol) {
    case RECEIVER_FINNHUB:
        for (const uint8_t *here = bytes; (here = behind(here, end, FINNHUB_TIME));)
            received_trade(r, member, digits(here, end) - r->first_time, now);
        return;
    case RECEIVER_LINES:
        if (count && *bytes == '#') noted_loss(member, bytes, end);
        else received_trade(r, member, number_in_line(r, bytes, end), now);
        return;
    case RECEIVER_WAMP_MSGPACK: form = &MSGPACK; break;
    case RECEIVER_WAMP_CBOR: form = &CBOR; break;
    default: break;
    }
    if (behind(bytes, end, form->trade)) {
        received_trade(r, member, number_of(form, form->time, bytes, end) - r->first_time, now);
    } else if (behind(bytes, end, form->price) || behind(bytes, end, form->snapshot)) {
        received_price(r, member, number_of(form, form->time, bytes, end) - r->first_time,
                       number_of(form, form->skipped, bytes, end));
    } else {
        noted_loss(member, bytes, end);
    }
}

static void close_member(struct member *member) {
    if (member->is_closed) return;
    member->is_closed = true;
    close(member->descriptor);
}

static void send_pong(struct member *member, const uint8_t *payload, size_t count) {
    // The masking key is zero, which leaves the payload as it is.
    uint8_t frame[6 + 125] = {0x8A, (uint8_t)(0x80 | count)};
    memcpy(frame + 6, payload, count);
    // A lost pong shows as a closed client.
    (void)!send(member->descriptor, frame, 6 + count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Takes the whole frames; returns the number of their bytes.
static size_t take_frames(struct receivers *r, struct member *member, const uint8_t *bytes, size_t count, int64_t now) {
    size_t here = 0;
    while (!member->is_closed && count - here >= 2) {
        const uint8_t *frame = bytes + here;
        size_t length = frame[1] & 0x7F, header = length < 126 ? 2 : length == 126 ? 4 : 10;
        if (count - here < header) break;
        if (header > 2) length = (size_t)big_endian(frame + 2, frame + header, (int)header - 2);
        if (count - here - header < length) break;
        const uint8_t *payload = frame + header;
        switch (frame[0] & 0xF) {
        case 1:
        case 2: received_message(r, member, payload, length, now); break;
        case 8:
            noted_loss(member, payload, payload + length);
            close_member(member);
            break;
        case 9:
            if (length <= 125) send_pong(member, payload, length);
            break;
        default: break;
        }
        here += header + length;
    }
    return here;
}

/// Takes the whole lines; returns the number of their bytes.
static size_t take_lines(struct receivers *r, struct member *member, const uint8_t *bytes, size_t count, int64_t now) {
    size_t here = 0;
    const uint8_t *end;
    while (here < count && (end = memchr(bytes + here, '\n', count - here))) {
        received_message(r, member, bytes + here, (size_t)(end - bytes) - here, now);
        here = (size_t)(end - bytes) + 1;
    }
    return here;
}

/// Takes the bytes at the start of the scratch memory, and keeps an incomplete end.
static void take(struct receivers *r, struct member *member, size_t count, int64_t now) {
    bool is_line = member->protocol == RECEIVER_LINES || member->protocol == RECEIVER_LINES_JSON;
    size_t taken = is_line ? take_lines(r, member, r->scratch, count, now) : take_frames(r, member, r->scratch, count, now);
    member->rest_count = count - taken;
    if (!member->rest_count) return;
    if (member->rest_count > member->rest_capacity) {
        free(member->rest);
        member->rest_capacity = member->rest_count + 512;
        member->rest = malloc(member->rest_capacity);
        if (!member->rest) abort();
    }
    memcpy(member->rest, r->scratch + taken, member->rest_count);
}

static void read_member(struct receivers *r, struct member *member) {
    if (member->is_closed) return;
    if (member->rest_count) memcpy(r->scratch, member->rest, member->rest_count);
    ssize_t count = recv(member->descriptor, r->scratch + member->rest_count, SCRATCH_BYTES - member->rest_count,
                         MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return close_member(member);
    r->last_receipt = now_ns();
    take(r, member, member->rest_count + (size_t)count, r->last_receipt);
}

// MARK: The observation

static void ask(struct receivers *r, int64_t now) {
    r->next_question = now + OBSERVATION_INTERVAL;
    if (r->is_asking) return;
    r->is_asking = send(r->observer, r->request, strlen(r->request), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

static void read_observer(struct receivers *r) {
    ssize_t count = recv(r->observer, r->answer + r->answer_count, ANSWER_BYTES - 1 - r->answer_count, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        close(r->observer);
        r->observer = -1;
        return;
    }
    r->answer_count += (size_t)count;
    r->answer[r->answer_count] = 0;
    const char *body = strstr(r->answer, "\r\n\r\n"), *length = strcasestr(r->answer, "\r\ncontent-length:");
    if (!body || !length || length > body) return;
    if (r->answer_count - (size_t)(body + 4 - r->answer) < strtoull(length + 17, NULL, 10)) return;
    const char *name = "\ntickertape_relay_queue_bytes{queue=\"clients\"} ", *value = strstr(body, name);
    if (value) {
        int64_t waiting = (int64_t)strtod(value + strlen(name), NULL);
        if (waiting > r->backlog) r->backlog = waiting;
    }
    r->answer_count = 0;
    r->is_asking = false;
}

int receivers_observe(struct receivers *r, int descriptor, const char *request) {
    r->observer = descriptor;
    r->request = strdup(request);
    r->answer = malloc(ANSWER_BYTES);
    if (!r->request || !r->answer) abort();
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = OBSERVER};
    return epoll_ctl(r->poll, EPOLL_CTL_ADD, descriptor, &event);
}

int64_t receivers_backlog(const struct receivers *r) { return r->backlog; }

// MARK: The set

struct receivers *receivers_make(int upstream, int64_t first_time) {
    struct receivers *r = calloc(1, sizeof *r);
    if (!r || !(r->scratch = malloc(SCRATCH_BYTES))) abort();
    r->poll = epoll_create1(EPOLL_CLOEXEC);
    r->upstream = upstream;
    r->first_time = first_time;
    r->observer = -1;
    r->backlog = -1;
    r->trades_per_frame = 1;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = UPSTREAM};
    epoll_ctl(r->poll, EPOLL_CTL_ADD, upstream, &event);
    return r;
}

void receivers_free(struct receivers *r) {
    for (int i = 0; i < r->member_count; i++) {
        close_member(&r->members[i]);
        free(r->members[i].rest);
    }
    for (int protocol = 0; protocol < RECEIVER_PROTOCOLS; protocol++)
        for (int kind = 0; kind < RECEIVER_KINDS; kind++) free(r->groups[protocol][kind].latencies);
    if (r->observer >= 0) close(r->observer);
    close(r->poll);
    free((char *)r->request);
    free(r->answer);
    free(r->members);
    free(r->sent_at);
    free(r->frames);
    free(r->lengths);
    free(r->scratch);
    free(r);
}

static int listen_to(struct receivers *r, int place) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = (uint32_t)place};
    return epoll_ctl(r->poll, EPOLL_CTL_ADD, r->members[place].descriptor, &event);
}

int receivers_add(struct receivers *r, int descriptor, enum receiver_protocol protocol, enum receiver_kind kind,
                  const uint8_t *bytes, int64_t count) {
    int64_t capacity = r->member_capacity;
    r->members = grown(r->members, &capacity, r->member_count + 1, sizeof *r->members);
    r->member_capacity = (int)capacity;
    struct member *member = &r->members[r->member_count++];
    *member = (struct member){.descriptor = descriptor, .protocol = protocol, .kind = kind, .newest = -1};
    r->slow_read = true;
    if (count > SCRATCH_BYTES) return -1;
    if (count) memcpy(r->scratch, bytes, (size_t)count);
    take(r, member, (size_t)count, 0);
    return listen_to(r, r->member_count - 1);
}

int receivers_are_warm(const struct receivers *r) {
    for (int i = 0; i < r->member_count; i++)
        if (r->members[i].newest < 0) return 0;
    return r->member_count > 0;
}

int64_t receivers_lateness(const struct receivers *r) { return r->lateness; }

struct receiver_figures receivers_figures(const struct receivers *r, enum receiver_protocol protocol,
                                          enum receiver_kind kind) {
    const struct group *group = &r->groups[protocol][kind];
    struct receiver_figures figures = {
        .delivered = group->delivered, .latencies = group->latencies, .latency_count = group->latency_count};
    for (int i = 0; i < r->member_count; i++) {
        const struct member *member = &r->members[i];
        if (member->protocol != protocol || member->kind != kind) continue;
        // What a client did not get at the end, and was not told as the reason of its end.
        int64_t rest = r->trades_sent - 1 - member->newest;
        if (kind == RECEIVER_SLOW) rest = llabs(rest - member->reported);
        figures.members++;
        figures.repeated += member->repeated;
        figures.missing += member->missing + rest;
        figures.reported += member->reported;
        figures.told += member->is_told && member->missing + rest == 0;
        figures.closed += member->is_closed;
    }
    return figures;
}

// MARK: Phases

static int let_slow_read(struct receivers *r, bool slow_read) {
    if (r->slow_read == slow_read) return 0;
    r->slow_read = slow_read;
    for (int i = 0; i < r->member_count; i++) {
        struct member *member = &r->members[i];
        if (member->kind != RECEIVER_SLOW || member->is_closed) continue;
        if (slow_read ? listen_to(r, i) : epoll_ctl(r->poll, EPOLL_CTL_DEL, member->descriptor, NULL)) return -1;
    }
    return 0;
}

int receivers_begin(struct receivers *r, const uint8_t *frames, const int32_t *lengths, int count, int trades,
                    int64_t interval, int slow_read) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += (size_t)lengths[i];
    free(r->frames);
    free(r->lengths);
    r->frames = malloc(bytes + 1);
    r->lengths = malloc((size_t)count * sizeof *lengths + 1);
    if (!r->frames || !r->lengths) abort();
    if (count) {
        memcpy(r->frames, frames, bytes);
        memcpy(r->lengths, lengths, (size_t)count * sizeof *lengths);
    }
    r->frame_count = count;
    r->frames_sent = 0;
    r->frame_offset = 0;
    r->trades_per_frame = trades;
    r->phase_first = r->trades_sent;
    r->interval = interval;
    r->lateness = 0;
    r->start = r->last_receipt = now_ns();
    r->sent_at = grown(r->sent_at, &r->sent_capacity, r->trades_sent + (int64_t)count * trades, sizeof *r->sent_at);
    for (int protocol = 0; protocol < RECEIVER_PROTOCOLS; protocol++)
        for (int kind = 0; kind < RECEIVER_KINDS; kind++)
            r->groups[protocol][kind].delivered = r->groups[protocol][kind].latency_count = 0;
    return let_slow_read(r, slow_read);
}

static int send_frame(struct receivers *r, int64_t late) {
    if (late > r->lateness) r->lateness = late;
    size_t length = (size_t)r->lengths[r->frames_sent++], done = 0;
    int64_t now = now_ns();
    for (int i = 0; i < r->trades_per_frame; i++) r->sent_at[r->trades_sent++] = now;
    while (done < length) {
        ssize_t count = send(r->upstream, r->frames + r->frame_offset + done, length - done, MSG_NOSIGNAL);
        if (count <= 0) return -1;
        done += (size_t)count;
    }
    r->frame_offset += length;
    return 0;
}

/// Whether every client has what it can still get. One that has nothing yet may not have subscribed.
static bool is_settled(const struct receivers *r) {
    for (int i = 0; i < r->member_count; i++) {
        const struct member *member = &r->members[i];
        if (member->is_closed || (member->kind == RECEIVER_SLOW && (!r->slow_read || member->is_told))) continue;
        if (member->newest >= 0 && member->newest != r->trades_sent - 1) return false;
    }
    return true;
}

int receivers_run(struct receivers *r) {
    struct epoll_event events[EVENTS];
    while (true) {
        int64_t now = now_ns();
        if (r->frames_sent < r->frame_count) {
            int64_t due = r->start + r->frames_sent * r->interval;
            if (due <= now && send_frame(r, now - due)) return -1;
        } else if (is_settled(r) || now - r->last_receipt > PATIENCE) {
            return 0;
        }
        if (r->observer >= 0 && now >= r->next_question) ask(r, now);
        int count = epoll_wait(r->poll, events, EVENTS, 0);
        if (count < 0 && errno != EINTR) return -1;
        bool is_upstream_readable = false;
        for (int i = 0; i < count; i++) {
            uint32_t place = events[i].data.u32;
            if (place == UPSTREAM) is_upstream_readable = true;
            else if (place == OBSERVER) read_observer(r);
            else read_member(r, &r->members[place]);
        }
        if (is_upstream_readable) return 1;
    }
}

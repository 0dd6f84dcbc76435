// What the peers need that no library gives them: a blocking connection to the fake Finnhub and the frames in its bytes.
// Nothing here is for anything but this loopback, where both sides are ours.
#ifndef UPSTREAM_H
#define UPSTREAM_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct upstream {
    int socket;
    size_t waiting;
    uint8_t bytes[1 << 18];
};

static void upstream_fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static struct sockaddr_in upstream_loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// Connects, shakes hands with the RFC's own example of a key, and subscribes.
static void upstream_open(struct upstream *upstream, int port) {
    struct sockaddr_in address = upstream_loopback(port);
    upstream->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(upstream->socket, (struct sockaddr *)&address, sizeof address)) upstream_fail("upstream");
    int one = 1;
    setsockopt(upstream->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const char *request = "GET /?token=bench HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    if (send(upstream->socket, request, strlen(request), MSG_NOSIGNAL) < 0) upstream_fail("upstream");
    // One byte at a time, so that no frame behind the answer is swallowed.
    char answer[1024];
    size_t length = 0;
    while (length < 4 || memcmp(answer + length - 4, "\r\n\r\n", 4)) {
        if (length == sizeof answer || recv(upstream->socket, answer + length, 1, 0) != 1) upstream_fail("upstream");
        length++;
    }
    // Masked with zero, which leaves the payload as it is.
    const char *subscribe = "{\"type\":\"subscribe\",\"symbol\":\"BINANCE:BTCUSDT\"}";
    char frame[128] = {(char)0x81, (char)(0x80 | strlen(subscribe))};
    memcpy(frame + 6, subscribe, strlen(subscribe));
    if (send(upstream->socket, frame, 6 + strlen(subscribe), MSG_NOSIGNAL) < 0) upstream_fail("upstream");
}

// Reads once, without waiting, and gives each whole text frame's payload to `take`. Returns 0 when the upstream ended.
static int upstream_read(struct upstream *upstream, void (*take)(const uint8_t *payload, size_t length, void *context),
                         void *context) {
    ssize_t count = recv(upstream->socket, upstream->bytes + upstream->waiting,
                         sizeof upstream->bytes - upstream->waiting, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return 0;
    if (count < 0) return 1;
    upstream->waiting += (size_t)count;
    size_t here = 0;
    while (upstream->waiting - here >= 2) {
        const uint8_t *frame = upstream->bytes + here;
        size_t length = frame[1] & 0x7F, header = length < 126 ? 2 : length == 126 ? 4 : 10;
        if (upstream->waiting - here < header) break;
        if (header > 2) {
            length = 0;
            for (size_t i = 2; i < header; i++) length = length << 8 | frame[i];
        }
        if (upstream->waiting - here - header < length) break;
        if ((frame[0] & 0xF) == 1) take(frame + header, length, context);
        here += header + length;
    }
    memmove(upstream->bytes, upstream->bytes + here, upstream->waiting - here);
    upstream->waiting -= here;
    return 1;
}

#endif

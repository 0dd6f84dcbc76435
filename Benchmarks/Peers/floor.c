// The least that a relay can do: frames what one read of the upstream brought and send()s it to every client, nothing else.
// It has no queues (a client whose socket is full is closed), no rules, and knows of WebSockets only the handshake.
// usage: floor UPSTREAM-PORT PORT      Runs until the upstream ends.
#define _GNU_SOURCE
#include "upstream.h"

#include <openssl/sha.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>

enum { most_clients = 32768, most_descriptors = most_clients + 64, request_room = 2048 };

struct client {
    // The place among the audience, plus one; 0 before the handshake.
    int place;
    size_t length;
    char *request;
};

static struct upstream upstream;
static struct client clients[most_descriptors];
static int audience[most_clients];
static int audience_count;
static uint8_t out[1 << 19];
static size_t out_length;

static void leave(int socket) {
    struct client *client = &clients[socket];
    if (client->place) {
        int last = audience[--audience_count];
        audience[client->place - 1] = last;
        clients[last].place = client->place;
    }
    free(client->request);
    *client = (struct client){0};
    close(socket);
}

static void append(const uint8_t *payload, size_t length, void *context) {
    (void)context;
    if (out_length + length + 10 > sizeof out) return;
    out[out_length++] = 0x81;
    if (length < 126) {
        out[out_length++] = (uint8_t)length;
    } else if (length <= 0xFFFF) {
        out[out_length++] = 126;
        out[out_length++] = (uint8_t)(length >> 8);
        out[out_length++] = (uint8_t)length;
    } else {
        out[out_length++] = 127;
        for (int shift = 56; shift >= 0; shift -= 8) out[out_length++] = (uint8_t)((uint64_t)length >> shift);
    }
    memcpy(out + out_length, payload, length);
    out_length += length;
}

static void deliver(void) {
    for (int place = audience_count - 1; place >= 0; place--) {
        ssize_t count = send(audience[place], out, out_length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count != (ssize_t)out_length) leave(audience[place]);
    }
    out_length = 0;
}

// Takes what a client sent: its handshake; later its subscribe, which says nothing new.
static void serve(int socket) {
    struct client *client = &clients[socket];
    if (client->place) {
        char unread[4096];
        ssize_t count = recv(socket, unread, sizeof unread, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN)) leave(socket);
        return;
    }
    ssize_t count = recv(socket, client->request + client->length, request_room - 1 - client->length, MSG_DONTWAIT);
    if (count <= 0 || client->length + (size_t)count >= request_room - 1 || audience_count == most_clients) {
        leave(socket);
        return;
    }
    client->length += (size_t)count;
    client->request[client->length] = 0;
    if (!strstr(client->request, "\r\n\r\n")) return;
    const char *name = "Sec-WebSocket-Key: ", *key = strstr(client->request, name);
    if (!key || strlen(key) < strlen(name) + 24) {
        leave(socket);
        return;
    }
    char text[61] = {0}, accept[64], answer[256];
    memcpy(text, key + strlen(name), 24);
    memcpy(text + 24, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", 36);
    uint8_t digest[SHA_DIGEST_LENGTH];
    SHA1((const uint8_t *)text, 60, digest);
    EVP_EncodeBlock((uint8_t *)accept, digest, sizeof digest);
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Accept: %s\r\n\r\n",
                          accept);
    if (send(socket, answer, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) != length) {
        leave(socket);
        return;
    }
    free(client->request);
    client->request = NULL;
    audience[audience_count++] = socket;
    client->place = audience_count;
}

static void take_connections(int listener, int poll) {
    int socket;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (socket >= most_descriptors) {
            close(socket);
            continue;
        }
        int one = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        clients[socket] = (struct client){.request = malloc(request_room)};
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = socket};
        epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
    }
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: floor UPSTREAM-PORT PORT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    upstream_open(&upstream, atoi(arguments[1]));
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = upstream_loopback(atoi(arguments[2]));
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) upstream_fail("listen");
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    event.data.fd = upstream.socket;
    epoll_ctl(poll, EPOLL_CTL_ADD, upstream.socket, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            int socket = events[i].data.fd;
            if (socket == listener) {
                take_connections(listener, poll);
            } else if (socket == upstream.socket) {
                if (!upstream_read(&upstream, append, NULL)) return 0;
                if (out_length) deliver();
            } else if (clients[socket].request || clients[socket].place) {
                serve(socket);
            }
        }
    }
}

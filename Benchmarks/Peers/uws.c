// uWebSockets as a relay: the C++ library as PyPI's socketify carries it, through its C interface, in one process and on one
// loop with the upstream. One publish() a message; framing, coalescing and the fan-out are the library's.
// usage: uws LIBRARY UPSTREAM-PORT PORT      Runs until the upstream ends.
#include "upstream.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

typedef struct app app;
typedef struct websocket websocket;
typedef void handler(void);
typedef struct { int port; const char *host; int options; } listening;
typedef struct {
    int compression;
    unsigned maximum_payload;
    unsigned short idle_timeout;
    unsigned maximum_backpressure;
    bool closes_on_backpressure, resets_idle_timeout_on_send, sends_pings;
    unsigned short maximum_lifetime;
    handler *upgrade;
    void (*open)(websocket *, void *);
    handler *message, *drain, *ping, *pong, *close, *subscription;
} behaviour;
typedef struct { const char *key, *cert, *passphrase, *dh, *ca, *ciphers; int low_memory; } options;

static struct upstream upstream;
static app *server;
static bool (*publish)(int, app *, const char *, size_t, const char *, size_t, int, bool);
static bool (*subscribe)(int, websocket *, const char *, size_t);


static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void joined(websocket *client, void *context) {
    (void)context;
    subscribe(0, client, "trades", 6);
}

static void pass_on(const uint8_t *payload, size_t length, void *context) {
    (void)context;
    publish(0, server, "trades", 6, (const char *)payload, length, 1, false);
}

static void readable(void *poll, int status, int events) {
    (void)poll;
    (void)events;
    if (status < 0 || !upstream_read(&upstream, pass_on, NULL)) exit(0);
}

static void listens(void *socket, listening asked, void *context) {
    (void)context;
    if (socket) return;
    fprintf(stderr, "cannot listen on port %d\n", asked.port);
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: uws LIBRARY UPSTREAM-PORT PORT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    void *library = dlopen(arguments[1], RTLD_NOW), *uv = dlopen("libuv.so.1", RTLD_NOW);
    if (!library || !uv) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void *(*default_loop)(void) = symbol(uv, "uv_default_loop");
    int (*poll_init)(void *, void *, int) = symbol(uv, "uv_poll_init");
    int (*poll_start)(void *, int, void (*)(void *, int, int)) = symbol(uv, "uv_poll_start");
    int (*run)(void *, int) = symbol(uv, "uv_run");
    void (*use_loop)(void *) = symbol(library, "uws_get_loop_with_native");
    app *(*create)(int, options) = symbol(library, "uws_create_app");
    void (*route)(int, app *, const char *, behaviour, void *) = symbol(library, "uws_ws");
    void (*listen_with)(int, app *, listening, void (*)(void *, listening, void *), void *) =
        symbol(library, "uws_app_listen_with_config");
    publish = symbol(library, "uws_publish");
    subscribe = symbol(library, "uws_ws_subscribe");

    upstream_open(&upstream, atoi(arguments[2]));
    void *loop = default_loop();
    use_loop(loop);
    server = create(0, (options){0});
    behaviour reader = {
        .maximum_payload = 1 << 16, .idle_timeout = 960, .maximum_backpressure = 1 << 20, .open = joined};
    route(0, server, "/*", reader, NULL);
    listen_with(0, server, (listening){atoi(arguments[3]), "127.0.0.1", 0}, listens, NULL);
    // Larger than any version's uv_poll_t.
    static _Alignas(16) char poll[1024];
    if (poll_init(loop, poll, upstream.socket) || poll_start(poll, 1, readable)) return 1;
    run(loop, 0);
    return 0;
}

import NIOCore

/// The settings of the service and of the subscriptions.
extension Setting {
    static let symbols = Setting(
        "symbols",
        list: \.finnhub.symbols,
        of: .symbol,
        count: 1...1_000,
        flags: ["symbol"],
        isReloadable: true,
        help: "A symbol to follow, as Finnhub names it; several may be given."
    )

    static let token = Setting(
        "token",
        \.token,
        Syntax.secret.optional("none"),
        environment: "FINNHUB_TOKEN",
        isSecret: true,
        isReloadable: true,
        help: "The API key of Finnhub."
    )

    static let tokenFile = Setting(
        "token-file",
        \.tokenFile,
        Syntax.path.optional("none"),
        flags: ["token-file"],
        isReloadable: true,
        help: "A file that holds the API key and nothing else."
    )

    static let secretsDirectory = Setting(
        "secrets.directory",
        \.secretsDirectory,
        Syntax.path.optional("none"),
        isReloadable: true,
        help: "A folder with a file for each secret: finnhub-token, relay-token, alerts-webhook, upstream-proxy."
    )

    static let upstreamURL = Setting(
        "upstream.url",
        \.finnhub.upstream,
        .streamURL,
        flags: ["upstream"],
        help: "The service's address; ws:// only to this machine."
    )
    static let upstreamProxy = Setting(
        "upstream.proxy",
        \.proxyChoice,
        .proxy,
        help: "The HTTP proxy to go through: auto (HTTPS_PROXY and NO_PROXY), none, or http://HOST:PORT."
    )
    static let upstreamPingInterval = Setting(
        "upstream.ping-interval",
        \.finnhub.webSocket.pingInterval,
        Syntax.duration.within(patience).present,
        help: "How often to send the service a ping."
    )
    static let upstreamPongTimeout = Setting(
        "upstream.pong-timeout",
        \.finnhub.webSocket.pongTimeout,
        Syntax.duration.within(patience),
        help: "How long to wait for the pong before reconnecting."
    )
    static let upstreamMaxMessage = Setting(
        "upstream.max-message",
        \.finnhub.webSocket.maximumMessageBytes,
        Syntax.size.within(1_024...(64 << 20)),
        help: "The largest message that is taken from the service."
    )
    static let upstreamSilentAfter = Setting(
        "upstream.silent-after",
        \.finnhub.connection.silentAfter,
        Syntax.duration.within(patience).nanoseconds.present,
        help: "How long the service may send nothing at all before reconnecting."
    )
    static let upstreamMaxSymbols = Setting(
        "upstream.max-symbols",
        \.finnhub.subscriptions.limit,
        Syntax.count.within(1...1_000),
        help: "The most symbols at a time, those of the relay's clients among them; Finnhub's free plan has 50."
    )
    static let upstreamSubscribeInterval = Setting(
        "upstream.subscribe-interval",
        \.finnhub.watch.subscribeInterval,
        Syntax.duration.within(.zero...(.seconds(10))).nanoseconds,
        help: "The pause between two requests for symbols, after the first ten."
    )
    static let upstreamDropRepeats = Setting(
        "upstream.drop-repeats",
        \.finnhub.dropsRepeats,
        .flag,
        help: "Leave out messages that come twice within 2 s, and trades that come again after a break. Equal trades "
            + "are real as well and are lost by it: in a recorded market, sent one by one, 16 of 100."
    )

    static let serviceURL = Setting(
        "service.url",
        \.service.address,
        .serviceURL,
        help: "The address of Finnhub's REST service, for symbols by name and headlines; http:// only to this machine."
    )
    static let serviceTimeout = Setting(
        "service.timeout",
        \.service.timeout,
        Syntax.duration.within(patience),
        help: "How long a request to it may take in all."
    )
    static let serviceCache = Setting(
        "service.cache-directory",
        \.state.cache,
        .folder,
        help: "Where its lists of symbols are kept for a day: a folder, off, or auto ($XDG_CACHE_HOME/tickertape)."
    )

    static let feedLateAfter = Setting(
        "feed.late-after",
        \.finnhub.watch.freshness.lateAfter,
        Syntax.duration.within(patience).nanoseconds,
        help: "Prices are late when no trade came for this long."
    )
    static let feedStaleAfter = Setting(
        "feed.stale-after",
        \.finnhub.watch.freshness.staleAfter,
        Syntax.duration.within(patience).nanoseconds,
        help: "A symbol is quiet when it has not traded for this long, or for its usual gap times feed.stale-factor."
    )
    static let feedStaleFactor = Setting(
        "feed.stale-factor",
        \.finnhub.watch.staleFactor,
        Syntax.count.within(1...100),
        help: "How many times its longest recent gap a symbol may be without a trade."
    )
    static let feedStaleLimit = Setting(
        "feed.stale-limit",
        \.finnhub.watch.staleLimit,
        Syntax.duration.within(.milliseconds(10)...(.hours(24))).nanoseconds,
        help: "A symbol without a trade for this long is quiet whatever its gaps were."
    )
    static let feedCoolDownMin = Setting(
        "feed.cool-down-min",
        \.finnhub.watch.coolDown,
        Syntax.duration.within(patience).nanoseconds,
        help: "The pause after steps for a quiet symbol; it doubles."
    )
    static let feedCoolDownMax = Setting(
        "feed.cool-down-max",
        \.finnhub.watch.coolDownLimit,
        Syntax.duration.within(.milliseconds(10)...(.hours(24))).nanoseconds,
        help: "The longest such pause."
    )
    static let feedRetryRefused = Setting(
        "feed.retry-refused",
        \.finnhub.watch.retryRefused,
        Syntax.duration.within(patience).nanoseconds,
        help: "The wait before a refused symbol is asked for again; it doubles."
    )
    static let feedRetryOverLimit = Setting(
        "feed.retry-over-limit",
        \.finnhub.watch.retryOverLimit,
        Syntax.duration.within(patience).nanoseconds,
        help: "The same for a symbol that was one too many."
    )
    static let feedRetryMax = Setting(
        "feed.retry-max",
        \.finnhub.watch.retryLimit,
        Syntax.duration.within(.milliseconds(10)...(.hours(24))).nanoseconds,
        help: "The longest wait before a refused symbol is asked for again."
    )
}

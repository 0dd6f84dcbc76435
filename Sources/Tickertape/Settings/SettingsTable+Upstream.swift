import NIOCore

/// The service, and what is asked of it.
extension Setting {
    static let symbols = Setting(
        "symbols",
        list: \.symbols,
        of: .symbol,
        count: 1...1_000,
        flags: ["symbol"],
        help: "A symbol to follow, as Finnhub names it; several may be given."
    )

    static let token = Setting(
        "token",
        \.token,
        Syntax.secret.optional("none"),
        environment: "FINNHUB_TOKEN",
        isSecret: true,
        help: "The API key of Finnhub."
    )

    static let tokenFile = Setting(
        "token-file",
        \.tokenFile,
        Syntax.path.optional("none"),
        flags: ["token-file"],
        help: "A file that holds the API key and nothing else."
    )

    static let upstreamURL = Setting(
        "upstream.url",
        \.upstream.url,
        .streamURL,
        flags: ["upstream"],
        help: "The service's address; ws:// only to this machine."
    )
    static let upstreamProxy = Setting(
        "upstream.proxy",
        \.upstream.proxy,
        .proxy,
        help: "The HTTP proxy to go through: auto (HTTPS_PROXY and NO_PROXY), none, or http://HOST:PORT."
    )
    static let upstreamPingInterval = Setting(
        "upstream.ping-interval",
        \.upstream.pingInterval,
        Syntax.duration.within(patience),
        help: "How often to ask the service for a sign of life."
    )
    static let upstreamPongTimeout = Setting(
        "upstream.pong-timeout",
        \.upstream.pongTimeout,
        Syntax.duration.within(patience),
        help: "How long to wait for that sign before reconnecting."
    )
    static let upstreamMaxMessage = Setting(
        "upstream.max-message",
        \.upstream.maxMessage,
        Syntax.size.within(1_024...(64 << 20)),
        help: "The largest message that is taken from the service."
    )
    static let upstreamSilentAfter = Setting(
        "upstream.silent-after",
        \.upstream.silentAfter,
        Syntax.duration.within(patience),
        help: "How long the service may send nothing at all before reconnecting."
    )
    static let upstreamMaxSymbols = Setting(
        "upstream.max-symbols",
        \.upstream.maxSymbols,
        Syntax.count.within(1...1_000),
        help: "The most symbols at a time, those of the relay's clients among them; Finnhub's free plan has 50."
    )
    static let upstreamSubscribeInterval = Setting(
        "upstream.subscribe-interval",
        \.upstream.subscribeInterval,
        Syntax.duration.within(.zero...(.seconds(10))),
        help: "The pause between two requests for symbols, after the first ten."
    )
    static let upstreamDropRepeats = Setting(
        "upstream.drop-repeats",
        \.upstream.dropsRepeats,
        .flag,
        help: "Leave out messages that come twice within 2 s, and trades that come again after a break. Equal trades "
            + "are real as well and are lost by it: in a recorded market, sent one by one, 16 of 100."
    )

    static let serviceURL = Setting(
        "service.url",
        \.service.url,
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
        \.service.cache,
        .folder,
        help: "Where its lists of symbols are kept for a day: a folder, off, or auto ($XDG_CACHE_HOME/tickertape)."
    )

    static let feedLateAfter = Setting(
        "feed.late-after",
        \.feed.lateAfter,
        Syntax.duration.within(patience),
        help: "Prices are late when no trade came for this long."
    )
    static let feedStaleAfter = Setting(
        "feed.stale-after",
        \.feed.staleAfter,
        Syntax.duration.within(patience),
        help: "A symbol is quiet when it has not traded for this long, or for its usual gap times feed.stale-factor."
    )
    static let feedStaleFactor = Setting(
        "feed.stale-factor",
        \.feed.staleFactor,
        Syntax.count.within(1...100),
        help: "How many times its longest recent gap a symbol may be without a trade."
    )
    static let feedStaleLimit = Setting(
        "feed.stale-limit",
        \.feed.staleLimit,
        Syntax.duration.within(.milliseconds(10)...(.hours(24))),
        help: "A symbol without a trade for this long is quiet whatever its gaps were."
    )
    static let feedCoolDownMin = Setting(
        "feed.cool-down-min",
        \.feed.coolDownMin,
        Syntax.duration.within(patience),
        help: "The pause after steps for a quiet symbol; it doubles."
    )
    static let feedCoolDownMax = Setting(
        "feed.cool-down-max",
        \.feed.coolDownMax,
        Syntax.duration.within(.milliseconds(10)...(.hours(24))),
        help: "The longest such pause."
    )
    static let feedRetryRefused = Setting(
        "feed.retry-refused",
        \.feed.retryRefused,
        Syntax.duration.within(patience),
        help: "The wait before a refused symbol is asked for again; it doubles."
    )
    static let feedRetryOverLimit = Setting(
        "feed.retry-over-limit",
        \.feed.retryOverLimit,
        Syntax.duration.within(patience),
        help: "The same for a symbol that was one too many."
    )
    static let feedRetryMax = Setting(
        "feed.retry-max",
        \.feed.retryMax,
        Syntax.duration.within(.milliseconds(10)...(.hours(24))),
        help: "The longest wait before a refused symbol is asked for again."
    )
}

import Logging
import NIOCore
import Sinks

extension Setting {
    /// Every setting, in the order in which they are listed and explained.
    ///
    /// The one place where a setting is named: the flags, the environment, the config file, the `config` command and
    /// the tests of `config/tickertape.yaml` all read it from here.
    package static let all: [Setting] = single + keyBindings

    private static let single: [Setting] = [
        symbols, token, tokenFile,
        upstreamURL, upstreamProxy, upstreamPingInterval, upstreamPongTimeout, upstreamSilentAfter, upstreamMaxMessage,
        upstreamMaxSymbols, upstreamSubscribeInterval, upstreamDropRepeats,
        serviceURL, serviceTimeout, serviceCache,
        feedLateAfter, feedStaleAfter, feedStaleFactor, feedStaleLimit, feedCoolDownMin, feedCoolDownMax,
        feedRetryRefused, feedRetryOverLimit, feedRetryMax,
        authorityFile, verify, revocationListFile, stapling, pins,
        dnsTimeout, tcpTimeout, tlsTimeout, upgradeTimeout,
        backoffMin, backoffMax, backoffAtLeast, backoffSettled, rateLimitedMin, rateLimitedMax, rejectedKey, briefLife,
        briefLimit, keyInUsePause,
        stateDirectory, runtimeDirectory,
        quiet, atMost,
        format, fields, isOnce, onceWithin, colour, displayTheme, displayPalette, displayGrouping, displayDecimal,
        displayFlash, displayTitle, displayBytes,
        isQuiet, keepsWatchlist,
        recordFile, recordDirectory, recordFlushInterval, recordSyncInterval, recordSegmentSize, recordCompress,
        recordKeepDays, recordKeepSize,
        historyFile,
        alertRules, alertActions, alertHysteresis, alertCooldown, alertQuietHours, alertExec, alertExecTimeout,
        alertExecAtOnce, alertWebhook, alertWebhookFile, alertWebhookAuthorityFile,
        relayListen, relayUnixSocket, relayCertificateFile, relayKeyFile, relayTokenFile, relayHostNames,
        relayAllowedOrigins, relayPingInterval, relayPongTimeout, relayMaxClients, relayMaxClientsPerAddress,
        relayMaxPlainConnections, relayHandshakeTimeout, relayMaxHeaders, relayMaxWaiting, relayMaxMessage,
        relayRequestBurst, relayRequestsPerSecond, relayUnsubscribeGrace, relayCompression, relayReplayControl,
        logLevel,
    ]

    private static let patience: ClosedRange<TimeAmount> = .milliseconds(10)...(.hours(1))

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
        help: "Leave out a message that comes twice within two seconds."
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

    static let authorityFile = Setting(
        "tls.ca-file",
        \.tls.authorityFile,
        Syntax.path.optional("none"),
        flags: ["ca-file"],
        help: "A PEM file of certificate authorities to trust instead of the system's."
    )
    static let verify = Setting(
        "tls.verify",
        \.tls.verify,
        .flag,
        help: "Whether the service's certificate is checked; when not, everything that is shown says so."
    )
    static let revocationListFile = Setting(
        "tls.crl-file",
        \.tls.revocationListFile,
        Syntax.path.optional("none"),
        help: "A file of certificate revocation lists, PEM or DER, in which the service's certificate must not stand."
    )
    static let stapling = Setting(
        "tls.ocsp",
        \.tls.stapling,
        .word,
        help: "The OCSP answer that the service may send along: off, stapled (must be good if it comes), or required."
    )
    static let pins = Setting(
        "tls.pin",
        list: \.tls.pins,
        of: .publicKeyPin,
        count: 0...20,
        help: "The public keys of which the service must show one, as sha256/BASE64; an authority's key will do."
    )

    static let dnsTimeout = Setting(
        "handshake.dns-timeout",
        \.handshake.dns,
        Syntax.duration.within(patience),
        help: "How long finding the service's address may take."
    )
    static let tcpTimeout = Setting(
        "handshake.tcp-timeout",
        \.handshake.tcp,
        Syntax.duration.within(patience),
        help: "How long connecting may take."
    )
    static let tlsTimeout = Setting(
        "handshake.tls-timeout",
        \.handshake.tls,
        Syntax.duration.within(patience),
        help: "How long the TLS handshake may take."
    )
    static let upgradeTimeout = Setting(
        "handshake.upgrade-timeout",
        \.handshake.upgrade,
        Syntax.duration.within(patience),
        help: "How long the answer to the WebSocket request may take."
    )

    static let backoffMin = Setting(
        "reconnect.min",
        \.reconnect.min,
        Syntax.duration.within(patience),
        help: "The wait before the first new attempt after a lost connection; it doubles."
    )
    static let backoffMax = Setting(
        "reconnect.max",
        \.reconnect.max,
        Syntax.duration.within(patience),
        help: "The longest wait between attempts."
    )
    static let backoffAtLeast = Setting(
        "reconnect.at-least",
        \.reconnect.atLeast,
        Syntax.duration.within(.zero...(.hours(1))),
        help: "The shortest wait, since a random part of each is taken off."
    )
    static let backoffSettled = Setting(
        "reconnect.settled",
        \.reconnect.settled,
        Syntax.duration.within(patience),
        help: "For how long a connection must carry trades until the waits begin anew from the first."
    )
    static let rateLimitedMin = Setting(
        "reconnect.rate-limited-min",
        \.reconnect.rateLimitedMin,
        Syntax.duration.within(patience),
        help: "The wait after a refusal for too many attempts (429) that names none; it doubles."
    )
    static let rateLimitedMax = Setting(
        "reconnect.rate-limited-max",
        \.reconnect.rateLimitedMax,
        Syntax.duration.within(patience),
        help: "The longest such wait."
    )
    static let rejectedKey = Setting(
        "reconnect.rejected-key",
        \.reconnect.rejectedKey,
        .rejectedKey(within: patience),
        help:
            "What to do when the key is rejected: stop, try again after a time, or auto (15m as a service, else stop)."
    )
    static let briefLife = Setting(
        "reconnect.brief",
        \.reconnect.brief,
        Syntax.duration.within(patience),
        help: "A connection that dies this soon after it opened may have been thrown out by another one with the key."
    )
    static let briefLimit = Setting(
        "reconnect.brief-limit",
        \.reconnect.briefLimit,
        Syntax.count.within(1...1_000),
        help: "After so many of them in a row the key counts as in use elsewhere."
    )
    static let keyInUsePause = Setting(
        "reconnect.key-in-use",
        \.reconnect.keyInUse,
        Syntax.duration.within(patience),
        help: "How long the key is then left alone before each new attempt."
    )

    static let stateDirectory = Setting(
        "state.directory",
        \.state.directory,
        .folder,
        help: "Where attempts, the watchlist and alerts are kept: a folder, off, or auto ($XDG_STATE_HOME/tickertape)."
    )
    static let runtimeDirectory = Setting(
        "state.runtime-directory",
        \.state.runtimeDirectory,
        .folder,
        help: "Where the key's lock is: a folder, off, or auto ($XDG_RUNTIME_DIR/tickertape)."
    )

    static let quiet = Setting(
        "pipeline.quiet",
        \.pipeline.quiet,
        Syntax.duration.within(.zero...(.hours(1))),
        flags: ["quiet-for"],
        help: "A price is shown once none came for this long."
    )
    static let atMost = Setting(
        "pipeline.at-most",
        \.pipeline.atMost,
        Syntax.duration.within(.milliseconds(1)...(.hours(1))).optional("none"),
        flags: ["at-most"],
        help: "The longest that a price waits for quiet; none waits for ever."
    )

    static let format = Setting(
        "display.format",
        \.display.format,
        .word,
        flags: ["format"],
        help: "How prices are shown: tui, plain, json, csv, oneline, waybar, or auto (tui on a terminal, else plain)."
    )
    static let fields = Setting(
        "display.fields",
        list: \.display.fields,
        of: .lineField,
        count: 0...100,
        flags: ["fields"],
        help: "What a line of plain, csv or json says, such as symbol,price,age; none means the usual of the format."
    )
    static let isOnce = Setting(
        "display.once",
        \.display.isOnce,
        .flag,
        flags: ["once"],
        help: "Print a fresh price of each symbol once and end; exit status 3 when one did not come."
    )
    static let onceWithin = Setting(
        "display.once-within",
        \.display.onceWithin,
        Syntax.duration.within(.milliseconds(10)...(.hours(1))),
        flags: ["once-within"],
        help: "The longest that display.once waits."
    )
    static let colour = Setting(
        "display.colour",
        \.display.colour,
        .word,
        flags: ["colour", "color"],
        help: "Colours: always, never, 16, 256, full, or auto (on a terminal, unless NO_COLOR is set)."
    )
    static let displayTheme = Setting(
        "display.theme",
        \.display.theme,
        .word,
        flags: ["theme"],
        help: "The terminal's background: dark, light, or auto (the terminal is asked)."
    )
    static let displayPalette = Setting(
        "display.palette",
        \.display.palette,
        .word,
        flags: ["palette"],
        help: "Up and down in green and red (standard) or in blue and orange (colour-blind)."
    )
    static let displayGrouping = Setting(
        "display.grouping",
        \.display.grouping,
        .word,
        help: "What stands between thousands on the screen: none, comma, point, space or apostrophe."
    )
    static let displayDecimal = Setting(
        "display.decimal",
        \.display.decimal,
        .word,
        help: "What stands before the fraction on the screen: point or comma."
    )
    static let displayFlash = Setting(
        "display.flash",
        \.display.flashes,
        .flag,
        help: "Let the digits of a price that have changed stand out for 0.3 s."
    )
    static let displayTitle = Setting(
        "display.title",
        \.display.setsTitle,
        .flag,
        help: "Show the price in the terminal's title, which is given back at the end."
    )
    static let displayBytes = Setting(
        "display.bytes-per-second",
        \.display.bytesPerSecond,
        Syntax.size.within(0...(1 << 30)),
        help: "About the most bytes a second for the terminal: busy screens are drawn less often; 0: any number."
    )
    static let isQuiet = Setting(
        "display.quiet",
        \.display.isQuiet,
        .flag,
        flags: ["quiet"],
        help: "Show nothing; relay and record only."
    )

    static let keepsWatchlist = Setting(
        "display.keep-watchlist",
        \.display.keepsWatchlist,
        .flag,
        help: "Keep the symbols that were added and removed at the screen for the next start."
    )

    static let recordFile = Setting(
        "record.file",
        \.record.file,
        Syntax.path.optional("none"),
        flags: ["record"],
        help: "Write what the service sends, with arrival times, to this file, or to a new one in this folder."
    )
    static let recordDirectory = Setting(
        "record.directory",
        \.record.directory,
        .path,
        help: "The folder in which `tickertape record` makes a file named by the time."
    )
    static let recordFlushInterval = Setting(
        "record.flush-interval",
        \.record.flushInterval,
        Syntax.duration.within(.milliseconds(1)...(.minutes(1))),
        help: "How long a line may wait until it is written to the file."
    )
    static let recordSyncInterval = Setting(
        "record.sync-interval",
        \.record.syncInterval,
        Syntax.duration.within(.milliseconds(1)...(.minutes(10))),
        help: "How long a written line may be lost in a power cut."
    )
    static let recordSegmentSize = Setting(
        "record.segment-size",
        \.record.segmentSize,
        Syntax.size.within(64 << 10...(64 << 30)),
        help: "The size at which a recording goes on in another file; so it does each day at midnight UTC."
    )
    static let recordCompress = Setting(
        "record.compress",
        \.record.compresses,
        .flag,
        help: "Whether complete files of a recording are compressed (zstd)."
    )
    static let recordKeepDays = Setting(
        "record.keep-days",
        \.record.keepDays,
        Syntax.count.within(1...36_500).optional("all"),
        help: "Remove complete files of the recording that are older than so many days."
    )
    static let recordKeepSize = Setting(
        "record.keep-size",
        \.record.keepSize,
        Syntax.size.within(1 << 20...(1 << 50)).optional("all"),
        help: "Remove the oldest complete files of the recording when all are larger than this together."
    )

    static let historyFile = Setting(
        "history.file",
        \.history.file,
        .path,
        help: "Where bars and the index of the recordings are kept while recording: a path, auto (beside them), or off."
    )

    static let relayListen = Setting(
        "relay.listen",
        \.relay.listen,
        Syntax.endpoint.optional("off"),
        flags: ["relay"],
        help: "Where the relay listens, HOST:PORT, or off; where others can reach it, relay.token-file is needed."
    )
    static let relayUnixSocket = Setting(
        "relay.unix-socket",
        \.relay.unixSocket,
        Syntax.path.optional("none"),
        help: "A socket file to listen at as well, which this user alone can connect to."
    )
    static let relayTokenFile = Setting(
        "relay.token-file",
        \.relay.tokenFile,
        Syntax.path.optional("none"),
        help: "A file that holds the token that clients of the relay must send, and nothing else."
    )
    static let relayHostNames = Setting(
        "relay.host-names",
        list: \.relay.hostNames,
        of: .hostName,
        count: 0...100,
        help: "Names of this machine by which clients reach the relay, besides its address and localhost."
    )
    static let relayCertificateFile = Setting(
        "relay.certificate-file",
        \.relay.certificateFile,
        Syntax.path.optional("none"),
        help: "The PEM file of the certificate with which the relay speaks TLS (wss, https), its chain behind it."
    )
    static let relayKeyFile = Setting(
        "relay.key-file",
        \.relay.keyFile,
        Syntax.path.optional("none"),
        help: "The PEM file of the key to that certificate."
    )
    static let relayPingInterval = Setting(
        "relay.ping-interval",
        \.relay.pingInterval,
        Syntax.duration.within(patience),
        help: "How often a client is asked for a sign of life."
    )
    static let relayPongTimeout = Setting(
        "relay.pong-timeout",
        \.relay.pongTimeout,
        Syntax.duration.within(patience),
        help: "How long a client may take to answer before it is dropped."
    )
    static let relayMaxClients = Setting(
        "relay.max-clients",
        \.relay.maxClients,
        Syntax.count.within(1...100_000),
        help: "The most clients at a time."
    )
    static let relayMaxClientsPerAddress = Setting(
        "relay.max-clients-per-address",
        \.relay.maxClientsPerAddress,
        Syntax.count.within(1...100_000),
        help: "The most connections at a time from one address of another machine."
    )
    static let relayMaxPlainConnections = Setting(
        "relay.max-plain-connections",
        \.relay.maxPlainConnections,
        Syntax.count.within(1...10_000),
        help: "The most connections at a time that are plain HTTP or not yet a WebSocket, beside the clients."
    )
    static let relayHandshakeTimeout = Setting(
        "relay.handshake-timeout",
        \.relay.handshakeTimeout,
        Syntax.duration.within(patience),
        help: "How long a request may take to arrive, and a connection may stay without the next one."
    )
    static let relayMaxHeaders = Setting(
        "relay.max-headers",
        \.relay.maxHeaders,
        Syntax.size.within(1_024...(1 << 20)),
        help: "The largest request line and headers of a request, together."
    )
    static let relayRequestBurst = Setting(
        "relay.request-burst",
        \.relay.requestBurst,
        Syntax.count.within(1...100_000),
        help: "How many requests for symbols a client may make at once."
    )
    static let relayRequestsPerSecond = Setting(
        "relay.requests-per-second",
        \.relay.requestsPerSecond,
        Syntax.count.within(1...100_000),
        help: "How many more such requests a client may make each second."
    )
    static let relayMaxWaiting = Setting(
        "relay.max-waiting",
        \.relay.maxWaiting,
        Syntax.size.within((64 << 10)...(1 << 30)),
        help: "The most bytes that wait for one client; a client that lets more pile up is slow."
    )
    static let relayMaxMessage = Setting(
        "relay.max-message",
        \.relay.maxMessage,
        Syntax.size.within(1_024...(16 << 20)),
        help: "The largest message that is taken from a client."
    )
    static let relayUnsubscribeGrace = Setting(
        "relay.unsubscribe-grace",
        \.relay.unsubscribeGrace,
        Syntax.duration.within(.zero ... .hours(1)),
        help:
            "How long a symbol is still asked for upstream when the last client has given it up; 0 gives it up at once."
    )
    static let relayCompression = Setting(
        "relay.compression",
        \.relay.compression,
        .word,
        help: "Compress messages for clients that ask for it: on, off, or auto (not on this machine's own addresses)."
    )
    static let relayReplayControl = Setting(
        "relay.replay-control",
        \.relay.replayControl,
        .word,
        help: "Whether clients may command a replay: on, off, or auto (where only this machine can reach the relay)."
    )
    static let relayAllowedOrigins = Setting(
        "relay.allowed-origins",
        list: \.relay.allowedOrigins,
        of: .origin,
        count: 0...100,
        help: "Web pages that may connect, by origin; programs always may."
    )

    static let logLevel = Setting(
        "log.level",
        \.logLevel,
        .word,
        flags: ["log-level"],
        help: "The least important messages to log: trace, debug, info, notice, warning, error or critical."
    )
}

import NIOCore

extension Setting {
    /// Every setting, in the order of listings and of the manual.
    ///
    /// This is the only declaration of the names. The flags, the environment, the config file, the `config` command and
    /// the tests of `config/tickertape.yaml` all use it.
    package static let all: [Setting] =
        beginning + [venueBackfill] + venueAddresses + rest + logLevels + [reloadWatch] + keyBindings

    private static let beginning: [Setting] = [
        symbols, from, token, tokenFile, secretsDirectory, finnhubAudit, finnhubFill,
        upstreamURL, upstreamProxy, upstreamPingInterval, upstreamPongTimeout, upstreamSilentAfter, upstreamMaxMessage,
        upstreamMaxSymbols, upstreamSubscribeInterval, upstreamDropRepeats,
    ]

    private static let rest: [Setting] = [
        serviceURL, serviceTimeout, serviceCache,
        feedLateAfter, feedStaleAfter, feedStaleFactor, feedStaleLimit, feedCoolDownMin, feedCoolDownMax,
        feedRetryRefused, feedRetryOverLimit, feedRetryMax,
        authorityFile, verify, revocationListFile, stapling, pins, ciphers,
        dnsTimeout, tcpTimeout, tlsTimeout, upgradeTimeout,
        backoffMin, backoffMax, backoffAtLeast, backoffSettled, rateLimitedMin, rateLimitedMax, rejectedKey, briefLife,
        briefLimit, keyInUsePause,
        stateDirectory, runtimeDirectory,
        quiet, atMost,
        format, fields, isOnce, onceWithin, rotation, colour, displayTheme, displayPalette, displayGrouping,
        displayDecimal, displayTimeZone, displayColumns, displayFlash, displayTitle, displayMouse, displayBytes,
        isQuiet, keepsWatchlist,
        groups, symbolNotes, lots, holdingCurrency, rates, hidesAmounts, holdingClients,
        recordFile, recordDirectory, recordFlushInterval, recordSyncInterval, recordSegmentSize, recordCompress,
        recordKeepDays, recordKeepSize,
        historyFile,
        alertRules, alertActions, alertHysteresis, alertCooldown, alertQuietHours, alertExec, alertExecTimeout,
        alertExecAtOnce, alertWebhook, alertWebhookFile, alertWebhookAuthorityFile,
        relayListen, relayUnixSocket, relayCertificateFile, relayKeyFile, relayTokenFile, relayHostNames,
        relayAllowedOrigins, relayPingInterval, relayPongTimeout, relayMaxClients, relayMaxClientsPerAddress,
        relayMaxPlainConnections, relayHandshakeTimeout, relayMaxHeaders, relayMaxWaiting, relayMaxMessage,
        relayRequestBurst, relayRequestsPerSecond, relayUnsubscribeGrace, relayCompression, relayReplayControl,
        relayRooms, relayWAMP, wampBroker,
        linesListen,
        clusterRole, clusterName, clusterMember, clusterServers, clusterIdentityFile,
        logLevel, logFormat, logRepeats,
    ]

    /// The range of timeouts and waits.
    static let patience: ClosedRange<TimeAmount> = .milliseconds(10)...(.hours(1))
}

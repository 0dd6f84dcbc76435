import NIOCore

/// The settings of connections and of the state that they keep.
extension Setting {
    static let authorityFile = Setting(
        "tls.ca-file",
        \.dial.tls.trust,
        .trust,
        flags: ["ca-file"],
        help: "A PEM file of certificate authorities to trust instead of the system's."
    )
    static let verify = Setting(
        "tls.verify",
        \.dial.tls.verification,
        Syntax.flag.mapped({ $0 ? .full : .disabled }, { $0 == .full }),
        help: "Whether the service's certificate is checked; when not, everything that is shown says so."
    )
    static let revocationListFile = Setting(
        "tls.crl-file",
        \.dial.tls.revocationListFile,
        Syntax.path.optional("none"),
        help: "A file of certificate revocation lists, PEM or DER, which must not list the service's certificate."
    )
    static let stapling = Setting(
        "tls.ocsp",
        \.dial.tls.stapling,
        .word,
        help: "The OCSP answer that the service may send along: off, stapled (must be good if it comes), or required."
    )
    static let pins = Setting(
        "tls.pin",
        list: \.dial.tls.pins,
        of: .publicKeyPin,
        count: 0...20,
        help: "The public keys of which the service must show one, as sha256/BASE64; an authority's key will do."
    )
    static let ciphers = Setting(
        "tls.ciphers",
        \.dial.tls.ciphers,
        .cipherList,
        help: "The ciphers of TLS 1.2, as OpenSSL writes them; the default has forward secrecy and AEAD only."
    )

    static let dnsTimeout = Setting(
        "handshake.dns-timeout",
        \.dial.dnsTimeout,
        Syntax.duration.within(patience),
        help: "How long finding the service's address may take."
    )
    static let tcpTimeout = Setting(
        "handshake.tcp-timeout",
        \.dial.tcpTimeout,
        Syntax.duration.within(patience),
        help: "How long connecting may take."
    )
    static let tlsTimeout = Setting(
        "handshake.tls-timeout",
        \.dial.tls.handshakeTimeout,
        Syntax.duration.within(patience),
        help: "How long the TLS handshake may take."
    )
    static let upgradeTimeout = Setting(
        "handshake.upgrade-timeout",
        \.dial.upgradeTimeout,
        Syntax.duration.within(patience),
        help: "How long the answer to the WebSocket request may take."
    )

    static let backoffMin = Setting(
        "reconnect.min",
        \.finnhub.backoff.first,
        Syntax.duration.within(patience).nanoseconds,
        help: "The wait before the first new attempt after a lost connection; it doubles."
    )
    static let backoffMax = Setting(
        "reconnect.max",
        \.finnhub.backoff.limit,
        Syntax.duration.within(patience).nanoseconds,
        help: "The longest wait between attempts."
    )
    static let backoffAtLeast = Setting(
        "reconnect.at-least",
        \.finnhub.backoff.floor,
        Syntax.duration.within(.zero...(.hours(1))).nanoseconds,
        help: "The shortest wait, since a random part of each is taken off."
    )
    static let backoffSettled = Setting(
        "reconnect.settled",
        \.finnhub.backoff.settled,
        Syntax.duration.within(patience).nanoseconds,
        help: "For how long a connection must carry trades until the waits start again from the first."
    )
    static let rateLimitedMin = Setting(
        "reconnect.rate-limited-min",
        \.finnhub.backoff.rateLimited,
        Syntax.duration.within(patience).nanoseconds,
        help: "The wait after a refusal for too many attempts (429) that names no wait; it doubles."
    )
    static let rateLimitedMax = Setting(
        "reconnect.rate-limited-max",
        \.finnhub.backoff.rateLimitedLimit,
        Syntax.duration.within(patience).nanoseconds,
        help: "The longest such wait."
    )
    static let rejectedKey = Setting(
        "reconnect.rejected-key",
        \.rejectedKey,
        .rejectedKey(within: patience),
        help:
            "What to do when the key is rejected: stop, try again after a time, or auto (15m as a service, else stop)."
    )
    static let briefLife = Setting(
        "reconnect.brief",
        \.finnhub.backoff.brief,
        Syntax.duration.within(patience).nanoseconds,
        help: "A connection that dies this soon after it opened may have been thrown out by another one with the key."
    )
    static let briefLimit = Setting(
        "reconnect.brief-limit",
        \.finnhub.backoff.briefLimit,
        Syntax.count.within(1...1_000),
        help: "After this many of them in a row, the key counts as in use elsewhere."
    )
    static let keyInUsePause = Setting(
        "reconnect.key-in-use",
        \.finnhub.backoff.keyInUse,
        Syntax.duration.within(patience).nanoseconds,
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
}

import NIOCore

/// How the program connects, and what it keeps of that.
extension Setting {
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
    static let ciphers = Setting(
        "tls.ciphers",
        \.tls.ciphers,
        .cipherList,
        help: "The ciphers of TLS 1.2, as OpenSSL writes them; the default has forward secrecy and AEAD only."
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
}

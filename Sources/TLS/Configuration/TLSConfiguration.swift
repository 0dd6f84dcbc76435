package import NIOCore

/// A version of the protocol; older ones are not spoken and have no name here.
package enum TLSVersion: Sendable, Equatable, CaseIterable {
    /// RFC 5246.
    case tls12
    /// RFC 8446.
    case tls13
}

/// What a client wants of TLS.
package struct TLSClientConfiguration: Sendable, Equatable {
    /// Whose signatures make a certificate good.
    package enum Trust: Sendable, Equatable {
        /// The machine's own list of authorities; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace it, as everywhere in OpenSSL.
        case system
        /// The certificates in one PEM file, and no others.
        case file(String)
        /// The certificates in this PEM text, and no others.
        case certificates(pem: String)
    }

    /// Whether the peer must prove who it is.
    package enum Verification: Sendable {
        /// The chain, its dates and the peer's name are checked.
        case full
        /// Nothing is checked: anybody on the way can read and change all bytes. Whoever sets this must show it.
        case disabled
    }

    /// What is asked of the OCSP answer that a server may staple to its certificate (RFC 6066, 8); by the words of settings.
    package enum Stapling: String, Sendable, CaseIterable {
        /// It is not asked for.
        case ignored = "off"
        /// One that comes must be good; none is enough, unless the certificate demands one (RFC 7633).
        case checked = "stapled"
        /// One must come, and be good.
        case required
    }

    package var trust: Trust = .system
    package var verification: Verification = .full
    /// A file of certificate revocation lists, in PEM or DER; `nil` checks none. Only ``Verification/full`` looks at it.
    package var revocationListFile: String?
    /// Only ``Verification/full`` looks at it.
    package var stapling: Stapling = .checked
    /// The public keys of which the server must show one: its own or an authority's of its verified chain, and without
    /// verification its own. Empty allows all.
    package var pins: [PublicKeyPin] = []
    /// The protocols offered by ALPN, the preferred first; empty offers none.
    package var applicationProtocols: [String] = ["http/1.1"]
    /// The oldest and newest versions spoken.
    package var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    /// The cipher suites offered for TLS 1.2.
    package var ciphers: TLSCipherList = .standard
    /// How long a handshake may take.
    package var handshakeTimeout: TimeAmount = .seconds(5)
    /// How long the end waits for what was written to leave, and for the peer's close_notify.
    package var closeTimeout: TimeAmount = .seconds(1)

    package init() {}
}

/// What a server wants of TLS.
package struct TLSServerConfiguration: Sendable {
    /// Who the server is.
    package var credentials: TLSCredentials
    /// The OCSP answer to staple to the certificate for clients that ask, in DER; `nil` staples none.
    package var stapledAnswer: [UInt8]?
    /// The protocols accepted, the preferred first; empty leaves ALPN unanswered.
    package var applicationProtocols: [String] = ["http/1.1"]
    /// The oldest and newest versions spoken.
    package var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    /// The cipher suites accepted with TLS 1.2; the server's order counts.
    package var ciphers: TLSCipherList = .standard
    /// How long a handshake may take.
    package var handshakeTimeout: TimeAmount = .seconds(5)
    /// How long the end waits for what was written to leave, and for the peer's close_notify.
    package var closeTimeout: TimeAmount = .seconds(1)

    package init(credentials: TLSCredentials) {
        self.credentials = credentials
    }
}

extension TLSVersion: Comparable {
    package static func < (left: TLSVersion, right: TLSVersion) -> Bool { left == .tls12 && right == .tls13 }
}

extension TLSVersion: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tls12: "TLSv1.2"
        case .tls13: "TLSv1.3"
        }
    }
}

/// What a finished handshake agreed on.
package struct TLSSession: Sendable, Equatable {
    package var version: TLSVersion
    /// The cipher suite's name, such as `TLS_AES_256_GCM_SHA384`.
    package var cipher: String
    /// The protocol agreed by ALPN; `nil` where the peer does not speak ALPN.
    package var applicationProtocol: String?
    /// Whether an earlier session was resumed.
    package var isResumed: Bool
    /// Whether the peer's certificate and name were checked; always `false` on a server, which asks for none.
    package var isPeerVerified: Bool
    /// When the peer's certificate expires, seconds since 1970; `nil` where it has shown none.
    package var certificateExpiry: Int64?
}

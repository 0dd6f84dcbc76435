package import NIOCore

/// A version of TLS; older versions are not supported and have no case.
package enum TLSVersion: Sendable, Equatable, CaseIterable {
    /// RFC 5246.
    case tls12
    /// RFC 8446.
    case tls13
}

/// The settings of a TLS client.
package struct TLSClientConfiguration: Sendable, Equatable {
    /// The authorities whose signatures a client accepts.
    package enum Trust: Sendable, Equatable {
        /// The system's trust store; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace it, as in every program with OpenSSL.
        case system
        /// Only the certificates in one PEM file.
        case file(String)
        /// Only the certificates in this PEM text.
        case certificates(pem: String)
    }

    /// Whether the peer must prove its identity.
    package enum Verification: Sendable {
        /// The chain, its dates and the peer's name are checked.
        case full
        /// Nothing is checked: an attacker on the path can read and change all bytes. A caller that sets this must show
        /// it.
        case disabled
    }

    /// The requirement for the OCSP response that a server may staple to its certificate (RFC 6066, 8). The raw values
    /// are the words of the setting.
    package enum Stapling: String, Sendable, CaseIterable {
        /// A response is not requested.
        case ignored = "off"
        /// A response must be good. It may be missing, unless the certificate requires one (RFC 7633).
        case checked = "stapled"
        /// A good response is required.
        case required
    }

    package var trust: Trust = .system
    package var verification: Verification = .full
    /// A file of certificate revocation lists, in PEM or DER; `nil` checks none. Only ``Verification/full`` uses it.
    package var revocationListFile: String?
    /// Only ``Verification/full`` uses it.
    package var stapling: Stapling = .checked
    /// The accepted public keys. One of them must be in the verified chain: the server's own key or an authority's.
    /// Without verification only the server's own key counts. Empty accepts every key.
    package var pins: [PublicKeyPin] = []
    /// The protocols offered by ALPN, the preferred first; empty offers none.
    package var applicationProtocols: [String] = ["http/1.1"]
    /// The oldest and newest accepted versions.
    package var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    /// The cipher suites offered for TLS 1.2.
    package var ciphers: TLSCipherList = .standard
    /// The time limit of a handshake.
    package var handshakeTimeout: TimeAmount = .seconds(5)
    /// The time limit for sending the rest of the written bytes and for the peer's close_notify at the end.
    package var closeTimeout: TimeAmount = .seconds(1)

    package init() {}
}

/// The settings of a TLS server.
package struct TLSServerConfiguration: Sendable {
    /// The server's certificate and key.
    package var credentials: TLSCredentials
    /// The OCSP response to staple to the certificate for clients that request it, in DER; `nil` staples none.
    package var stapledAnswer: [UInt8]?
    /// The accepted protocols, the preferred first; empty ignores a client's ALPN extension.
    package var applicationProtocols: [String] = ["http/1.1"]
    /// The oldest and newest accepted versions.
    package var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    /// The cipher suites accepted with TLS 1.2; the server's order decides.
    package var ciphers: TLSCipherList = .standard
    /// The time limit of a handshake.
    package var handshakeTimeout: TimeAmount = .seconds(5)
    /// The time limit for sending the rest of the written bytes and for the peer's close_notify at the end.
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

/// The result of a completed handshake.
package struct TLSSession: Sendable, Equatable {
    package var version: TLSVersion
    /// The cipher suite's name, such as `TLS_AES_256_GCM_SHA384`.
    package var cipher: String
    /// The protocol agreed by ALPN; `nil` without an agreement.
    package var applicationProtocol: String?
    /// Whether an earlier session was resumed.
    package var isResumed: Bool
    /// Whether the peer's certificate and name were checked; always `false` on a server, which requests no certificate.
    package var isPeerVerified: Bool
    /// When the peer's certificate expires, in seconds since 1970; `nil` where the peer has not sent one.
    package var certificateExpiry: Int64?
}

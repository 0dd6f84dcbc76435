internal import COpenSSL
package import NIOCore

/// What all connections of a client or a server share: OpenSSL's context, the trust, the credentials, the sessions.
///
/// Make one and keep it: it is what sessions are resumed from. New credentials are a new context.
package final class TLSContext: Sendable {
    /// Which side it is for.
    package let isServer: Bool
    package let handshakeTimeout: TimeAmount
    package let closeTimeout: TimeAmount
    /// Whether a peer must prove who it is; a server asks for no certificate.
    package var verifiesPeer: Bool { self.checks.verifiesChain }
    let checks: PeerChecks
    let applicationProtocols: [String]
    let sessions = TLSSessionCache()
    /// OpenSSL's context. It counts its references atomically, and is not changed after `init`.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// The server's protocols as ALPN has them on the wire, for OpenSSL's callback.
    private let protocolList: ProtocolList
    /// The files that the trust and the revocation lists were read from, as they were just before.
    private let files: [FileStamp]
    /// The server's OCSP answer, for OpenSSL's callback.
    private let staple: ServerStaple?

    /// The least security level: 112 bits, so RSA of 2048 bits at least and no SHA-1 (`SSL_CTX_set_security_level`).
    static let minimumSecurityLevel: Int32 = 2

    /// Makes a client's context; throws ``TLSError/Kind/configuration`` for trust that cannot be loaded.
    ///
    /// All files are read here, so not on an event loop; a handshake reads none.
    package init(client: TLSClientConfiguration) throws(TLSError) {
        var files: [FileStamp] = []
        if client.verification == .full {
            if case .file(let path) = client.trust { files.append(FileStamp(path)) }
            if let path = client.revocationListFile { files.append(FileStamp(path)) }
        }
        let list = try ProtocolList(client.applicationProtocols)
        let context = try Self.make(TLS_client_method(), versions: client.versions, ciphers: client.ciphers)
        let checks: PeerChecks
        do throws(TLSError) {
            checks = try PeerChecks(client, into: context)
            // ALPN's setter alone answers 0 for success.
            if list.count > 0, SSL_CTX_set_alpn_protos(context, list.bytes, UInt32(list.count)) != 0 {
                throw OpenSSLErrors.configuration("application protocols")
            }
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        _ = twin_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(context) { ssl, session in
            if let ssl, let session { TLSConnection.behind(ssl)?.sessionArrived(session) }
            return 0  // The session stays OpenSSL's; what is kept is a copy.
        }
        self.isServer = false
        self.handshakeTimeout = client.handshakeTimeout
        self.closeTimeout = client.closeTimeout
        self.checks = checks
        self.staple = nil
        self.files = files
        self.applicationProtocols = client.applicationProtocols
        self.pointer = context
        self.protocolList = list
    }

    /// Makes a server's context; throws ``TLSError/Kind/configuration`` for credentials that cannot be used.
    package init(server: TLSServerConfiguration) throws(TLSError) {
        let list = try ProtocolList(server.applicationProtocols)
        let context = try Self.make(TLS_server_method(), versions: server.versions, ciphers: server.ciphers)
        do throws(TLSError) {
            try Self.use(server.credentials, in: context)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        _ = SSL_CTX_set_options(context, twin_SSL_OP_CIPHER_SERVER_PREFERENCE)
        // Tickets carry the whole session, sealed by a key of this context: nothing is kept for whoever may return.
        _ = twin_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        // A thousand idle clients keep no read and write buffers (34 KiB each).
        _ = twin_SSL_CTX_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
        if list.count > 0 {
            SSL_CTX_set_alpn_select_cb(context, selectProtocol, UnsafeMutableRawPointer(list.header))
        }
        self.isServer = true
        self.handshakeTimeout = server.handshakeTimeout
        self.closeTimeout = server.closeTimeout
        self.checks = .none
        self.files = []
        self.staple = server.stapledAnswer.map(ServerStaple.init)
        self.staple?.apply(to: context)
        self.applicationProtocols = server.applicationProtocols
        self.pointer = context
        self.protocolList = list
    }

    deinit {
        SSL_CTX_free(self.pointer)
    }

    /// Whether the CA file and the CRL file that it was made from are as they were then.
    ///
    /// Where not, a new context must be made for the next connection: what a list revokes must not wait for a restart.
    ///
    /// Looks at the files, so not on an event loop; not needed where it ``readNoFiles``.
    package var isCurrent: Bool { self.files.allSatisfy(\.isCurrent) }
    /// Whether it was made from no file that may change: it is always current.
    package var readNoFiles: Bool { self.files.isEmpty }

    /// Makes a context with what client and server have in common.
    private static func make(
        _ method: OpaquePointer?,
        versions: ClosedRange<TLSVersion>,
        ciphers: TLSCipherList
    ) throws(TLSError) -> OpaquePointer {
        OpenSSLErrors.clear()
        guard let context = SSL_CTX_new(method) else { throw OpenSSLErrors.library("SSL_CTX_new") }
        guard twin_SSL_CTX_set_min_proto_version(context, versions.lowerBound.number) == 1,
            twin_SSL_CTX_set_max_proto_version(context, versions.upperBound.number) == 1
        else {
            SSL_CTX_free(context)
            throw OpenSSLErrors.configuration("TLS versions")
        }
        _ = SSL_CTX_set_options(context, twin_SSL_OP_NO_COMPRESSION | twin_SSL_OP_NO_RENEGOTIATION)
        // The system's openssl.cnf may have set these; a stream cut short must stay an error here, and a resumed session has
        // keys of its own.
        _ = SSL_CTX_clear_options(
            context,
            twin_SSL_OP_IGNORE_UNEXPECTED_EOF | twin_SSL_OP_LEGACY_SERVER_CONNECT | twin_SSL_OP_NO_TICKET
                | twin_SSL_OP_ALLOW_NO_DHE_KEX | twin_SSL_OP_ALLOW_CLIENT_RENEGOTIATION
                | twin_SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION
        )
        do throws(TLSError) {
            try ciphers.apply(to: context)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        // A write is retried from wherever the bytes are by then.
        _ = twin_SSL_CTX_set_mode(context, Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        return context
    }

    private static func use(_ credentials: TLSCredentials, in context: OpaquePointer) throws(TLSError) {
        let source = credentials.certificateSource
        try PEM.withCertificates(in: credentials.certificateChainPEM, source: source) { chain throws(TLSError) in
            guard SSL_CTX_use_certificate(context, chain[0]) == 1 else { throw OpenSSLErrors.configuration(source) }
            for certificate in chain.dropFirst() {
                guard twin_SSL_CTX_add1_chain_cert(context, certificate) == 1 else {
                    throw OpenSSLErrors.configuration(source)
                }
            }
        }
        let keySource = credentials.keySource
        try PEM.withPrivateKey(in: credentials.privateKeyPEM, source: keySource) { key throws(TLSError) in
            guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
                throw OpenSSLErrors.configuration(keySource)
            }
        }
    }
}

extension TLSVersion {
    fileprivate var number: Int {
        switch self {
        case .tls12: Int(TLS1_2_VERSION)
        case .tls13: Int(TLS1_3_VERSION)
        }
    }
}

internal import COpenSSL
package import NIOCore

/// The state that all connections of a client or a server share: OpenSSL's context, trust, credentials and sessions.
///
/// Keep one context: sessions are resumed from it. New credentials need a new context.
package final class TLSContext: Sendable {
    /// Whether the context is for servers.
    package let isServer: Bool
    package let handshakeTimeout: TimeAmount
    package let closeTimeout: TimeAmount
    /// Whether a peer must prove its identity; a server requests no certificate.
    package var verifiesPeer: Bool { self.checks.verifiesChain }
    let checks: PeerChecks
    let applicationProtocols: [String]
    let sessions = TLSSessionCache()
    /// OpenSSL's context. Its reference count is atomic, and the context does not change after `init`.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// The server's protocols in ALPN's wire format, for OpenSSL's callback.
    private let protocolList: ProtocolList
    /// The stamps of the files with the trust and the revocation lists, taken just before the files were read.
    private let files: [FileStamp]
    /// The server's OCSP response, for OpenSSL's callback.
    private let staple: ServerStaple?

    /// The minimum security level: 112 bits, so RSA keys of at least 2,048 bits and no SHA-1
    /// (`SSL_CTX_set_security_level`).
    static let minimumSecurityLevel: Int32 = 2

    /// Makes a client's context. Throws ``TLSError/Kind/configuration`` for trust that cannot be loaded.
    ///
    /// It reads all files here, so it must not run on an event loop. A handshake reads no files.
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
            // Unlike the other setters, ALPN's returns 0 for success.
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
            return 0  // The session stays in OpenSSL's ownership; the cache keeps a copy.
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

    /// Makes a server's context. Throws ``TLSError/Kind/configuration`` for credentials that cannot be used.
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
        // A ticket carries the whole session, encrypted with a key of this context, so the server stores nothing for
        // clients that may return.
        _ = twin_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        // Without this mode a thousand idle clients would keep their read and write buffers (34 KiB each).
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

    /// Whether the CA file and the CRL file are unchanged since they were read.
    ///
    /// If not, the next connection needs a new context: a revocation must not wait for a restart.
    ///
    /// It reads the files' status, so it must not run on an event loop. With ``readNoFiles`` the check is not
    /// needed.
    package var isCurrent: Bool { self.files.allSatisfy(\.isCurrent) }
    /// Whether the context depends on no file that may change, so that it is always current.
    package var readNoFiles: Bool { self.files.isEmpty }

    /// Makes a context with the options that client and server share.
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
        // The system's openssl.cnf may have set these options. A truncated stream must stay an error, and a resumed
        // session must get fresh keys.
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
        // A write may be retried from another address.
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

internal import COpenSSL
internal import NIOCore

/// One TLS connection of OpenSSL's: ciphertext in and out on one side, plaintext on the other.
///
/// It knows no channel and no time. After each call the caller sends what ``takeOutput()`` has: even a failed call may
/// leave an alert there.
final class TLSConnection {
    /// What came of a read.
    enum ReadOutcome: Equatable {
        case bytes
        /// All that arrived is read.
        case needsInput
        /// The peer has said that it sends no more (close_notify).
        case closed
    }

    /// The largest plaintext of one record (RFC 8446, 5.1).
    static let recordBytes = 16 << 10

    private let context: TLSContext
    private let peer: TLSPeerName?
    let ssl: OpaquePointer
    private let bio: ByteBufferBIO
    /// Whether the handshake was completed; OpenSSL forgets it after an error.
    private var isEstablished = false
    /// Why the peer's certificate was refused; OpenSSL's own error only says that it was.
    var refused: TLSError?
    /// Until when what was checked of the peer is good, in seconds since 1970: a session of this connection must not be
    /// resumed later, for a resumed handshake shows nothing that could be checked.
    var checkedUntil: Int64

    /// Makes a connection on which nothing has happened; throws ``TLSError/Kind/configuration`` for a client that could
    /// not check its peer's name.
    init(context: TLSContext, peer: TLSPeerName?) throws(TLSError) {
        self.context = context
        self.peer = try context.isServer ? nil : peer?.validated()
        if context.verifiesPeer, self.peer == nil {
            throw TLSError(kind: .configuration, reason: "no name to check the peer's certificate against")
        }
        OpenSSLErrors.clear()
        guard let ssl = SSL_new(context.pointer) else { throw OpenSSLErrors.library("SSL_new") }
        self.ssl = ssl
        self.bio = ByteBufferBIO()
        // Where something is to be checked, nothing is good before it was.
        self.checkedUntil = context.verifiesPeer ? 0 : .max
        // All is set, so from here on `deinit` frees it.
        let bio = try self.bio.makeBIO()
        SSL_set_bio(ssl, bio, bio)
        guard SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            throw OpenSSLErrors.library("SSL_set_ex_data")
        }
        if context.isServer {
            SSL_set_accept_state(ssl)
        } else {
            SSL_set_connect_state(ssl)
            if let peer = self.peer { try self.expect(peer) }
        }
    }

    deinit {
        SSL_free(self.ssl)
    }

    /// Sets SNI and the name to verify, and the session to resume.
    private func expect(_ peer: TLSPeerName) throws(TLSError) {
        let parameters = SSL_get0_param(self.ssl)
        X509_VERIFY_PARAM_set_hostflags(
            parameters,
            UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
        )
        switch peer {
        case .host(let name):
            guard X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1,
                twin_SSL_set_tlsext_host_name(self.ssl, name) == 1
            else { throw OpenSSLErrors.configuration(name) }
        case .address(let address):
            guard X509_VERIFY_PARAM_set1_ip_asc(parameters, address) == 1 else {
                throw OpenSSLErrors.configuration(address)
            }
        }
        if self.checks.stapling != .ignored,
            twin_SSL_set_tlsext_status_type(self.ssl, TLSEXT_STATUSTYPE_ocsp) != 1
        {
            throw OpenSSLErrors.library("SSL_set_tlsext_status_type")
        }
        if let until = self.context.sessions.resume(self.ssl, for: peer) { self.checkedUntil = until }
    }

    /// What this connection checks of its peer.
    var checks: PeerChecks { self.context.checks }

    /// Whether an earlier session is resumed.
    var isResumed: Bool { SSL_session_reused(self.ssl) == 1 }

    /// Goes on with the handshake; returns whether it is complete.
    func handshake() throws(TLSError) -> Bool {
        OpenSSLErrors.clear()
        let result = SSL_do_handshake(self.ssl)
        if result == 1 {
            self.isEstablished = true
            try self.checkApplicationProtocol()
            return true
        }
        guard SSL_get_error(self.ssl, result) == SSL_ERROR_WANT_READ else { throw self.failure() }
        return false
    }

    /// Refuses a protocol that we did not offer: OpenSSL's client takes whatever the server names.
    private func checkApplicationProtocol() throws(TLSError) {
        guard !self.context.isServer, let agreed = self.applicationProtocol,
            !self.context.applicationProtocols.contains(agreed)
        else { return }
        // OpenSSL lets nobody else send an alert; a proper end must do.
        self.shutdown()
        throw TLSError(kind: .noApplicationProtocol, reason: "the server chose one that was not offered")
    }

    /// Reads as much as one record into the buffer.
    func read(into buffer: inout ByteBuffer) throws(TLSError) -> ReadOutcome {
        // Plaintext is shorter than its ciphertext, so the buffer rarely has to grow.
        let room = max(self.bio.input.readableBytes, 64)
        var result: Int32 = 0
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: min(room, 8 * Self.recordBytes)) { bytes in
            OpenSSLErrors.clear()
            result = SSL_read(self.ssl, bytes.baseAddress, Int32(clamping: bytes.count))
            return max(Int(result), 0)
        }
        if result > 0 { return .bytes }
        switch SSL_get_error(self.ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: throw self.failure()
        }
    }

    /// Encrypts all bytes, in records of 16 KiB and a rest.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) {
        guard bytes.count > 0 else { return }
        OpenSSLErrors.clear()
        // Our BIO takes everything and renegotiation is off, so a write is done at once or has failed.
        guard SSL_write(self.ssl, bytes.baseAddress, Int32(clamping: bytes.count)) == Int32(clamping: bytes.count)
        else {
            throw self.failure()
        }
    }

    /// Says close_notify, if there was a handshake to close.
    func shutdown() {
        OpenSSLErrors.clear()
        if SSL_shutdown(self.ssl) < 0 { OpenSSLErrors.clear() }
    }

    private func failure() -> TLSError {
        var error = OpenSSLErrors.failure(of: self.ssl, isEstablished: self.isEstablished)
        if let refused = self.refused {
            self.refused = nil
            error = refused
        }
        if error.kind != .truncated, let peer = self.peer { self.context.sessions.remove(peer) }
        return error
    }

    /// Keeps a session that the server offers for later; OpenSSL calls this from inside a handshake or a read.
    func sessionArrived(_ session: OpaquePointer) {
        if let peer = self.peer { self.context.sessions.store(session, for: peer, until: self.checkedUntil) }
    }

    // MARK: Ciphertext

    func receive(_ buffer: ByteBuffer) { self.bio.receive(buffer) }

    /// Says that no more ciphertext comes.
    func inputEnded() { self.bio.isInputEnded = true }

    /// Whether there is ciphertext, or its end, that no read has seen.
    var hasUnreadInput: Bool { self.bio.input.readableBytes > 0 || self.bio.isInputEnded }

    /// The ciphertext to send; `nil` where there is none.
    func takeOutput() -> ByteBuffer? { self.bio.takeOutput() }

    // MARK: What was agreed

    /// What the handshake agreed on; meaningful when it is complete.
    var session: TLSSession {
        TLSSession(
            version: SSL_version(self.ssl) >= TLS1_3_VERSION ? .tls13 : .tls12,
            cipher: SSL_get_current_cipher(self.ssl).map { String(cString: SSL_CIPHER_get_name($0)) } ?? "",
            applicationProtocol: self.applicationProtocol,
            isResumed: self.isResumed,
            isPeerVerified: self.context.verifiesPeer,
            certificateExpiry: self.certificateExpiry
        )
    }

    /// A resumed session has the certificate of the first one.
    private var certificateExpiry: Int64? {
        guard let certificate = SSL_get0_peer_certificate(self.ssl) else { return nil }
        return ASN1Times.seconds(of: X509_get0_notAfter(certificate))
    }

    private var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(self.ssl, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// The connection that an object of OpenSSL's belongs to.
    static func behind(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}

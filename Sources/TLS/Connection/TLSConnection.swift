internal import COpenSSL
internal import NIOCore

/// One OpenSSL connection, with ciphertext on one side and plaintext on the other.
///
/// It knows no channel and no time. After each call, even a failed one, the caller sends the bytes of ``takeOutput()``:
/// they may contain an alert.
final class TLSConnection {
    /// The result of a read.
    enum ReadOutcome: Equatable {
        case bytes
        /// All received ciphertext is read.
        case needsInput
        /// The peer has sent close_notify and sends no more data.
        case closed
    }

    /// The largest plaintext of one record, in bytes (RFC 8446, 5.1).
    static let recordBytes = 16 << 10

    private let context: TLSContext
    private let peer: TLSPeerName?
    let ssl: OpaquePointer
    private let bio: ByteBufferBIO
    /// Whether the handshake is complete; OpenSSL loses this state after an error.
    private var isEstablished = false
    /// The reason why the peer's certificate was refused; OpenSSL's own error does not name it.
    var refused: TLSError?
    /// When the checks of the peer stop being valid, in seconds since 1970. A session of this connection must not be
    /// resumed later, because a resumed handshake carries nothing to check.
    var checkedUntil: Int64

    /// Makes a connection before its handshake. Throws ``TLSError/Kind/configuration`` for a client that verifies and
    /// has no usable name of its peer.
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
        // With verification, nothing is valid before the first check.
        self.checkedUntil = context.verifiesPeer ? 0 : .max
        // All properties are set, so `deinit` frees `ssl` from here on.
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

    /// Sets SNI, the name to verify and the session to resume.
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

    /// The checks of this connection's peer.
    var checks: PeerChecks { self.context.checks }

    /// Whether an earlier session is resumed.
    var isResumed: Bool { SSL_session_reused(self.ssl) == 1 }

    /// Continues the handshake; returns whether it is complete.
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

    /// Refuses a protocol that was not offered, because OpenSSL's client accepts any protocol that the server chooses.
    private func checkApplicationProtocol() throws(TLSError) {
        guard !self.context.isServer, let agreed = self.applicationProtocol,
            !self.context.applicationProtocols.contains(agreed)
        else { return }
        // OpenSSL has no function to send an alert, so close_notify must do.
        self.shutdown()
        throw TLSError(kind: .noApplicationProtocol, reason: "the server chose one that was not offered")
    }

    /// Reads one record at most into the buffer.
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

    /// Encrypts all bytes, in records of at most 16 KiB.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) {
        guard bytes.count > 0 else { return }
        OpenSSLErrors.clear()
        // The BIO accepts all bytes and renegotiation is off, so a write completes at once or fails.
        guard SSL_write(self.ssl, bytes.baseAddress, Int32(clamping: bytes.count)) == Int32(clamping: bytes.count)
        else {
            throw self.failure()
        }
    }

    /// Sends close_notify if the handshake is complete.
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

    /// Stores a session that the server offers; OpenSSL calls this during a handshake or a read.
    func sessionArrived(_ session: OpaquePointer) {
        if let peer = self.peer { self.context.sessions.store(session, for: peer, until: self.checkedUntil) }
    }

    // MARK: Ciphertext

    func receive(_ buffer: ByteBuffer) { self.bio.receive(buffer) }

    /// Marks the end of the received ciphertext.
    func inputEnded() { self.bio.isInputEnded = true }

    /// Whether a read may return more: there is ciphertext, or its end, that no read has seen, or OpenSSL holds input that no
    /// read has returned.
    var hasMore: Bool {
        self.bio.input.readableBytes > 0 || self.bio.isInputEnded || SSL_has_pending(self.ssl) == 1
    }

    /// Returns the ciphertext to send; `nil` without output.
    func takeOutput() -> ByteBuffer? { self.bio.takeOutput() }

    // MARK: Results of the handshake

    /// The result of the handshake; meaningful once it is complete.
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

    /// The expiry of the peer's certificate; a resumed session keeps the certificate of the first one.
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

    /// Returns the connection of an OpenSSL object.
    static func behind(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}

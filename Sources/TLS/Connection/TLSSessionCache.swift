internal import COpenSSL
import NIOConcurrencyHelpers

/// The newest session of each peer of one client context, for the next connection to resume.
///
/// Connections on several loops share the cache. OpenSSL changes a session while a connection uses it, so the cache
/// stores and returns copies.
final class TLSSessionCache: Sendable {
    /// The largest number of peers. This program has one upstream; a load generator has a few.
    static let maximumPeers = 64

    private struct State {
        var sessions: [TLSPeerName: StoredSession] = [:]
        /// The peers by age of their sessions, the oldest first.
        var order: [TLSPeerName] = []
    }

    private let state = NIOLockedValueBox(State())

    /// Stores a copy of a session as the peer's newest.
    ///
    /// - Parameter until: when the checks of the peer stop being valid, in seconds since 1970.
    func store(_ session: OpaquePointer, for peer: TLSPeerName, until: Int64) {
        guard SSL_SESSION_is_resumable(session) == 1, let copy = SSL_SESSION_dup(session) else { return }
        let stored = StoredSession(owning: copy, until: until)
        self.state.withLockedValue { state in
            state.order.removeAll { $0 == peer }
            state.order.append(peer)
            state.sessions[peer] = stored
            if state.order.count > Self.maximumPeers {
                state.sessions[state.order.removeFirst()] = nil
            }
        }
    }

    /// Sets the peer's session on a connection if there is a valid one. Returns the end of its validity.
    ///
    /// A TLS 1.3 session is used once, so that an observer cannot link two connections by it (RFC 8446, C.4). A TLS 1.2
    /// session may serve many times, because its server rarely sends a new one.
    func resume(_ ssl: OpaquePointer, for peer: TLSPeerName) -> Int64? {
        let session = self.state.withLockedValue { state -> StoredSession? in
            guard let stored = state.sessions[peer] else { return nil }
            if stored.isUsable, !stored.isForOneUse { return stored.copy() }
            state.sessions[peer] = nil
            state.order.removeAll { $0 == peer }
            return stored.isUsable ? stored : nil
        }
        guard let session else { return nil }
        // A failure here costs only a full handshake.
        guard SSL_set_session(ssl, session.pointer) == 1 else {
            OpenSSLErrors.clear()
            return nil
        }
        return session.until
    }

    /// Removes the peer's session. After a failure the session could cause the next failure too.
    func remove(_ peer: TLSPeerName) {
        self.state.withLockedValue { state in
            state.sessions[peer] = nil
            state.order.removeAll { $0 == peer }
        }
    }
}

/// One OpenSSL session, freed with its last reference.
///
/// Unchecked, because the pointer is set once, and the session is only read and copied after that.
private final class StoredSession: @unchecked Sendable {
    let pointer: OpaquePointer
    /// When the checks of the peer stop being valid, in seconds since 1970.
    let until: Int64

    init(owning pointer: OpaquePointer, until: Int64) {
        self.pointer = pointer
        self.until = until
    }

    deinit {
        SSL_SESSION_free(self.pointer)
    }

    var isForOneUse: Bool { SSL_SESSION_get_protocol_version(self.pointer) >= TLS1_3_VERSION }

    /// Whether the checks made when the session began are still valid; a resumed handshake carries nothing to check.
    var isUsable: Bool { self.until > ASN1Times.now }

    func copy() -> StoredSession? {
        SSL_SESSION_dup(self.pointer).map { StoredSession(owning: $0, until: self.until) }
    }
}

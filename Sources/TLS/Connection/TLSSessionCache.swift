internal import COpenSSL
import NIOConcurrencyHelpers

/// The newest session of each peer of one client context, for the next connection to resume.
///
/// Connections on several loops share it, so every session that goes in or out is a copy of its own: OpenSSL changes a
/// session while a connection uses it.
final class TLSSessionCache: Sendable {
    /// The most peers kept; this program has one upstream, a load generator a few.
    static let maximumPeers = 64

    private struct State {
        var sessions: [TLSPeerName: StoredSession] = [:]
        /// The peers by age of their session, the oldest first.
        var order: [TLSPeerName] = []
    }

    private let state = NIOLockedValueBox(State())

    /// Keeps a copy of a session as the peer's newest.
    ///
    /// - Parameter until: when what was checked of the peer is no longer good, in seconds since 1970.
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

    /// Gives a connection the peer's session to resume, if there is one that is still good; returns until when it is.
    ///
    /// A TLS 1.3 session is given once, so that two connections cannot be linked by it (RFC 8446, C.4); one of TLS 1.2
    /// may serve many times, because its server sends a new one only now and then.
    func resume(_ ssl: OpaquePointer, for peer: TLSPeerName) -> Int64? {
        let session = self.state.withLockedValue { state -> StoredSession? in
            guard let stored = state.sessions[peer] else { return nil }
            if stored.isUsable, !stored.isForOneUse { return stored.copy() }
            state.sessions[peer] = nil
            state.order.removeAll { $0 == peer }
            return stored.isUsable ? stored : nil
        }
        guard let session else { return nil }
        // A refusal costs nothing but a full handshake.
        guard SSL_set_session(ssl, session.pointer) == 1 else {
            OpenSSLErrors.clear()
            return nil
        }
        return session.until
    }

    /// Forgets the peer's session: after a failure it might be the cause of the next one too.
    func remove(_ peer: TLSPeerName) {
        self.state.withLockedValue { state in
            state.sessions[peer] = nil
            state.order.removeAll { $0 == peer }
        }
    }
}

/// One session of OpenSSL's, freed with its last reference.
///
/// Unchecked, because the pointer is set once, and the session behind it is only read (and copied) after that.
private final class StoredSession: @unchecked Sendable {
    let pointer: OpaquePointer
    /// When what was checked of the peer is no longer good.
    let until: Int64

    init(owning pointer: OpaquePointer, until: Int64) {
        self.pointer = pointer
        self.until = until
    }

    deinit {
        SSL_SESSION_free(self.pointer)
    }

    var isForOneUse: Bool { SSL_SESSION_get_protocol_version(self.pointer) >= TLS1_3_VERSION }

    /// Whether all that was checked when the session began is still good: a resumed handshake shows nothing to check.
    var isUsable: Bool { self.until > ASN1Times.now }

    func copy() -> StoredSession? {
        SSL_SESSION_dup(self.pointer).map { StoredSession(owning: $0, until: self.until) }
    }
}

/// A failure of TLS: its kind, and the reason as text.
package struct TLSError: Error, Sendable, Equatable {
    /// The kinds of failure of a TLS connection.
    package enum Kind: Sendable, Equatable, CaseIterable {
        /// A setting, a file, a certificate or a key on this side cannot be used.
        case configuration
        /// This side refuses the peer's certificate; ``TLSError/refusal`` has the reason.
        case certificateRefused
        /// The peer ended the connection with this alert (RFC 8446, 6).
        case alertReceived
        /// The two sides have no version of TLS in common; usually one of them speaks only TLS 1.1 or older.
        case versionRefused
        /// The two sides have no cipher suite in common.
        case noCommonCipher
        /// The two sides have no application protocol in common (RFC 7301).
        case noApplicationProtocol
        /// The peer does not speak TLS, or violates its rules.
        case protocolViolation
        /// The peer closed the connection before the handshake was complete.
        case handshakeInterrupted
        /// The handshake did not complete within its time limit.
        case timedOut
        /// The stream ended without a close_notify: bytes may be missing, by accident or by attack (RFC 8446, 6.1).
        case truncated
        /// OpenSSL itself failed, for example without memory.
        case library
    }

    package var kind: Kind
    /// The reason as text: `certificate has expired`, `hostname mismatch`.
    package var reason: String
    /// The reason why a certificate was refused; `nil` for every other kind.
    package let refusal: CertificateRefusal?

    package init(kind: Kind, reason: String) {
        self.kind = kind
        self.reason = reason
        self.refusal = nil
    }

    /// Makes the error for a refused certificate.
    ///
    /// - Parameter detail: replaces the refusal's own text.
    package init(_ refusal: CertificateRefusal, detail: String? = nil) {
        self.kind = .certificateRefused
        self.reason = detail ?? refusal.words
        self.refusal = refusal
    }

    /// Whether the same attempt can succeed later without an operator's change.
    package var isTransient: Bool {
        switch self.kind {
        case .handshakeInterrupted, .timedOut, .truncated, .library: true
        case .configuration, .certificateRefused, .alertReceived, .versionRefused, .noCommonCipher,
            .noApplicationProtocol, .protocolViolation:
            false
        }
    }
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self.kind {
        case .configuration: "TLS setting: \(self.reason)"
        case .certificateRefused: "certificate refused: \(self.reason)"
        case .alertReceived: "refused by the peer: \(self.reason)"
        case .versionRefused: "no common TLS version: \(self.reason)"
        case .noCommonCipher: "no common cipher: \(self.reason)"
        case .noApplicationProtocol: "no common application protocol: \(self.reason)"
        case .protocolViolation: "TLS failed: \(self.reason)"
        case .handshakeInterrupted: "TLS handshake interrupted: \(self.reason)"
        case .timedOut: "TLS handshake timed out: \(self.reason)"
        case .truncated: "TLS stream truncated: \(self.reason)"
        case .library: "OpenSSL failed: \(self.reason)"
        }
    }
}

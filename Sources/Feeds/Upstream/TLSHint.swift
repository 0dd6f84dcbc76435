import TLS

extension TLSError {
    /// The remedy for a person, as the end of a sentence; `nil` if the error says it all, or if waiting helps.
    var hint: String? {
        if let refusal = self.refusal { return refusal.hint }
        switch self.kind {
        case .versionRefused: return "the service must speak TLS 1.2 or 1.3"
        case .noCommonCipher: return Self.cipherHint
        // Usually the alert of a server that shares no cipher with us.
        case .alertReceived where self.reason == "alert handshake failure": return Self.cipherHint
        case .noApplicationProtocol: return "is the upstream address that of a WebSocket service?"
        case .protocolViolation: return "is the upstream address that of a TLS service?"
        case .certificateRefused, .configuration, .alertReceived, .handshakeInterrupted, .timedOut, .truncated,
            .library:
            return nil
        }
    }
}

extension TLSError {
    private static let cipherHint =
        "if the service has no cipher with forward secrecy and AEAD, tls.ciphers can allow another"
}

extension CertificateRefusal {
    /// The remedy for a person, as the end of a sentence.
    fileprivate var hint: String {
        switch self {
        case .expired, .notYetValid:
            "is this machine's clock right? Else the service must renew it"
        case .selfSigned, .selfSignedAuthority, .unknownAuthority:
            "if the service uses a private authority, name its file with --ca-file"
        case .wrongHost, .wrongAddress:
            "is the upstream address right?"
        case .nameNotPermitted, .signedByNoAuthority, .chainTooLong, .forgedSignature, .weakKey, .weakAuthorityKey,
            .weakSignature, .wrongPurpose, .other:
            "the service needs another certificate"
        case .revokedByList, .authorityRevokedByList, .revokedByAnswer:
            "do not trust this service until it has another certificate"
        case .listMissing:
            "add the list of the certificate's authority to tls.crl-file"
        case .listExpired, .listNotYetValid:
            "is this machine's clock right? Else get the newest list into tls.crl-file"
        case .listForged, .listUnusable:
            "get the list of the certificate's authority into tls.crl-file"
        case .unknownToAuthority, .answerExpired, .answerNotYetValid, .answerAboutAnother, .answerForged,
            .answerUnreadable:
            "the service must correct this; tls.ocsp: off works without the answer"
        case .answerMissing:
            "tls.ocsp: stapled works without it"
        case .demandedAnswerMissing:
            "the service must correct this; tls.ocsp: off works without it"
        case .notPinned:
            "if the service has a new key for a good reason, add it to tls.pin"
        }
    }
}

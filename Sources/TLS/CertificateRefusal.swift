internal import COpenSSL

/// The reason why a client refuses a server's certificate. Each reason has its own text and its own hint for the
/// operator.
package enum CertificateRefusal: Sendable, Hashable, CaseIterable {
    // Found in the certificate and its chain.
    case expired
    case notYetValid
    case selfSigned
    case selfSignedAuthority
    case unknownAuthority
    case wrongHost
    case wrongAddress
    /// The name constraints of an authority exclude the name (RFC 5280, 4.2.1.10).
    case nameNotPermitted
    /// The certificate of an issuer in the chain does not allow it to sign certificates.
    case signedByNoAuthority
    /// The chain has more authorities below the root than a path length constraint allows.
    case chainTooLong
    case forgedSignature
    case weakKey
    case weakAuthorityKey
    case weakSignature
    /// The certificate is for another use, such as clients or mail (RFC 5280, 4.2.1.12).
    case wrongPurpose

    // Found with the CRL file.
    case revokedByList
    case authorityRevokedByList
    case listMissing
    case listExpired
    case listNotYetValid
    case listForged
    case listUnusable

    // Found in the stapled OCSP response.
    case revokedByAnswer
    case unknownToAuthority
    case answerExpired
    case answerNotYetValid
    case answerAboutAnother
    case answerForged
    case answerUnreadable
    case answerMissing
    /// The certificate requires a stapled response ("must staple", RFC 7633).
    case demandedAnswerMissing

    case notPinned

    /// Any other reason; the text is OpenSSL's.
    case other
}

extension CertificateRefusal {
    /// Maps a verification result of OpenSSL to a refusal.
    ///
    /// - Parameter depth: the position in the chain of the certificate at fault; 0 is the server's own certificate.
    init(result: Int32, depth: Int32) {
        switch result {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: self = .selfSignedAuthority
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            self = .unknownAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH: self = .wrongHost
        case X509_V_ERR_IP_ADDRESS_MISMATCH: self = .wrongAddress
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            self = .nameNotPermitted
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            self = .signedByNoAuthority
        case X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG: self = .chainTooLong
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: self = .forgedSignature
        case X509_V_ERR_EE_KEY_TOO_SMALL: self = .weakKey
        case X509_V_ERR_CA_KEY_TOO_SMALL: self = .weakAuthorityKey
        case X509_V_ERR_CA_MD_TOO_WEAK: self = .weakSignature
        case X509_V_ERR_INVALID_PURPOSE: self = .wrongPurpose
        case X509_V_ERR_CERT_REVOKED: self = depth == 0 ? .revokedByList : .authorityRevokedByList
        case X509_V_ERR_UNABLE_TO_GET_CRL: self = .listMissing
        case X509_V_ERR_CRL_HAS_EXPIRED: self = .listExpired
        case X509_V_ERR_CRL_NOT_YET_VALID: self = .listNotYetValid
        case X509_V_ERR_CRL_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE: self = .listForged
        case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
            X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_DIFFERENT_CRL_SCOPE,
            X509_V_ERR_CRL_PATH_VALIDATION_ERROR, X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD,
            X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD:
            self = .listUnusable
        default: self = .other
        }
    }

    /// The reason, as the end of a sentence that begins with "certificate refused".
    package var words: String {
        switch self {
        case .expired: "certificate has expired"
        case .notYetValid: "certificate is not yet valid"
        case .selfSigned: "self-signed certificate (unknown CA)"
        case .selfSignedAuthority: "self-signed certificate in certificate chain (unknown CA)"
        case .unknownAuthority: "unable to get local issuer certificate (unknown CA)"
        case .wrongHost: "hostname mismatch"
        case .wrongAddress: "IP address mismatch"
        case .nameNotPermitted: "name not permitted by its CA (name constraints)"
        case .signedByNoAuthority: "signed by a certificate that is not a CA"
        case .chainTooLong: "path length constraint exceeded"
        case .forgedSignature: "certificate signature failure"
        case .weakKey: "its key is too weak"
        case .weakAuthorityKey: "the key of a CA in its chain is too weak"
        case .weakSignature: "a signature in its chain is made with a weak digest"
        case .wrongPurpose: "it is not meant for a server"
        case .revokedByList: "revoked (CRL)"
        case .authorityRevokedByList: "a CA in its chain was revoked (CRL)"
        case .listMissing: "no CRL for its issuer"
        case .listExpired: "the CRL of its issuer is out of date"
        case .listNotYetValid: "the CRL of its issuer is not yet valid"
        case .listForged: "the CRL is not signed by its authority"
        case .listUnusable: "the CRL of its issuer cannot be used"
        case .revokedByAnswer: "revoked (stapled OCSP answer)"
        case .unknownToAuthority: "unknown to its issuer (stapled OCSP answer)"
        case .answerExpired: "the stapled OCSP answer is out of date"
        case .answerNotYetValid: "the stapled OCSP answer is not yet valid"
        case .answerAboutAnother: "the stapled OCSP answer is about another certificate"
        case .answerForged: "the stapled OCSP answer is not signed by its authority"
        case .answerUnreadable: "the stapled OCSP answer cannot be read"
        case .answerMissing: "no OCSP answer is stapled to it"
        case .demandedAnswerMissing: "no OCSP answer is stapled to it, which it requires (must-staple)"
        case .notPinned: "its public key is not one of those pinned"
        case .other: "certificate verification failed"
        }
    }
}

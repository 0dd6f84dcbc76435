internal import COpenSSL

/// The errors on OpenSSL's queue of this thread, converted to ``TLSError``s.
package enum OpenSSLErrors {
    /// Removes the errors of earlier calls, so that the next failure reports its own reason.
    @inline(__always)
    package static func clear() { ERR_clear_error() }

    /// Returns the oldest error, which caused the later ones, and empties the queue.
    static func take() -> UInt {
        let code = ERR_get_error()
        ERR_clear_error()
        return code
    }

    /// Returns OpenSSL's text for an error code.
    static func words(_ code: UInt) -> String {
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        guard code != 0 else { return "no reason given" }
        // System errors (a missing file) have no entry in OpenSSL's tables.
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        return text.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? "error \(code)"
        }
    }

    /// Makes the error for a setting that OpenSSL has rejected.
    static func configuration(_ what: String) -> TLSError {
        TLSError(kind: .configuration, reason: "\(what): \(words(take()))")
    }

    /// Makes the error for a call that fails only when OpenSSL or the machine is in trouble.
    package static func library(_ call: String) -> TLSError {
        TLSError(kind: .library, reason: "\(call): \(words(take()))")
    }

    /// Makes the error for a failed handshake, read or write from the queue and the connection's verification result.
    static func failure(of ssl: OpaquePointer, isEstablished: Bool) -> TLSError {
        let code = take()
        let library = ERR_GET_LIB(code)
        let reason = ERR_GET_REASON(code)
        guard library == ERR_LIB_SSL else {
            return TLSError(kind: .protocolViolation, reason: words(code))
        }
        switch reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            return isEstablished
                ? TLSError(kind: .truncated, reason: "the peer closed the connection without close_notify")
                : TLSError(kind: .handshakeInterrupted, reason: "the peer closed the connection")
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return refusal(result: Int32(truncatingIfNeeded: SSL_get_verify_result(ssl)), depth: 0)
        case SSL_R_UNSUPPORTED_PROTOCOL:
            return TLSError(kind: .versionRefused, reason: words(code))
        case SSL_R_NO_SHARED_CIPHER, SSL_R_WRONG_CIPHER_RETURNED:
            return TLSError(kind: .noCommonCipher, reason: words(code))
        case SSL_R_NO_APPLICATION_PROTOCOL:
            return TLSError(kind: .noApplicationProtocol, reason: words(code))
        case SSL_AD_REASON_OFFSET..<(SSL_AD_REASON_OFFSET + 256):
            let alert = reason - SSL_AD_REASON_OFFSET
            let words = "alert \(alertName(alert))"
            return switch alert {
            case SSL_AD_PROTOCOL_VERSION: TLSError(kind: .versionRefused, reason: words)
            case SSL_AD_NO_APPLICATION_PROTOCOL: TLSError(kind: .noApplicationProtocol, reason: words)
            default: TLSError(kind: .alertReceived, reason: words)
            }
        default:
            return TLSError(kind: .protocolViolation, reason: words(code))
        }
    }

    /// Makes the error for a verification result found at a depth of the chain.
    static func refusal(result: Int32, depth: Int32) -> TLSError {
        let refusal = CertificateRefusal(result: result, depth: depth)
        let words = String(cString: X509_verify_cert_error_string(Int(result)))
        switch refusal {
        case .other: return TLSError(refusal, detail: words)
        case .listUnusable: return TLSError(refusal, detail: "\(refusal.words): \(words)")
        default: return TLSError(refusal)
        }
    }

    /// Returns the name of an alert (RFC 8446, 6), in OpenSSL's words where it has them.
    static func alertName(_ number: Int32) -> String {
        // OpenSSL has no names for some newer alerts.
        switch number {
        case 109: return "missing extension"
        case 116: return "certificate required"
        case 120: return "no application protocol"
        default:
            let name = String(cString: SSL_alert_desc_string_long(number))
            return name == "unknown" ? "number \(number)" : name
        }
    }
}

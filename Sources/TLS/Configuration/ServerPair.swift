internal import COpenSSL
internal import Glibc

/// A server's certificate and key from two files, checked, with warnings for the operator.
package struct ServerPair: Sendable {
    package let credentials: TLSCredentials
    /// The facts of the server's own certificate, which is the first in its file.
    package let facts: CertificateFacts
    /// Problems that do not prevent the start and should be fixed, one line each.
    package let warnings: [String]

    /// A certificate with less than this time left gets a warning, in seconds: two weeks.
    private static let noticeSeconds: Int64 = 14 * 86_400

    /// Reads and checks the files.
    ///
    /// - Parameter now: the system's clock, in seconds since 1970.
    /// - Throws: ``TLSError/Kind/configuration`` with one line that names the file and says what to change.
    package static func load(
        certificate: String,
        key: String,
        now: Int64 = ASN1Times.now
    ) throws(TLSError) -> ServerPair {
        _ = try Self.status(of: certificate)
        let keyStatus = try Self.status(of: key)
        let credentials = try Self.read(certificate: certificate, key: key)
        let facts = try Self.check(credentials, certificate: certificate, key: key)
        guard facts.notAfter > now else {
            throw Self.refused(
                "\(certificate): expired on \(UTCDate.text(facts.notAfter))",
                "renew it, or make a new pair with `tickertape cert --force`, or correct this machine's clock"
            )
        }
        var warnings: [String] = []
        if facts.notBefore > now {
            warnings.append(
                "\(certificate) is not valid before \(UTCDate.text(facts.notBefore)), and clients refuse it until then: "
                    + "is this machine's clock right?"
            )
        } else if facts.notAfter - now < Self.noticeSeconds {
            warnings.append(
                "\(certificate) expires on \(UTCDate.text(facts.notAfter)): renew it, then send SIGHUP"
            )
        }
        if Self.isExposed(keyStatus) {
            let mode = String(keyStatus.st_mode & 0o777, radix: 8)
            warnings.append("\(key) can be read by others (mode 0\(mode)): chmod 600 \(key)")
        }
        return ServerPair(credentials: credentials, facts: facts, warnings: warnings)
    }

    /// Whether other users can read a key, by PostgreSQL's rule: a key that root owns may be readable by a group
    /// (Debian's `ssl-cert`).
    private static func isExposed(_ status: stat) -> Bool {
        let forbidden: mode_t = status.st_uid == 0 && geteuid() != 0 ? 0o027 : 0o077
        return status.st_mode & forbidden != 0
    }

    private static func status(of path: String) throws(TLSError) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.unreadable(path) }
        // A pipe could block the reader for ever, and would be empty at the next reload.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Self.refused("\(path): not a regular file", "name a file")
        }
        return status
    }

    private static func read(certificate: String, key: String) throws(TLSError) -> TLSCredentials {
        for path in [certificate, key] where access(path, R_OK) != 0 { throw Self.unreadable(path) }
        return try TLSCredentials.files(certificate: certificate, key: key)
    }

    private static func unreadable(_ path: String) -> TLSError {
        let code = errno
        let hint =
            switch code {
            case ENOENT, ENOTDIR: "correct the path, or make a pair with `tickertape cert`"
            case EACCES: "let the user that the program runs as read it"
            default: "correct it, or name another file"
            }
        return Self.refused("\(path): \(String(cString: strerror(code)))", hint)
    }

    /// Checks that both can be read and that the key belongs to the certificate.
    private static func check(
        _ credentials: TLSCredentials,
        certificate: String,
        key: String
    ) throws(TLSError) -> CertificateFacts {
        if !credentials.certificateChainPEM.contains("-----BEGIN ") {
            throw Self.refused("\(certificate): no PEM text", "convert it: openssl x509 -inform DER -in FILE -out NEW")
        }
        return try PEM.withCertificates(in: credentials.certificateChainPEM, source: certificate) {
            chain throws(TLSError) in
            let facts = try CertificateFacts(of: chain[0], source: certificate)
            try Self.refuseLocked(credentials.privateKeyPEM, path: key)
            try PEM.withPrivateKey(in: credentials.privateKeyPEM, source: key) { privateKey throws(TLSError) in
                guard X509_check_private_key(chain[0], privateKey) == 1 else {
                    OpenSSLErrors.clear()
                    throw Self.refused(
                        "\(key): does not belong to the first certificate in \(certificate)",
                        "name the key that the certificate was made with; the server's own certificate stands first"
                    )
                }
            }
            return facts
        }
    }

    private static func refuseLocked(_ text: String, path: String) throws(TLSError) {
        // Both formats state it: PKCS #8 (RFC 7468, 11) and the older header (RFC 1421, 4.6.1.1).
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
            throw Self.refused(
                "\(path): the key is encrypted with a password, which is not supported",
                "decrypt it: openssl pkey -in \(path) -out NEW, and keep NEW readable by its user alone"
            )
        }
        guard text.contains("PRIVATE KEY-----") else {
            throw Self.refused("\(path): no private key in it", "name the PEM file of the key")
        }
    }

    private static func refused(_ what: String, _ hint: String) -> TLSError {
        TLSError(kind: .configuration, reason: "\(what): \(hint)")
    }
}

/// Dates in ISO 8601.
package enum UTCDate {
    /// Formats seconds since 1970 as `2026-11-21`.
    package static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let numbers = [Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        return numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "-")
    }
}

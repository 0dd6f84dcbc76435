import Glibc
import TLS

/// A self-signed certificate for a relay, with its key.
///
/// It is not an authority (CA:FALSE), and clients trust it directly. A thief of the key can impersonate this relay to
/// these clients, but no other server.
struct SelfSignedCertificate {
    /// The absolute paths of the two files.
    struct Files {
        let certificate: String
        let key: String
    }

    private let names: [MachineName]
    private let credentials: TLSCredentials
    private let facts: CertificateFacts

    /// - Parameter days: the validity in days.
    init(for names: [MachineName], days: Int) throws(OperatorError) {
        self.names = names
        do throws(TLSError) {
            self.credentials = try CertificateAuthority.selfSigned(
                names: Self.hosts(of: names),
                addresses: Self.addresses(of: names),
                commonName: Self.best(of: names).text,
                notAfter: .seconds(Int64(days) * 86_400)
            )
            self.facts = try CertificateFacts(certificatePEM: self.credentials.certificateChainPEM)
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
    }

    private static func hosts(of names: [MachineName]) -> [String] {
        names.compactMap { name in if case .host(let host) = name { host } else { nil } }
    }

    private static func addresses(of names: [MachineName]) -> [String] {
        names.compactMap { name in if case .address(let address) = name { address } else { nil } }
    }

    /// Returns the first name by which other machines reach this one, or `localhost`.
    private static func best(of names: [MachineName]) -> MachineName {
        names.first { !MachineName.ofLoopback.contains($0) } ?? .host("localhost")
    }

    /// Writes `certificate.pem` and `key.pem` to an existing folder.
    ///
    /// - Parameter replaces: whether to replace existing files.
    func write(to folder: String, replaces: Bool) throws(OperatorError) -> Files {
        let folder = try Self.wholePath(of: folder)
        let files = Files(certificate: "\(folder)/certificate.pem", key: "\(folder)/key.pem")
        if !replaces {
            for path in [files.certificate, files.key] where access(path, F_OK) == 0 {
                throw OperatorError(
                    "\(path) exists already; choose another --out, or replace both with --force",
                    status: .failure
                )
            }
        }
        try NewFile.place(self.credentials.privateKeyPEM, at: files.key, mode: 0o600, replaces: replaces)
        try NewFile.place(
            self.credentials.certificateChainPEM,
            at: files.certificate,
            mode: 0o644,
            replaces: replaces
        )
        return files
    }

    /// Describes the two files and their use in the relay's config file and by clients.
    func description(of files: Files) -> [String] {
        let (certificate, key) = (files.certificate, files.key)
        let best = Self.best(of: self.names)
        let host = best.text.contains(":") ? "[\(best.text)]" : best.text
        let isReached = !MachineName.ofLoopback.contains(best)
        let token =
            isReached
            ? (watch: " --set relay.token-file=FILE", curl: " -H \"Authorization: Bearer $(cat FILE)\"")
            : (watch: "", curl: "")
        let names = Self.hosts(of: self.names) + Self.addresses(of: self.names)
        return [
            "certificate  \(certificate)",
            "key          \(key) (mode 0600; keep it secret)",
            "names        \(names.joined(separator: ", "))",
            "valid until  \(UTCDate.text(self.facts.notAfter))",
            "fingerprint  \(self.facts.fingerprint) (SHA-256)",
            "pin          \(self.facts.pin)",
            "",
            "In the config file of the relay:",
            "  relay:",
            "    certificate-file: \(certificate)",
            "    key-file: \(key)",
        ] + self.linesForOthers + [
            "",
            "Clients must trust \(certificate), which is not secret:",
            "  tickertape watch wss://\(host):8080 --ca-file \(certificate)\(token.watch)",
            "  curl --cacert \(certificate)\(token.curl) https://\(host):8080/v1/snapshot",
            "  Python (websocket-client): run_forever(sslopt={\"ca_certs\": \"\(certificate)\"})",
            "  Node: NODE_EXTRA_CA_CERTS=\(certificate)",
            "  browsers: open https://\(host):8080/ and compare the fingerprint before you go on",
        ]
    }

    /// The lines of the config file that let other machines reach the relay by these names.
    private var linesForOthers: [String] {
        let others = self.names.filter { !MachineName.ofLoopback.contains($0) }
        if others.isEmpty { return [] }
        let hosts = Self.hosts(of: others)
        var lines = [
            "    listen: 0.0.0.0:8080      # so that other machines can reach it",
            "    token-file: FILE          # which they then need: openssl rand -hex 24 > FILE; chmod 600 FILE",
        ]
        if !hosts.isEmpty { lines.append("    host-names: [\(hosts.joined(separator: ", "))]") }
        return lines
    }

    /// Returns the absolute path, since the config file is read from any working directory.
    private static func wholePath(of folder: String) throws(OperatorError) -> String {
        guard let found = realpath(folder, nil) else {
            throw OperatorError(
                "--out \(folder): \(String(cString: strerror(errno))); make the folder",
                status: .failure
            )
        }
        defer { free(found) }
        let path = String(cString: found)
        return path == "/" ? "" : path
    }
}

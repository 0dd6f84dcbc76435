import Glibc
import TLS

extension Assembly {
    /// Makes a certificate that vouches for itself, and its key; returns what to tell the person.
    ///
    /// It is no authority (CA:FALSE): it is trusted as it is, and whoever steals its key can be this relay to those who
    /// trust it and nobody else.
    package static func makeCertificate(_ order: CertificateOrder) throws(OperatorError) -> [String] {
        var names: [String] = []
        var addresses: [String] = []
        for name in order.names {
            switch name {
            case .host(let host): names.append(host)
            case .address(let address): addresses.append(address)
            }
        }
        let best = order.names.first { !MachineName.ofLoopback.contains($0) } ?? .host("localhost")
        let credentials: TLSCredentials
        let facts: CertificateFacts
        do throws(TLSError) {
            credentials = try CertificateAuthority.selfSigned(
                names: names,
                addresses: addresses,
                commonName: best.text,
                notAfter: .seconds(Int64(order.days) * 86_400)
            )
            facts = try CertificateFacts(certificatePEM: credentials.certificateChainPEM)
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
        let folder = try Self.wholePath(of: order.folder)
        let certificate = "\(folder)/certificate.pem"
        let key = "\(folder)/key.pem"
        if !order.replaces {
            for path in [certificate, key] where access(path, F_OK) == 0 {
                throw OperatorError(
                    "\(path) is there already; choose another --out, or replace both with --force",
                    status: .failure
                )
            }
        }
        try NewFile.place(credentials.privateKeyPEM, at: key, mode: 0o600, replaces: order.replaces)
        try NewFile.place(credentials.certificateChainPEM, at: certificate, mode: 0o644, replaces: order.replaces)
        let host = best.text.contains(":") ? "[\(best.text)]" : best.text
        let isReached = order.names.contains { !MachineName.ofLoopback.contains($0) }
        let token =
            isReached
            ? (watch: " --set relay.token-file=FILE", curl: " -H \"Authorization: Bearer $(cat FILE)\"")
            : (watch: "", curl: "")
        return [
            "certificate  \(certificate)",
            "key          \(key) (mode 0600; keep it secret)",
            "names        \((names + addresses).joined(separator: ", "))",
            "valid until  \(UTCDate.text(facts.notAfter))",
            "fingerprint  \(facts.fingerprint) (SHA-256)",
            "pin          \(facts.pin)",
            "",
            "In the config file of the relay:",
            "  relay:",
            "    certificate-file: \(certificate)",
            "    key-file: \(key)",
        ] + Self.reaching(given: order.names) + [
            "",
            "Clients must trust \(certificate), which is no secret:",
            "  tickertape watch wss://\(host):8080 --ca-file \(certificate)\(token.watch)",
            "  curl --cacert \(certificate)\(token.curl) https://\(host):8080/v1/snapshot",
            "  Python (websocket-client): run_forever(sslopt={\"ca_certs\": \"\(certificate)\"})",
            "  Node: NODE_EXTRA_CA_CERTS=\(certificate)",
            "  browsers: open https://\(host):8080/ and compare the fingerprint before you go on",
        ]
    }

    /// What else the config file needs, so that other machines reach the relay by these names.
    private static func reaching(given names: [MachineName]) -> [String] {
        let others = names.filter { !MachineName.ofLoopback.contains($0) }
        if others.isEmpty { return [] }
        let hosts = others.compactMap { name -> String? in if case .host(let host) = name { host } else { nil } }
        var lines = [
            "    listen: 0.0.0.0:8080      # so that other machines can reach it",
            "    token-file: FILE          # which they then need: openssl rand -hex 24 > FILE; chmod 600 FILE",
        ]
        if !hosts.isEmpty { lines.append("    host-names: [\(hosts.joined(separator: ", "))]") }
        return lines
    }

    /// The path from the root, for the config file, which is read from anywhere.
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

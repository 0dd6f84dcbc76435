internal import COpenSSL

/// The content of a certificate before it is signed.
struct CertificateTemplate {
    var commonName: String
    /// Offsets from the moment of signing.
    var notBefore: Duration
    var notAfter: Duration
    var names: [String] = []
    var addresses: [String] = []
    /// Whether it may sign other certificates.
    var isAuthority = false
    var key = KeyKind.p256
    var digest = Digest.sha256
    /// Further extensions, and replacements for the values of the extensions that every certificate has. Both names and
    /// values are in OpenSSL's syntax: `nameConstraints` and `critical,permitted;DNS:example.com`.
    var extensions: [String: String] = [:]

    /// The algorithm of the certificate's key.
    enum KeyKind {
        case p256
        case rsa(bits: UInt32)
    }

    /// The hash function of the signature.
    enum Digest {
        case md5, sha1, sha256
    }

    /// The upper bound of a common name in characters (`ub-common-name`, RFC 5280, A.1).
    private static let maximumCommonName = 64

    /// Makes a key and its certificate, signed by the issuer; without an issuer the certificate is self-signed.
    func sign(issuer: TLSCredentials?) throws(TLSError) -> TLSCredentials {
        OpenSSLErrors.clear()
        guard let key = self.key.make() else { throw OpenSSLErrors.library("making a key") }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw OpenSSLErrors.library("X509_new") }
        defer { X509_free(certificate) }
        try self.fill(certificate, key: key)
        if let issuer {
            try PEM.withCertificates(in: issuer.certificateChainPEM, source: "the authority") {
                chain throws(TLSError) in
                try PEM.withPrivateKey(in: issuer.privateKeyPEM, source: "the authority's key") {
                    issuerKey throws(TLSError) in
                    try self.finish(certificate, issuer: chain[0], issuerKey: issuerKey)
                }
            }
        } else {
            try self.finish(certificate, issuer: certificate, issuerKey: key)
        }
        return TLSCredentials(
            certificateChainPEM: try PEM.text { PEM_write_bio_X509($0, certificate) },
            privateKeyPEM: try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
        )
    }

    /// Sets everything except the issuer, the extensions and the signature.
    private func fill(_ certificate: OpaquePointer, key: OpaquePointer) throws(TLSError) {
        let version3 = 2
        try Self.check(X509_set_version(certificate, version3), "X509_set_version")
        // 126 random bits below a bit that is set: positive, and in practice unique (RFC 5280, 4.1.2.2).
        var serial = [UInt8](repeating: 0, count: 16)
        try Self.check(RAND_bytes(&serial, Int32(serial.count)), "RAND_bytes")
        serial[0] = serial[0] & 0x7F | 0x40
        guard let number = BN_bin2bn(serial, Int32(serial.count), nil) else { throw OpenSSLErrors.library("BN_bin2bn") }
        defer { BN_free(number) }
        guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil else {
            throw OpenSSLErrors.library("BN_to_ASN1_INTEGER")
        }
        try Self.set(X509_getm_notBefore(certificate), to: self.notBefore)
        try Self.set(X509_getm_notAfter(certificate), to: self.notAfter)
        try Self.check(X509_set_pubkey(certificate, key), "X509_set_pubkey")
        let subject = X509_get_subject_name(certificate)
        let name = String(self.commonName.unicodeScalars.prefix(Self.maximumCommonName))
        let added = X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_FLAG, name, Int32(name.utf8.count), -1, 0)
        try Self.check(added, "X509_NAME_add_entry_by_txt")
    }

    /// Sets the issuer and the extensions, and signs the certificate.
    private func finish(
        _ certificate: OpaquePointer,
        issuer: OpaquePointer,
        issuerKey: OpaquePointer
    ) throws(TLSError) {
        try Self.check(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)), "X509_set_issuer_name")
        var extensions = [
            "basicConstraints": self.isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE",
            "keyUsage": self.isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature",
            "subjectKeyIdentifier": "hash",
        ]
        if !self.isAuthority { extensions["extendedKeyUsage"] = "serverAuth" }
        if issuer != certificate { extensions["authorityKeyIdentifier"] = "keyid:always" }
        extensions.merge(self.extensions) { _, ours in ours }
        for (name, value) in extensions.sorted(by: { $0.key < $1.key }) {
            try Self.extend(certificate, issuer: issuer, name, value)
        }
        if !self.names.isEmpty || !self.addresses.isEmpty { try self.addAlternativeNames(to: certificate) }
        // X509_sign returns the signature's length.
        guard X509_sign(certificate, issuerKey, self.digest.method) > 0 else {
            throw OpenSSLErrors.library("X509_sign")
        }
    }

    /// Adds the names as values. In OpenSSL's text syntax for extensions a comma in a name would begin another name.
    private func addAlternativeNames(to certificate: OpaquePointer) throws(TLSError) {
        guard let list = twin_GENERAL_NAMES_new() else { throw OpenSSLErrors.library("GENERAL_NAMES_new") }
        defer { GENERAL_NAMES_free(list) }
        for name in self.names {
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw TLSError(kind: .configuration, reason: "\"\(name)\" is not a DNS name")
            }
            guard let text = ASN1_IA5STRING_new() else { throw OpenSSLErrors.library("ASN1_IA5STRING_new") }
            guard ASN1_STRING_set(text, name, Int32(name.utf8.count)) == 1 else {
                ASN1_STRING_free(text)
                throw OpenSSLErrors.library("ASN1_STRING_set")
            }
            try Self.append(UnsafeMutableRawPointer(text), type: GEN_DNS, to: list)
        }
        for address in self.addresses {
            guard let bytes = a2i_IPADDRESS(address) else {
                OpenSSLErrors.clear()
                throw TLSError(kind: .configuration, reason: "\"\(address)\" is not an IP address")
            }
            try Self.append(UnsafeMutableRawPointer(bytes), type: GEN_IPADD, to: list)
        }
        try Self.check(
            X509_add1_ext_i2d(certificate, NID_subject_alt_name, UnsafeMutableRawPointer(list), 0, 0),
            "X509_add1_ext_i2d"
        )
    }

    /// Adds a value to the list and passes its ownership to the list.
    private static func append(
        _ value: UnsafeMutableRawPointer,
        type: Int32,
        to list: OpaquePointer
    ) throws(TLSError) {
        guard let name = GENERAL_NAME_new() else {
            ASN1_STRING_free(value.assumingMemoryBound(to: ASN1_STRING.self))
            throw OpenSSLErrors.library("GENERAL_NAME_new")
        }
        GENERAL_NAME_set0_value(name, type, value)
        guard twin_sk_GENERAL_NAME_push(list, name) > 0 else {
            GENERAL_NAME_free(name)
            throw OpenSSLErrors.library("sk_GENERAL_NAME_push")
        }
    }

    private static func extend(
        _ certificate: OpaquePointer,
        issuer: OpaquePointer,
        _ name: String,
        _ value: String
    ) throws(TLSError) {
        var context = X509V3_CTX()
        twin_X509V3_set_ctx_nodb(&context)
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_conf(nil, &context, name, value) else {
            throw OpenSSLErrors.library("X509V3_EXT_conf")
        }
        defer { X509_EXTENSION_free(made) }
        try self.check(X509_add_ext(certificate, made, -1), "X509_add_ext")
    }

    private static func set(_ time: UnsafeMutablePointer<ASN1_TIME>?, to distance: Duration) throws(TLSError) {
        let (days, seconds) = distance.components.seconds.quotientAndRemainder(dividingBy: 86_400)
        guard X509_time_adj_ex(time, Int32(clamping: days), Int(seconds), nil) != nil else {
            throw OpenSSLErrors.library("X509_time_adj_ex")
        }
    }

    private static func check(_ result: Int32, _ call: String) throws(TLSError) {
        guard result == 1 else { throw OpenSSLErrors.library(call) }
    }
}

extension CertificateTemplate.KeyKind {
    fileprivate func make() -> OpaquePointer? {
        switch self {
        case .p256: twin_EVP_EC_gen("P-256")
        case .rsa(let bits): twin_EVP_RSA_gen(bits)
        }
    }
}

extension CertificateTemplate.Digest {
    var method: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }
}

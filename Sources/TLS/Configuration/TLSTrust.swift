internal import COpenSSL
internal import Glibc

/// The location of the authorities that the machine trusts.
struct SystemTrust: Equatable {
    /// A PEM file with all authorities; `nil` where the directories are enough.
    var file: String?
    /// Directories separated by colons, in which certificates have names made from their hashes.
    var directories: String

    /// Finds the location by OpenSSL's rules: `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the defaults of the build.
    ///
    /// The default file is left out where the default directory contains hashed names, as on Debian, because both hold
    /// the same certificates there.
    static func find(environment: (String) -> String?) -> SystemTrust {
        let file = environment(String(cString: X509_get_default_cert_file_env()))
        let directories = environment(String(cString: X509_get_default_cert_dir_env()))
        let chosen = directories ?? String(cString: X509_get_default_cert_dir())
        if let file { return SystemTrust(file: file, directories: chosen) }
        let standard = String(cString: X509_get_default_cert_file())
        let isNeeded = directories != nil || !Self.holdsHashedNames(chosen)
        let isThere = access(standard, R_OK) == 0
        return SystemTrust(file: isNeeded && isThere ? standard : nil, directories: chosen)
    }

    /// Whether neither the file nor a directory can hold an authority.
    var isEmpty: Bool { self.file == nil && !Self.holdsHashedNames(self.directories) }

    /// Whether a directory has a file named in the way of `openssl rehash`: eight hexadecimal digits, a dot, a number.
    static func holdsHashedNames(_ directories: String) -> Bool {
        directories.split(separator: ":").contains { !Self.hashedNames(in: String($0), atMost: 1).isEmpty }
    }

    /// The paths of the certificates in the directories.
    var certificates: [String] {
        self.directories.split(separator: ":").flatMap { Self.hashedNames(in: String($0), atMost: .max) }
    }

    private static func hashedNames(in path: String, atMost limit: Int) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(directory) {
            let isHashed = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                name.count > 9 && name[8] == UInt8(ascii: ".") && Self.isDigit(name[9])
                    && name[..<8].allSatisfy {
                        Self.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
                    }
            }
            guard isHashed else { continue }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append("\(path)/\(name)")
        }
        return names
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension TLSClientConfiguration.Trust {
    /// Adds the trusted authorities to the context. Throws ``TLSError/Kind/configuration`` where there are none.
    func apply(to context: OpaquePointer) throws(TLSError) {
        OpenSSLErrors.clear()
        switch self {
        case .system:
            let system = SystemTrust.find { name in getenv(name).map { String(cString: $0) } }
            guard !system.isEmpty else {
                throw TLSError(
                    kind: .configuration,
                    reason: "no trusted authorities in \(system.directories); install ca-certificates or name a CA file"
                )
            }
            if let file = system.file { try Self.load(file, into: context) }
            // Loads all of them now: `SSL_CTX_load_verify_dir` would open files during a handshake, on its event loop.
            // An unreadable file adds no authority, and the others still count.
            for path in system.certificates { try? Self.load(path, into: context) }
            OpenSSLErrors.clear()
        case .file(let path):
            try Self.load(path, into: context)
        case .certificates(let text):
            try PEM.withCertificates(in: text, source: "the trusted certificates") { certificates throws(TLSError) in
                let store = SSL_CTX_get_cert_store(context)
                for certificate in certificates {
                    guard X509_STORE_add_cert(store, certificate) == 1 else {
                        throw OpenSSLErrors.configuration("the trusted certificates")
                    }
                }
            }
        }
    }

    private static func load(_ path: String, into context: OpaquePointer) throws(TLSError) {
        try BoundedFile.check(path)
        guard SSL_CTX_load_verify_file(context, path) == 1 else { throw OpenSSLErrors.configuration(path) }
    }
}

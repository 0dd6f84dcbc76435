import Glibc
package import NATS
import TLS
import Wire

/// The settings of a cluster (docs/cluster.md).
package struct ClusterChoice: Sendable, Equatable {
    /// What this program is in a cluster.
    package enum Role: String, Sendable, CaseIterable {
        /// In no cluster: NATS is not used.
        case alone
        /// It holds the upstream, and sends its tape.
        case ingest
        /// It gets the tape of the ingest.
        case edge
    }

    package var role = Role.alone
    package var name = "main"
    /// The program's name in the cluster; `nil` for the host's.
    package var member: String?
    package var servers = [ServerAddress(host: "127.0.0.1")]
    /// The file with the proof of who this program is.
    package var identityFile: String?
    /// Read from that file.
    package var identity: NATSIdentity?

    package init() {}

    /// The program's name in the cluster.
    var memberName: String { self.member ?? Self.hostName }

    /// The subjects of the cluster.
    var subjects: ClusterSubjects {
        guard let subjects = ClusterSubjects(self.name) else {
            preconditionFailure("\(self.name) was accepted as a name")
        }
        return subjects
    }

    /// The host's name with its first part only, with `-` for what a name must not have.
    static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unnamed" }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(bitPattern: $0) }
        let name = String(decoding: bytes.prefix(ClusterSubjects.longestName), as: UTF8.self)
        let text = String(name.map { ClusterSubjects.isName(String($0)) ? $0 : "-" })
        return text.isEmpty ? "unnamed" : text
    }
}

extension Settings {
    /// The name of the file among the secrets, and of the credential.
    private static let identityName = "nats-identity"

    /// Reads the file with the proof of identity; returns warnings.
    mutating func settleCluster(_ folders: SecretFolders) throws(OperatorError) -> [String] {
        var path = self.cluster.identityFile
        var name = "cluster.identity-file (\(self.origin(of: .clusterIdentityFile)))"
        var isCredential = false
        if !self.isFromAbove(.clusterIdentityFile), let file = folders.find(Self.identityName) {
            (path, name, isCredential) = (file.path, file.words, file.isCredential)
            self.origins[Setting.clusterIdentityFile.key] = .file(file.path)
            self.cluster.identityFile = path
        }
        guard self.cluster.role != .alone, let path else { return [] }
        let (identity, hint) = try Self.readIdentity(path, named: name)
        self.cluster.identity = identity
        guard let hint, !isCredential else { return [] }
        return ["\(path) holds the identity for NATS and others can read it; run \(hint)"]
    }

    /// Returns the proof of identity, for a program that is in no cluster, too; `nil` without one.
    func clusterIdentity() throws(OperatorError) -> NATSIdentity? {
        if let identity = self.cluster.identity { return identity }
        guard let path = self.cluster.identityFile else { return nil }
        let name = "cluster.identity-file (\(self.origin(of: .clusterIdentityFile)))"
        return try Self.readIdentity(path, named: name).identity
    }

    private static func readIdentity(
        _ path: String,
        named name: String
    ) throws(OperatorError) -> (identity: NATSIdentity, hint: String?) {
        let (text, hint) = try TokenChoice.readText(path, named: name, status: .configuration)
        guard !text.isEmpty else { throw OperatorError("\(name): \(path) is empty", status: .configuration) }
        do {
            return (try Self.identity(text), hint)
        } catch {
            throw OperatorError("\(name): \(path): \(error)", status: .configuration)
        }
    }

    /// Reads an identity in one of its forms: a credentials file of `nsc`, an NKey's seed, `USER:PASSWORD`, or a token.
    private static func identity(_ text: String) throws -> NATSIdentity {
        if text.hasPrefix("-----BEGIN") { return .credentials(try NATSCredentials(file: Secret(text))) }
        if text.hasPrefix("SU"), text.utf8.count == 58 { return .key(try NKey(user: Secret(text))) }
        if let colon = text.firstIndex(of: ":") {
            return .user(String(text[..<colon]), password: Secret(String(text[text.index(after: colon)...])))
        }
        return .token(Secret(text))
    }
}

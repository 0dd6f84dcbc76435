import NIOCore
package import TLS
import Wire

/// The reason why a credentials file cannot be used.
package enum CredentialsFailure: Error, Sendable, Equatable {
    case noJWT
    case noSeed
    case malformedJWT
    case seed(NKeyFailure)
    /// The JWT names another user than the seed.
    case otherUser
}

extension CredentialsFailure: CustomStringConvertible {
    /// One line, without any part of the file.
    package var description: String {
        switch self {
        case .noJWT:
            "the credentials file has no BEGIN NATS USER JWT: name a file that `nsc generate creds` has written"
        case .noSeed:
            "the credentials file has no BEGIN USER NKEY SEED: name a file that `nsc generate creds` has written"
        case .malformedJWT: "the JWT in the credentials file is damaged: generate the file again"
        case .seed(let failure): "the seed in the credentials file cannot be used: \(failure)"
        case .otherUser: "the JWT and the seed in the credentials file are of two users: generate the file again"
        }
    }
}

/// A user's credentials: a JWT, and the key that proves it. The file is the one that `nsc` writes (`.creds`).
package struct NATSCredentials: Sendable, Equatable {
    package let jwt: Secret
    package let key: NKey

    /// Reads the text of a credentials file.
    package init(file: Secret) throws(CredentialsFailure) {
        let lines = file.reveal().split(whereSeparator: \.isNewline)
        guard let jwt = Self.block("NATS USER JWT", lines) else { throw .noJWT }
        guard let seed = Self.block("USER NKEY SEED", lines) else { throw .noSeed }
        do throws(NKeyFailure) {
            self.key = try NKey(user: Secret(seed))
        } catch {
            throw .seed(error)
        }
        guard let user = Self.user(of: jwt) else { throw .malformedJWT }
        guard user == self.key.publicText else { throw .otherUser }
        self.jwt = Secret(jwt)
    }

    /// Returns the text between the lines `-----BEGIN name-----` and `------END name------`.
    private static func block(_ name: String, _ lines: [Substring]) -> String? {
        let isMark: (Substring, String) -> Bool = { line, word in
            line.hasPrefix("---") && line.contains("\(word) \(name)-")
        }
        guard let begin = lines.firstIndex(where: { isMark($0, "BEGIN") }),
            // Behind the first line: a file whose line ends were lost has both marks in one line.
            let end = lines[(begin + 1)...].firstIndex(where: { isMark($0, "END") })
        else { return nil }
        let text = lines[(begin + 1)..<end].joined().filter { !$0.isWhitespace }
        return text.isEmpty ? nil : text
    }

    /// Returns the subject of a JWT (RFC 7519, 4.1.2), which is the user's public key.
    private static func user(of jwt: String) -> String? {
        let parts = jwt.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Base64.decode(parts[1].utf8, as: .url) else { return nil }
        var user: String?
        let isWhole = claims.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                guard key.equals("sub") else { return reader.skipValue() }
                user = reader.string()?.text
                return user != nil
            }
        }
        return isWhole ? user : nil
    }
}

/// The way in which a client proves who it is.
package enum NATSIdentity: Sendable, Equatable {
    case user(String, password: Secret)
    case token(Secret)
    case key(NKey)
    case credentials(NATSCredentials)

    /// Whether the secret itself is sent, so that without TLS it can be read on the way. A key only signs.
    package var sendsSecret: Bool {
        switch self {
        case .user, .token: true
        case .key, .credentials: false
        }
    }

    /// Returns the proof for a server's nonce; `nil` if it needs a nonce and the server has sent none.
    func proof(nonce: String?) -> ConnectProof? {
        switch self {
        case .user(let user, let password): return .user(user, password: password)
        case .token(let token): return .token(token)
        case .key(let key): return nonce.map { .key(key.publicText, signature: key.signature(of: $0)) }
        case .credentials(let credentials):
            return nonce.map { .jwt(credentials.jwt, signature: credentials.key.signature(of: $0)) }
        }
    }
}

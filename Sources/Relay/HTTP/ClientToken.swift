import TLS

/// The secret that clients of a relay must show; no description, mirror or dump shows it.
///
/// What is kept is its digest: comparing digests in constant time tells neither how much of a guess is right nor how long
/// the token is.
package struct ClientToken: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The fewest characters that are taken for a token: shorter ones can be guessed.
    package static let leastCharacters = 16

    private let digest: [UInt8]

    package init(_ token: String) { self.digest = SHA256.digest(token.utf8) }

    /// Whether a guess is the token.
    func matches(_ guess: some StringProtocol) -> Bool {
        ConstantTime.areEqual(SHA256.digest(guess.utf8), self.digest)
    }

    package static func == (one: ClientToken, other: ClientToken) -> Bool {
        ConstantTime.areEqual(one.digest, other.digest)
    }

    package var description: String { "(a token)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

internal import COpenSSL

/// A text that must not be seen, such as a key, a token or a password: prints, logs, dumps and interpolations show only that
/// it is there.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Returns the text itself, for the one place that sends it.
    package func reveal() -> String { self.text }

    /// Returns whether a guess is right, in a time that tells neither how much of it is right nor how long the secret is
    /// (CRYPTO_memcmp(3), of digests).
    package func matches(_ guess: some StringProtocol) -> Bool {
        let one = SHA256.digest(guess.utf8)
        let other = SHA256.digest(self.text.utf8)
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0 }
        }
    }

    package static func == (one: Secret, other: Secret) -> Bool { one.matches(other.text) }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }

    /// Empty, since `dump` and test failures look through `description`.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

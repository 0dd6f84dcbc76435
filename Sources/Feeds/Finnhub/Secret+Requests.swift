import Market
import TLS

// The forms in which a key is sent, and its removal from answers.
extension Secret {
    /// Returns the request target with the key, percent-encoded. Never log it.
    func target(path: String) -> String { path + "?token=" + PercentText.encoded(self.reveal()) }

    /// The header with the token for a relay (RFC 6750, 2.1). Never log it.
    var bearer: (String, String) { ("Authorization", "Bearer \(self.reveal())") }

    /// The header with the key for Finnhub's REST service; `nil` if the key has characters that no header can hold.
    /// Never log it.
    var serviceHeader: (String, String)? {
        guard self.reveal().utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        return ("X-Finnhub-Token", self.reveal())
    }

    /// Returns a text without the key, be it plain or escaped, whole or truncated. Services repeat requests in their
    /// refusals.
    ///
    /// Keys of fewer than ``KeyDetector/length`` bytes stay. They are not secret, and would be found in ordinary words.
    func redacted(_ text: String) -> String { KeyDetector(self).redacted(text) }
}

extension ConnectorSettings: CustomStringConvertible, CustomReflectable {
    /// Omits the target, which holds the key.
    package var description: String { "ConnectorSettings(\(self.address))" }
    package var customMirror: Mirror { Mirror(self, children: ["address": self.address]) }
}

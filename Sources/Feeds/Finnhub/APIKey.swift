/// Finnhub's key: a secret that no description, mirror or dump shows.
package struct APIKey: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let secret: String

    package init(_ secret: String) {
        self.secret = secret
    }

    /// The request target that carries the key, percent-encoded (RFC 3986, 2.3). Never log it.
    func target(path: String) -> String {
        var target = path + "?token="
        for byte in self.secret.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                target.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                target += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return target
    }

    /// A text with the key left out, plain or percent-encoded: services repeat what they were sent in their refusals.
    ///
    /// Keys of a few bytes stay, since they are no secrets and would be found in ordinary words.
    func redacted(_ text: String) -> String {
        guard self.secret.utf8.count >= 8 else { return text }
        let encoded = String(self.target(path: "").dropFirst("?token=".count))
        return text.replacing(self.secret, with: "(the key)").replacing(encoded, with: "(the key)")
    }

    package var description: String { "(a key)" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

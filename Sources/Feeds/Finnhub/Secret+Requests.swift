import TLS

// How a key is sent, and how it is kept out of what comes back.
extension Secret {
    /// The request target that carries the key, percent-encoded (RFC 3986, 2.3). Never log it.
    func target(path: String) -> String {
        var target = path + "?token="
        for byte in self.reveal().utf8 {
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

    /// The header that shows the token of a relay (RFC 6750, 2.1). Never log it.
    var bearer: (String, String) { ("Authorization", "Bearer \(self.reveal())") }

    /// The header that shows the key to Finnhub's REST service; `nil` for a key that no header can hold. Never log it.
    var serviceHeader: (String, String)? {
        guard self.reveal().utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        return ("X-Finnhub-Token", self.reveal())
    }

    /// Returns a text with the key left out, plain or escaped, whole or cut: services repeat what they were sent in their
    /// refusals.
    ///
    /// Keys of less than ``KeyDetector/length`` bytes stay, since they are no secrets and would be found in ordinary words.
    func redacted(_ text: String) -> String { KeyDetector(self).redacted(text) }
}

extension ConnectorSettings: CustomStringConvertible, CustomReflectable {
    /// Without the target, which carries the key.
    package var description: String { "ConnectorSettings(\(self.address))" }
    package var customMirror: Mirror { Mirror(self, children: ["address": self.address]) }
}

import TLS

extension Secret {
    /// Accepts a token that needs no escaping in a URL's query; `nil` for any other text.
    init?(token text: String) {
        guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        self.init(text)
    }

    /// Whether the text has a character that Finnhub's keys do not have.
    ///
    /// Typical causes are quotation marks that a shell would have removed, an unexpanded `${NAME}`, and `token=` copied
    /// from a URL.
    var isUnlikelyKey: Bool {
        !self.reveal().utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}

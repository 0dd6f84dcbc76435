import TLS

extension Secret {
    /// Takes a token that can stand in a URL's query as it is read; `nil` for anything else.
    init?(token text: String) {
        guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        self.init(text)
    }

    /// Whether there is anything in it that Finnhub's keys, which are letters and digits, do not have: quotation marks that
    /// a shell would have taken off, `${NAME}` that nobody filled in, `token=` from a URL.
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

/// The address of a page on the web, as a terminal takes it for a link (OSC 8): `http` or `https`, in printable ASCII.
struct ScreenLink: Sendable, Equatable {
    /// Some terminals take no longer ones (VTE's limit).
    static let longest = 2_083

    let address: String

    /// Returns the address of a text from outside; `nil` if it is not one. Other characters than those of ASCII are
    /// percent-encoded.
    init?(_ text: String) {
        let start = text.prefix(8).lowercased()
        guard let scheme = ["https://", "http://"].first(where: start.hasPrefix), text.utf8.count <= Self.longest
        else { return nil }
        var address = ""
        for byte in text.utf8 {
            switch byte {
            // A control character, a blank or a delimiter is part of no address.
            case 0...0x20, 0x7F, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""): return nil
            case 0x80...: address += "%" + String(byte, radix: 16, uppercase: true)
            default: address.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        guard address.utf8.count > scheme.utf8.count, address.utf8.count <= Self.longest else { return nil }
        self.address = address
    }

    /// The bytes that begin the link. Parts of one number belong together, also on several lines.
    func start(_ number: UInt16) -> [UInt8] { Array("\u{1B}]8;id=\(number);\(self.address)\u{1B}\\".utf8) }

    /// The bytes that end any link.
    static let end: [UInt8] = Array("\u{1B}]8;;\u{1B}\\".utf8)
}

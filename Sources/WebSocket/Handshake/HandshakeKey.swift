/// The two header values by which both sides prove that they speak WebSocket (RFC 6455, 4.1 and 4.2.2).
enum HandshakeKey {
    private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`.
    static func accept(for key: String) -> String {
        Self.base64(SHA1.digest((key + Self.magic).utf8))
    }

    /// Returns sixteen bytes as a `Sec-WebSocket-Key`.
    static func encode(_ nonce: (UInt64, UInt64)) -> String {
        Self.base64([nonce.0, nonce.1].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }

    /// Whether the text is the base64 of sixteen bytes: 22 digits and the padding.
    static func isValid(_ key: Substring) -> Bool {
        let digits = key.utf8
        return digits.count == 24 && digits.suffix(2).elementsEqual("==".utf8)
            && digits.dropLast(2).allSatisfy(Self.alphabet.contains)
    }

    /// Returns bytes in base64 (RFC 4648, 4).
    static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0..<4 {
                text.append(digit <= group.count ? Self.alphabet[bits >> (18 - 6 * digit) & 0x3F] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: Unicode.UTF8.self)
    }
}

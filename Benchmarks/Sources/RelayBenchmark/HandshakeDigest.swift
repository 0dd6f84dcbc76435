/// The value of Sec-WebSocket-Accept (RFC 6455, 4.2.2): SHA-1 (RFC 3174), then Base64.
enum HandshakeDigest {
    static func accept(key: String) -> String {
        Self.base64(Self.sha1(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
    }

    static func sha1(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: UInt64(56), through: 0, by: -8) { padded.append(UInt8(bits >> shift & 0xFF)) }
        var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: 64) {
            var words = [UInt32](repeating: 0, count: 80)
            for index in 0..<64 { words[index / 4] = words[index / 4] << 8 | UInt32(padded[start + index]) }
            for index in 16..<80 {
                let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words[index] = Self.rotated(mixed, 1)
            }
            Self.digest(words, into: &hash)
        }
        return hash.flatMap { word in [24, 16, 8, 0].map { UInt8(word >> $0 & 0xFF) } }
    }

    private static func digest(_ words: [UInt32], into hash: inout [UInt32]) {
        var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
        for (index, word) in words.enumerated() {
            let (f, k): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = Self.rotated(a, 5) &+ f &+ e &+ k &+ word
            (e, d, c, b, a) = (d, c, Self.rotated(b, 30), a, next)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { hash[index] = hash[index] &+ value }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

    private static func base64(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value = group.reduce(0) { $0 << 8 | Int($1) }
            value <<= 8 * (3 - group.count)
            for index in 0..<4 {
                text.append(index <= group.count ? letters[value >> (18 - 6 * index) & 63] : "=")
            }
        }
        return text
    }
}

/// The text of an NKey: Base32 (RFC 4648, 6) without padding, of a prefix, the key and a CRC-16 (nats-io/nkeys).
enum NKeyText {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Adds the checksum and returns the text.
    static func text(_ bytes: [UInt8]) -> String {
        let checksum = Self.checksum(bytes)
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes + [UInt8(checksum & 0xFF), UInt8(checksum >> 8)] {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            count += 8
            while count >= 5 {
                count -= 5
                text.append(Self.alphabet[bits >> count & 0x1F])
            }
        }
        if count > 0 { text.append(Self.alphabet[bits << (5 - count) & 0x1F]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a text and removes the checksum, if it is right.
    static func bytes(_ text: some StringProtocol) throws(NKeyFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for digit in text.utf8 {
            let value: Int
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = Int(digit - UInt8(ascii: "A"))
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = Int(digit - UInt8(ascii: "2")) + 26
            default: throw .notBase32
            }
            bits = (bits << 5 | value) & 0xFFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        guard bytes.count > 3 else { throw .wrongLength }
        let key = Array(bytes.dropLast(2))
        let sum = UInt16(bytes[bytes.count - 2]) | UInt16(bytes[bytes.count - 1]) << 8
        guard Self.checksum(key) == sum else { throw .wrongChecksum }
        return key
    }

    /// CRC-16/XMODEM: polynomial 0x1021, from 0.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1 }
        }
        return sum
    }
}

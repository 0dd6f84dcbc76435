/// The SHA-1 digest (FIPS 180-4, 6.1), for `Sec-WebSocket-Accept` alone: it proves that the peer speaks WebSocket, not
/// its identity.
///
/// OpenSSL has SHA-1 as well, but only the module TLS imports OpenSSL. NIO's implementation is not public.
enum SHA1 {
    static func digest(_ message: some Sequence<UInt8>) -> [UInt8] {
        var bytes = Array(message)
        let bits = UInt64(bytes.count) * 8
        bytes.append(0x80)
        while bytes.count % 64 != 56 { bytes.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }

        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for block in stride(from: 0, to: bytes.count, by: 64) { Self.mix(bytes[block..<block + 64], into: &state) }
        return state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for round in 16..<80 {
            words.append(
                Self.rotate(words[round - 3] ^ words[round - 8] ^ words[round - 14] ^ words[round - 16], by: 1)
            )
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for round in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch round {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = Self.rotate(a, by: 5) &+ mixed &+ e &+ constant &+ words[round]
            (a, b, c, d, e) = (next, a, Self.rotate(b, by: 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, by bits: UInt32) -> UInt32 {
        word << bits | word >> (32 - bits)
    }
}

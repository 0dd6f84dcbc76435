import TLS
import Testing

@Suite struct Ed25519KeyTests {
    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test(
        "signs as RFC 8032, 7.1 shows",
        arguments: [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595b"
                    + "be24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb430"
                    + "2aeeb00d291612bb0c00"
            ),
        ]
    )
    func known(seed: String, publicKey: String, message: String, signature: String) throws {
        let key = try #require(Ed25519Key(seed: self.bytes(seed)))
        #expect(key.publicKey == self.bytes(publicKey))
        #expect(key.sign(self.bytes(message)) == self.bytes(signature))
        var text = "\(key)"
        dump(key, to: &text)
        #expect(!text.contains("157"))
    }

    @Test("refuses a seed of another length")
    func refused() {
        for count in [0, 31, 33, 64] { #expect(Ed25519Key(seed: [UInt8](repeating: 1, count: count)) == nil) }
    }
}

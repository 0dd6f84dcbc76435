import Testing
@testable import WebSocket

@Suite struct UTF8ValidatorTests {
    static let valid: [[UInt8]] = [
        [], Array("plain ASCII of more than eight bytes".utf8), Array("κόσμε € 𝄞 ÿ".utf8),
        [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
        [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0x00],
    ]

    /// Invalid bytes, and the length of the prefix that may still begin a valid text.
    static let invalid: [(bytes: [UInt8], good: Int)] = [
        ([0x80], 0), ([0xBF], 0), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xF5, 0x80, 0x80, 0x80], 0), ([0xFE], 0),
        ([0xFF], 0), ([0xE0, 0x80, 0x80], 1), ([0xE0, 0x9F, 0xBF], 1), ([0xED, 0xA0, 0x80], 1),
        ([0xED, 0xBF, 0xBF], 1),
        ([0xF0, 0x80, 0x80, 0x80], 1), ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xC2, 0x41], 1),
        ([0xE2, 0x82, 0x41], 2), ([0xF0, 0x9D, 0x84, 0x41], 3), ([0x41, 0x42, 0xFF], 2),
        (Array("κόσμε".utf8) + [0xF4, 0x90, 0x80], 11),
    ]

    private func consume(_ pieces: [[UInt8]]) -> Bool {
        var validator = UTF8Validator()
        return pieces.allSatisfy { piece in piece.withUnsafeBytes { validator.consume($0) } } && validator.isAtBoundary
    }

    @Test("Valid text passes in one piece and cut at every place", arguments: Self.valid)
    func acceptsValid(bytes: [UInt8]) {
        for pieces in cuts(of: bytes) { #expect(self.consume(pieces)) }
    }

    @Test(
        "Invalid text is refused wherever it is cut, and at the first byte that no text can have",
        arguments: Self.invalid
    )
    func refusesInvalid(bytes: [UInt8], good: Int) {
        for pieces in cuts(of: bytes) { #expect(!self.consume(pieces)) }
        var validator = UTF8Validator()
        #expect(bytes[..<good].allSatisfy { byte in [byte].withUnsafeBytes { validator.consume($0) } })
        #expect(![bytes[good]].withUnsafeBytes { validator.consume($0) })
    }

    @Test("Text cut inside a character is not at a boundary", arguments: 1..<4)
    func knowsBoundary(length: Int) {
        var validator = UTF8Validator()
        #expect(Array("𝄞".utf8)[..<length].withUnsafeBytes { validator.consume($0) })
        #expect(!validator.isAtBoundary)
    }

    @Test("Agrees with the standard library on random bytes at every place after ASCII")
    func agreesWithStandardLibrary() {
        var seed: UInt64 = 42
        func next() -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return seed >> 33
        }
        let interesting: [UInt8] = [
            0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4,
        ]
        for round in 0..<20_000 {
            let bytes =
                Array(repeating: UInt8(0x61), count: round % 19)
                + (0..<Int(next() % 7)).map { _ in interesting[Int(next()) % interesting.count] }
            #expect(self.consume([bytes]) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
        }
    }
}

import NIOCore
import Testing
@testable import WebSocket

/// Returns the decompressed message, or throws the inflater's failure.
private func inflated(
    _ pieces: [[UInt8]],
    with inflater: Inflater = Inflater(),
    limit: Int = 1 << 20,
    keepsContext: Bool = true
) throws(Inflater.Failure) -> [UInt8] {
    var out = ByteBuffer()
    for piece in pieces {
        let result = piece.withUnsafeBytes { bytes in
            Result { () throws(Inflater.Failure) in try inflater.inflate(bytes, into: &out, limit: limit) }
        }
        #expect(out.readableBytes <= limit + 1)
        try result.get()
    }
    try inflater.finish(into: &out, limit: limit, keepsContext: keepsContext)
    return Array(out.readableBytesView)
}

private func deflated(_ plain: [UInt8], _ deflater: Deflater) -> [UInt8] {
    var out = ByteBuffer()
    deflater.compress(ByteBuffer(bytes: plain), into: &out)
    return Array(out.readableBytesView)
}

private let hello = Array("Hello".utf8)

@Suite struct DeflateTests {
    /// The examples of RFC 7692, 7.2.3.
    static let examples: [[UInt8]] = [
        [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
        [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
    ]

    @Test("The RFC's messages are read at every cut", arguments: Self.examples)
    func readsExamples(message: [UInt8]) throws {
        for pieces in cuts(of: message) { #expect(try inflated(pieces) == hello) }
    }

    @Test("A message may refer to the one before, if it was kept, and cannot if not")
    func keepsWindow() throws {
        let second: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        let keeping = Inflater()
        #expect(try inflated([Self.examples[0]], with: keeping) == hello)
        #expect(try inflated([second], with: keeping) == hello)
        let forgetting = Inflater()
        #expect(try inflated([Self.examples[0]], with: forgetting, keepsContext: false) == hello)
        #expect(throws: Inflater.Failure.invalid) { try inflated([second], with: forgetting) }
    }

    @Test("Blocks behind a final block are read, and may refer to what was before it")
    func goesOnBehindFinalBlock() throws {
        // The example with a final block, and the example that repeats it from the window.
        let message: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00] + [0xF2, 0x00, 0x11, 0x00, 0x00]
        for pieces in cuts(of: message) { #expect(try inflated(pieces) == hello + hello) }
        // Without the empty block that must follow a final block.
        #expect(try inflated([[0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]]) == hello)
    }

    @Test("Empty messages and empty blocks hold nothing")
    func readsNothing() throws {
        let empty: [[UInt8]] = [[], [0], [3, 0], [3, 0, 0], [0, 0, 0, 0xFF, 0xFF, 0], [1, 0, 0, 0xFF, 0xFF, 0]]
        for message in empty { #expect(try inflated([message]) == []) }
        let inflater = Inflater()
        for _ in 0..<3 { #expect(try inflated([[0]], with: inflater) == []) }
        let many = (0..<10_000).flatMap { _ -> [UInt8] in [0, 0, 0, 0xFF, 0xFF] } + [0]
        #expect(try inflated([many]) == [])
    }

    static let broken: [[UInt8]] = [
        [0x06], [0x07], [0xFF], [0xFF, 0xFF, 0xFF], [0x00, 0x05, 0x00, 0xFA, 0xFE, 0x48],
        // An incomplete block, and a stored block that is shorter than its length.
        [0xF2, 0x48, 0xCD], [0x00, 0x06, 0x00, 0xF9, 0xFF, 0x48], [0x00, 0x05],
        // A distance beyond the beginning of the message.
        [0xF2, 0x00, 0x11, 0x00, 0x00],
        // Invalid data behind a final block.
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x06], [0x03, 0x00, 0xFF],
    ]

    @Test("What is no DEFLATE data, or ends within a block, is refused at every cut", arguments: Self.broken)
    func refusesBroken(message: [UInt8]) {
        for pieces in cuts(of: message) {
            #expect(throws: Inflater.Failure.invalid) { try inflated(pieces) }
        }
    }

    @Test("A message comes back as it was, with every window and level, whether contexts are kept or not")
    func roundTrips() throws {
        var chance = Seeded(state: 3)
        let noise = (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &chance) }
        let text = (0..<70_000).map { _ in UInt8.random(in: 0x61...0x64, using: &chance) }
        let messages: [[UInt8]] = [[], [0], hello, text, [], noise, hello, Array(repeating: 7, count: 200_000), noise]
        for keepsContext in [true, false] {
            for (bits, level) in [(9, 1), (9, 9), (12, 6), (15, 1), (15, 6), (15, 9)] {
                let direction = DeflateAgreement.Direction(windowBits: bits, keepsContext: keepsContext)
                let deflater = Deflater(direction, level: level)
                let inflater = Inflater()
                for message in messages {
                    let wire = deflated(message, deflater)
                    #expect(wire.count <= MessageInflater.maximumCompressedBytes(of: message.count))
                    let back = try inflated([wire], with: inflater, keepsContext: keepsContext)
                    #expect(back == message)
                }
            }
        }
    }

    @Test("Without a context the same message is the same bytes every time")
    func isTheSameForAll() {
        let deflater = Deflater(DeflateAgreement.Direction(windowBits: 15, keepsContext: false))
        let first = deflated(hello, deflater)
        _ = deflated(Array(repeating: 7, count: 1_000), deflater)
        #expect(deflated(hello, deflater) == first)
        #expect(first == Self.examples[0])
    }

    @Test(
        "A message of the limit passes, and a byte more is noticed before it is held",
        arguments: [0, 1, 300, 65_536]
    )
    func holdsLimit(limit: Int) throws {
        let deflater = Deflater(DeflateAgreement.Direction(windowBits: 15, keepsContext: false))
        let fits = [UInt8](repeating: 1, count: limit)
        #expect(try inflated([deflated(fits, deflater)], limit: limit) == fits)
        #expect(throws: Inflater.Failure.tooBig) { try inflated([deflated(fits + [1], deflater)], limit: limit) }
        let bomb = deflated([UInt8](repeating: 1, count: 5_000_000), deflater)
        #expect(throws: Inflater.Failure.tooBig) { try inflated([bomb], limit: limit) }
    }

    @Test("Damaged and random bytes never grow over the limit, and mean the same however they are cut")
    func survivesHostility() {
        var chance = Seeded(state: 8)
        let deflater = Deflater(DeflateAgreement.Direction(windowBits: 10, keepsContext: false))
        let good = [0, 1, 30, 400, 3_000].map { count in
            deflated((0..<count).map { _ in UInt8.random(in: 0x61...0x63, using: &chance) }, deflater)
        }
        for round in 0..<3_000 {
            var bytes =
                round % 4 == 0
                ? (0..<20).map { _ in UInt8.random(in: 0...255, using: &chance) }
                : good[round % good.count] + good[(round / 7) % good.count]
            for _ in 0..<Int.random(in: 0...2, using: &chance) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &chance)] ^= 1 << UInt8.random(in: 0...7, using: &chance)
            }
            bytes.removeLast(Int.random(in: 0...min(3, bytes.count), using: &chance))
            let limit = [0, 100, 5_000].randomElement(using: &chance) ?? 0
            let whole = try? inflated([bytes], limit: limit)
            let cut = try? inflated(bytes.map { [$0] }, limit: limit)
            #expect(whole == cut, "\(bytes)")
        }
    }
}

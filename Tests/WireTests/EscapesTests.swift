import Market
import NIOCore
import Testing
import Wire

/// Escaping and unescaping many bytes at a time, compared with the same byte by byte.
@Suite("The escapes of JSON strings")
struct EscapesTests {
    /// Returns texts of all lengths around the step of 64 bytes, from characters as frequent as in frames, or far more
    /// frequent.
    private static func texts(_ seed: UInt64, of alphabet: [UInt8], count: Int) -> [[UInt8]] {
        var chance = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            (0..<number % 331).map { _ in
                chance.next() % 4 == 0 ? alphabet[Int(chance.next() % UInt64(alphabet.count))] : UInt8(ascii: "a")
            }
        }
    }

    private static let alphabets: [[UInt8]] = [
        Array("\"".utf8), Array("\"\\".utf8), Array("\"\\\n\u{1}\u{1F} é".utf8), [0xFF, 0x80, 0x22, 0x7F, 0x20],
    ]

    private func escaped(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x22]
        for byte in text {
            switch byte {
            case 0x22, 0x5C: out += [0x5C, byte]
            case 0x0A: out += Array(#"\n"#.utf8)
            case 0..<0x20:
                out += Array(#"\u00"#.utf8) + [0x30 + byte / 16, Array("0123456789abcdef".utf8)[Int(byte % 16)]]
            default: out.append(byte)
            }
        }
        return out + [0x22]
    }

    @Test("are written as the grammar has them, and read again they are the same text", arguments: 0..<4)
    func roundTrip(alphabet: Int) {
        for text in Self.texts(1, of: Self.alphabets[alphabet], count: 1_500) {
            var buffer = ByteBuffer()
            text.withUnsafeBytes { JSONText.escape($0, into: &buffer) }
            let written = Array(buffer.readableBytesView)
            #expect(written == self.escaped(text))
            // A separate allocation of exactly this size, so that a sanitizer detects a read beyond it.
            let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: written.count, alignment: 1)
            defer { exact.deallocate() }
            exact.copyBytes(from: written)
            var reader = JSONReader(UnsafeRawBufferPointer(exact))
            let string = reader.string()
            #expect(string?.raw.count == written.count - 2)
            let read = string.map { $0.withUnescaped { Array($0) } }
            #expect(read == text)
        }
    }

    /// Returns whether the bytes between two quotation marks are a valid string, byte by byte.
    private func isValid(_ raw: [UInt8]) -> Bool {
        var place = 0
        while place < raw.count {
            guard raw[place] >= 0x20, raw[place] != 0x22 else { return false }
            if raw[place] == 0x5C {
                place += 1
                guard place < raw.count else { return false }
                if raw[place] == UInt8(ascii: "u") {
                    let digits = raw.dropFirst(place + 1).prefix(4)
                    guard digits.count == 4, digits.allSatisfy({ JSONString.hexDigit($0) != nil }) else { return false }
                    place += 4
                } else if !Array(#""\/bfnrt"#.utf8).contains(raw[place]) {
                    return false
                }
            }
            place += 1
        }
        return true
    }

    @Test("that are broken are refused wherever they stand, in frames of recordings too")
    func refuses() {
        var chance = SeededGenerator(seed: 3)
        var good = 0
        for number in 0..<4_000 {
            // Mostly valid, with up to two invalid bytes.
            var raw: [UInt8] = []
            while raw.count < number % 300 { raw += chance.next() % 3 == 0 ? Array(#"\""#.utf8) : Array("abc".utf8) }
            for _ in 0..<chance.next() % 3 where !raw.isEmpty {
                raw[Int(chance.next() % UInt64(raw.count))] = Array("\"\\\n/u0z".utf8)[Int(chance.next() % 7)]
            }
            let isValid = self.isValid(raw)
            if isValid { good += 1 }
            let whole = [0x22] + raw + [0x22]
            whole.withUnsafeBytes { bytes in
                var reader = JSONReader(bytes)
                let string = reader.string()
                let isAll = string != nil && reader.isAtEnd()
                #expect(isAll == isValid, "\(String(decoding: raw, as: UTF8.self))")
            }
            // The same line in the form for the fast reader, and in one for the general reader.
            let lines = ["", " "].map { space in
                let line = Array(#"{"n":\#(space)1,"wall":1,"mono":1,"dir":"in","frame":""#.utf8) + raw + [0x22]
                let digits = String(line.withUnsafeBytes { Checksum32C.of($0) }, radix: 16)
                let zeros = String(repeating: "0", count: 8 - digits.count)
                return line + Array(",\"crc\":\"\(zeros)\(digits)\"}".utf8)
            }
            let read = lines.map { line in
                var reader = RecordingParser(header: RecordingHeader(), offset: 0)
                reader.feed(ByteBuffer(bytes: line))
                reader.finish()
                return reader.nextLine()?.content
            }
            if isValid, case .frame? = read[0] {
                #expect(read[0] == read[1])
            } else {
                // Whether the line counts as damaged or as torn, and why, does not matter here.
                #expect(!isValid, "\(String(decoding: lines[0], as: UTF8.self))")
                if case .frame? = read[1] { Issue.record("the general reader takes it") }
            }
        }
        #expect(good > 1_000 && good < 3_500)
    }
}

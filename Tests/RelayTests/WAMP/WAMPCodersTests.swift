import NIOCore
import Testing
@testable import Relay

@Suite("WAMP's serialisations")
struct WAMPCodersTests {
    private static let values: [WAMPValue] =
        [
            .null, .bool(true), .bool(false), .text(""), .text("é\n\"\\ \u{1F600}"), .list([]), .dictionary([:]),
            .text(String(repeating: "x", count: 300)), .text(String(repeating: "y", count: 70_000)),
            .bytes(ByteBuffer()), .bytes(ByteBuffer(bytes: [0, 1, 2, 255])), .bytes(ByteBuffer(bytes: [7])),
            .bytes(ByteBuffer(repeating: 9, count: 300)), .bytes(ByteBuffer(repeating: 9, count: 70_000)),
            .large(UInt64(Int64.max) + 1), .large(.max),
            .list((0..<20).map { .integer($0) }), .list(Array(repeating: .null, count: 70_000)),
            .dictionary(["a": .list([.dictionary(["b": .null])]), "": .integer(1)]),
            .dictionary(WAMPDictionary((0..<40).map { WAMPDictionary.Entry(key: "k\($0)", value: .integer($0)) })),
        ] + Self.integers.map { .integer($0) }

    private static let integers: [Int64] = [
        0, 1, 23, 24, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, 1 << 53, .max,
        -1, -24, -25, -32, -33, -128, -129, -256, -257, -32_768, -32_769, -2_147_483_648, -2_147_483_649, .min,
    ]

    private static func fault(_ serialisation: WAMPSerialisation, _ bytes: ByteBuffer) -> WAMPCodingFault? {
        do throws(WAMPCodingFault) {
            _ = try serialisation.decode(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("a value comes back as it was, and no part of its bytes is a value", arguments: WAMPSerialisation.allCases)
    func roundTrips(serialisation: WAMPSerialisation) throws {
        for (index, value) in Self.values.enumerated() {
            let bytes = serialisation.encode(value)
            #expect(try serialisation.decode(bytes) == value)
            // Only an integer of JSON has beginnings that are values.
            if serialisation == .json, value.integer != nil { continue }
            if case .large = value, serialisation == .json { continue }
            for length in 0..<min(bytes.readableBytes, 400) {
                let cut = bytes.getSlice(at: bytes.readerIndex, length: length) ?? ByteBuffer()
                #expect(Self.fault(serialisation, cut) != nil, "value \(index) cut at \(length)")
            }
            var longer = bytes
            longer.writeInteger(UInt8(ascii: "1"))
            #expect(Self.fault(serialisation, longer) != nil)
        }
    }

    @Test("a floating-point number keeps its bits, and JSON has none that are not finite")
    func doubles() throws {
        for double in [0.1, -1.5e300, .leastNonzeroMagnitude, .infinity, 0] {
            for serialisation in [WAMPSerialisation.messagePack, .cbor] {
                #expect(try serialisation.decode(serialisation.encode(.double(double))) == .double(double))
            }
        }
        #expect(String(buffer: WAMPSerialisation.json.encode(.list([.double(.nan), .double(0.5)]))) == "[null,0.5]")
        #expect(try WAMPSerialisation.json.decode(ByteBuffer(string: "0.10")) == .decimal("0.10"))
        #expect(
            try WAMPSerialisation.json.decode(ByteBuffer(string: "18446744073709551616"))
                == .decimal("18446744073709551616")
        )
        #expect(try WAMPSerialisation.cbor.decode(WAMPSerialisation.cbor.encode(.decimal("0.10"))) == .double(0.1))
        let halves: [(UInt16, Double)] = [
            (0x3C00, 1), (0xC000, -2), (0x7BFF, 65_504), (0x0001, 5.960464477539063e-8), (0x0400, 6.103515625e-5),
            (0x7C00, .infinity), (0x8000, 0),
        ]
        for (bits, double) in halves {
            var bytes = ByteBuffer(bytes: [0xF9])
            bytes.writeInteger(bits)
            #expect(try WAMPSerialisation.cbor.decode(bytes) == .double(double))
        }
    }

    @Test("of equal keys the last one counts, and a key that is no text is refused")
    func keys() throws {
        let twice = WAMPValue.dictionary(["a": .integer(2), "b": .null])
        #expect(try WAMPSerialisation.json.decode(ByteBuffer(string: #"{"a":1,"b":null,"a":2}"#)) == twice)
        #expect(
            try WAMPSerialisation.messagePack.decode(
                ByteBuffer(bytes: [0x83, 0xA1, 0x61, 1, 0xA1, 0x62, 0xC0, 0xA1, 0x61, 2])
            ) == twice
        )
        #expect(Self.fault(.messagePack, ByteBuffer(bytes: [0x81, 1, 1])) == .keyIsNotText)
        #expect(Self.fault(.cbor, ByteBuffer(bytes: [0xA1, 1, 1])) == .keyIsNotText)
    }

    @Test("CBOR of indefinite length and with tags is read")
    func indefinite() throws {
        let bytes: [UInt8] = [0x9F, 0x7F, 0x61, 0x61, 0x61, 0x62, 0xFF, 0xBF, 0x61, 0x6B, 0xF7, 0xFF, 0xC0, 0x01, 0xFF]
        #expect(
            try WAMPSerialisation.cbor.decode(ByteBuffer(bytes: bytes))
                == .list([.text("ab"), .dictionary(["k": .null]), .integer(1)])
        )
        for length in 0..<bytes.count {
            #expect(Self.fault(.cbor, ByteBuffer(bytes: Array(bytes[..<length]))) == .cutShort)
        }
    }

    @Test("hostile bytes are refused without a trap and without memory")
    func hostile() {
        let deep = { (byte: UInt8) in ByteBuffer(repeating: byte, count: 100_000) }
        #expect(Self.fault(.json, deep(UInt8(ascii: "["))) == .tooDeep)
        #expect(Self.fault(.messagePack, deep(0x91)) == .tooDeep)
        #expect(Self.fault(.cbor, deep(0x81)) == .tooDeep)
        #expect(Self.fault(.cbor, deep(0x9F)) == .tooDeep)
        #expect(Self.fault(.cbor, deep(0xC0)) == .tooDeep)
        let lies: [(WAMPSerialisation, [UInt8], WAMPCodingFault)] = [
            (.messagePack, [0xDD, 0xFF, 0xFF, 0xFF, 0xFF], .cutShort),
            (.messagePack, [0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0], .cutShort),
            (.messagePack, [0xDB, 0xFF, 0xFF, 0xFF, 0xFF], .cutShort),
            (.messagePack, [0xC6, 0xFF, 0xFF, 0xFF, 0xFF, 1], .cutShort),
            (.messagePack, [0xC1], .malformed), (.messagePack, [0xD4, 1, 2], .malformed),
            (.messagePack, [0xA1, 0xFF], .notUTF8), (.messagePack, [], .cutShort),
            (.cbor, [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .cutShort),
            (.cbor, [0xBB, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .cutShort),
            (.cbor, [0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .cutShort),
            (.cbor, [0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .malformed),
            (.cbor, [0xC2, 0x41, 1], .malformed), (.cbor, [0xFF], .malformed), (.cbor, [0x1C], .malformed),
            (.cbor, [0x61, 0xFF], .notUTF8), (.cbor, [0x7F, 0x41, 1, 0xFF], .malformed), (.cbor, [], .cutShort),
            (.json, Array("[1,]".utf8), .malformed), (.json, Array("[1]2".utf8), .trailingBytes),
            (.json, Array(#""\u0000!""#.utf8), .malformed), (.json, Array("{1:2}".utf8), .malformed),
            (.json, [], .malformed),
        ]
        for (serialisation, bytes, fault) in lies {
            #expect(Self.fault(serialisation, ByteBuffer(bytes: bytes)) == fault, "\(serialisation) \(bytes)")
        }
    }

    @Test(
        "JSON of the feed is read without bytes in it",
        arguments: [WAMPSerialisation.messagePack, .cbor]
    )
    func ownJSON(serialisation: WAMPSerialisation) {
        let json = WAMPValue.json(ByteBuffer(string: #"[{"symbol":"\u0000!"},"\u0000AQI="]"#))
        let value = WAMPValue.list([.dictionary(["symbol": .text("\u{0}!")]), .text("\u{0}AQI=")])
        #expect(serialisation.encode(json) == serialisation.encode(value))
    }

    @Test("a binary text that JSON would read as bytes is refused")
    func textWithNUL() throws {
        for serialisation in [WAMPSerialisation.messagePack, .cbor] {
            #expect(Self.fault(serialisation, serialisation.encode(.text("\u{0}AQI="))) == .malformed)
            let later = WAMPValue.text("a\u{0}b")
            #expect(try serialisation.decode(serialisation.encode(later)) == later)
        }
    }

    @Test("a negative zero of JSON keeps its digits")
    func negativeZero() throws {
        let zero = try WAMPSerialisation.json.decode(ByteBuffer(string: "-0"))
        #expect(zero == .decimal("-0"))
        #expect(WAMPSerialisation.json.encode(zero) == ByteBuffer(string: "-0"))
        #expect(WAMPSerialisation.cbor.encode(zero) == WAMPSerialisation.cbor.encode(.double(-0.0)))
    }

    @Test("keys of other bytes are other keys, even if they look the same")
    func equivalentKeys() throws {
        let value = try WAMPSerialisation.json.decode(ByteBuffer(string: #"{"\u00e9":1,"e\u0301":2}"#))
        #expect(value.dictionary?.entries.map(\.value) == [.integer(1), .integer(2)])
    }
}

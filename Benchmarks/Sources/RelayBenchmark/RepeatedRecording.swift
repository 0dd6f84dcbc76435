import Glibc

/// A recording that is repeated in one long file, with rising arrival times. It has the plain form, or with a header
/// version 2 of the format (docs/recording-format.md).
struct RepeatedRecording {
    let path: String
    private(set) var frames = 0
    private(set) var trades = 0
    /// The size of the frames' texts, and the duration of all frames, ns.
    private(set) var textBytes = 0
    private(set) var span = 0
    /// The symbols in it.
    private(set) var symbols: [String] = []
    /// The digest of all frames with trades, concatenated.
    private(set) var digest = TextDigest()

    /// The line of a header.
    struct Header {
        /// The line up to its checksum.
        var text: String
        /// The wall clock in the header, µs since 1970.
        var wall: Int
    }

    /// - Parameters:
    ///   - minimumTrades: the smallest number of trades in the file.
    ///   - minimumBytes: the smallest length of the file.
    ///   - header: the first line up to its checksum, which gives the lines their wall clocks; `nil` for the plain
    ///     form.
    init(
        of source: String,
        minimumTrades: Int = 1,
        minimumBytes: Int = 0,
        header: Header? = nil,
        folder: ScratchFolder
    ) throws {
        guard let bytes = FileText.read(source) else { throw BenchmarkFailure.call(source) }
        self.path = folder.file("recording.jsonl")
        guard let file = fopen(self.path, "wb") else { throw BenchmarkFailure.call(self.path) }
        var shift = 0
        var isWritten = true
        var length = 0
        func put(_ bytes: some Collection<UInt8>) {
            let bytes = Array(bytes)
            length += bytes.count
            isWritten = isWritten && fwrite(bytes, 1, bytes.count, file) == bytes.count
        }
        let frames = bytes.split(separator: UInt8(ascii: "\n")).compactMap(RecordedLine.init)
        var number = 0
        if let header {
            put(LineSeal.sealed(Array(header.text.utf8)))
        }
        let tradesOfOne = frames.reduce(0) { $0 + $1.trades }
        let textOfOne = frames.reduce(0) { $0 + $1.text.count }
        guard let last = frames.last, tradesOfOne > 0 else {
            fclose(file)
            throw BenchmarkFailure("\(source) holds no trades")
        }
        while self.trades < minimumTrades || length < minimumBytes {
            for frame in frames {
                let at = frame.at + shift
                if let header {
                    number += 1
                    let stamp = #"{"n":\#(number),"wall":\#(header.wall + at / 1_000),"mono":\#(at),"dir":"in""#
                    put(LineSeal.sealed(Array(stamp.utf8) + frame.member))
                } else {
                    put(Array(#"{"at":\#(at)"#.utf8) + frame.member + Array("}\n".utf8))
                }
                if frame.trades > 0 { self.digest.add(frame.text) }
            }
            self.trades += tradesOfOne
            self.frames += frames.count
            self.textBytes += textOfOne
            shift += last.at + 1_000_000
            self.span = shift
        }
        isWritten = fclose(file) == 0 && isWritten
        guard isWritten else { throw BenchmarkFailure.call(self.path) }
        for frame in frames where frame.trades > 0 {
            for symbol in frame.symbols where !self.symbols.contains(symbol) { self.symbols.append(symbol) }
        }
    }
}

/// A line of a recording with a frame: `{"n":N,"wall":US,"mono":NS,…,"frame":"…","crc":"…"}`.
private struct RecordedLine {
    /// ns since the recording's start.
    var at: Int
    /// The frame as a member of the line: `,"frame":"…"`.
    var member: [UInt8]
    /// The frame.
    var text: [UInt8]
    var trades: Int

    init?(_ line: ArraySlice<UInt8>) {
        let line = String(decoding: line.dropLast(LineSeal.length), as: UTF8.self)
        let key = #","frame":""#
        // The lines of sent messages have frames, too.
        guard line.contains(#""dir":"in""#), let time = line.firstRange(of: #","mono":"#),
            let frame = line.firstRange(of: key),
            let at = Int(line[time.upperBound...].prefix { $0.isNumber })
        else { return nil }
        self.at = at
        self.member = Array(line[frame.lowerBound...].utf8)
        // Finnhub's frames have no characters to escape except quotation marks.
        self.text = line[frame.upperBound...].dropLast().utf8.filter { $0 != UInt8(ascii: "\\") }
        self.trades = String(decoding: self.text, as: UTF8.self).split(separator: #""p":"#).count - 1
    }

    var symbols: [String] {
        String(decoding: self.text, as: UTF8.self).split(separator: #""s":""#).dropFirst().map { part in
            String(part.prefix { $0 != "\"" })
        }
    }
}

/// The end of a recording's line: `,"crc":"xxxxxxxx"}`, the CRC-32C of the bytes before it.
private enum LineSeal {
    /// The length in bytes.
    static let length = 18

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 1 ? 0x82F6_3B78 : 0) }
    }

    /// Returns the complete line for its bytes up to the checksum.
    static func sealed(_ line: [UInt8]) -> [UInt8] {
        let table = Self.table
        let rest = line.reduce(UInt32.max) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
        let digits = String(~rest, radix: 16)
        let zeros = String(repeating: "0", count: 8 - digits.count)
        return line + Array(#","crc":"\#(zeros)\#(digits)"}"#.utf8) + [UInt8(ascii: "\n")]
    }
}

/// A 64-bit digest of a long text (FNV-1a).
struct TextDigest: Equatable {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}

import Glibc

/// A recording written over and over into one long file, with arrival times that go on rising.
struct RepeatedRecording {
    let path: String
    private(set) var frames = 0
    private(set) var trades = 0
    /// The frames' own bytes, and how long all of them take, ns.
    private(set) var textBytes = 0
    private(set) var span = 0
    /// The symbols in it.
    private(set) var symbols: [String] = []
    /// Of all frames with trades, one behind the other.
    private(set) var digest = TextDigest()

    /// - Parameters:
    ///   - leastTrades: how many trades the file has at least.
    ///   - leastBytes: how long it is at least.
    ///   - header: the first line, instead of the source's.
    init(
        of source: String,
        leastTrades: Int = 1,
        leastBytes: Int = 0,
        header ownHeader: String? = nil,
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
        if let ownHeader {
            put(Array("\(ownHeader)\n".utf8))
        } else if let header = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first,
            RecordedLine(header) == nil
        {
            put(header + [UInt8(ascii: "\n")])
        }
        let tradesOfOne = frames.reduce(0) { $0 + $1.trades }
        let textOfOne = frames.reduce(0) { $0 + $1.text.count }
        guard let last = frames.last, tradesOfOne > 0 else {
            fclose(file)
            throw BenchmarkFailure("\(source) holds no trades")
        }
        while self.trades < leastTrades || length < leastBytes {
            for frame in frames {
                put(Array(#"{"at":\#(frame.at + shift)"#.utf8) + frame.rest + [UInt8(ascii: "\n")])
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

/// A line of a recording that holds a frame: `{"at":NS,"frame":"…"}`.
private struct RecordedLine {
    var at: Int
    /// What stands behind the time.
    var rest: [UInt8]
    /// The frame.
    var text: [UInt8]
    var trades: Int

    init?(_ line: ArraySlice<UInt8>) {
        let start = #"{"at":"#.utf8
        let middle = #","frame":""#.utf8
        guard line.starts(with: start) else { return nil }
        let digits = line.dropFirst(start.count).prefix { (48...57).contains($0) }
        let rest = line.dropFirst(start.count + digits.count)
        guard let at = Int(String(decoding: digits, as: UTF8.self)), rest.starts(with: middle) else { return nil }
        self.at = at
        self.rest = Array(rest)
        // Finnhub's frames have quotation marks to escape, and nothing else.
        self.text = rest.dropFirst(middle.count).dropLast(2).filter { $0 != UInt8(ascii: "\\") }
        self.trades = String(decoding: self.text, as: UTF8.self).split(separator: #""p":"#).count - 1
    }

    var symbols: [String] {
        String(decoding: self.text, as: UTF8.self).split(separator: #""s":""#).dropFirst().map { part in
            String(part.prefix { $0 != "\"" })
        }
    }
}

/// A number for a long text: equal texts have equal ones, others hardly ever (FNV-1a).
struct TextDigest: Equatable {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}

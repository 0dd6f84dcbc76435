import Market

/// A parser for trade frames in exactly the shape that Finnhub sends:
/// `{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02},…],"type":"trade"}`.
///
/// It compares eight bytes at a time with the expected text and gives up at the first difference; the general parser
/// then reads the frame from its start. It accepts nothing that the general parser would read differently.
///
/// Every read stays inside the frame. Three checks an element ensure that: each requires as many bytes as the shortest
/// possible rest of a frame of this shape, and the reads before the next check need fewer.
struct FinnhubTemplate {
    /// The shortest rest of a frame from the start of an element, from the end of its price, and from the end of its
    /// symbol.
    private static let restOfElement = 65
    private static let restBehindPrice = 50
    private static let restBehindSymbol = 42
    /// The length of the text after the last element: `],"type":"trade"}`.
    private static let endLength = 17
    /// The number of trades gathered before they are appended: more than Finnhub puts into a frame.
    private static let gathered = 16

    private let start: UnsafeRawPointer?
    private let end: UnsafeRawPointer?
    /// The index of the newest symbol.
    private(set) var symbol: Int

    init(frame: UnsafeRawBufferPointer, symbol: Int) {
        self.start = frame.baseAddress
        self.end = frame.baseAddress.map { $0 + frame.count }
        self.symbol = symbol
    }

    /// Appends the frame's trades. Returns `false`, with some of them already appended, if the frame has another shape.
    mutating func parse(symbols: inout SymbolTable, into trades: inout [Trade]) -> Bool {
        // Gathers trades on the stack: each single append would check the array's uniqueness.
        withUnsafeTemporaryAllocation(of: Trade.self, capacity: Self.gathered) { batch in
            self.parse(symbols: &symbols, into: &trades, batch: batch)
        }
    }

    private mutating func parse(
        symbols: inout SymbolTable,
        into trades: inout [Trade],
        batch: UnsafeMutableBufferPointer<Trade>
    ) -> Bool {
        var gathered = 0
        guard let start = self.start, let end = self.end else { return false }
        var here = start
        guard end - here >= Self.restOfElement + 9, here.word() == Word.frame, here.byte(8) == "[" else { return false }
        here += 9

        while true {
            guard end - here >= Self.restOfElement else { return false }
            guard here.word() == Word.element, here.word(6) == Word.elementRest else { return false }
            here += 14
            // The number takes at most 16 bytes and reads no further: 30 of the 65. `parse` checks `TradeBounds`.
            guard let price = TemplateNumber.parse(&here), price.significand > 0 else { return false }

            guard end - here >= Self.restBehindPrice else { return false }
            guard here.word() & Word.sixBytes == Word.symbol else { return false }
            here += 6
            // The lookup of the symbol reads 32 bytes: 38 of the 50.
            guard let symbol = self.takeSymbol(&here, end: end, symbols: &symbols) else { return false }

            guard end - here >= Self.restBehindSymbol else { return false }
            guard here.word() & Word.fiveBytes == Word.time, let time = Self.time(here + 5) else { return false }
            guard here.word(18) & Word.fiveBytes == Word.size else { return false }
            here += 23
            // The number takes at most 16 bytes and reads no further: 39 of the 42.
            guard let size = TemplateNumber.parse(&here) else { return false }

            if gathered == Self.gathered {
                trades.append(contentsOf: UnsafeBufferPointer(batch))
                gathered = 0
            }
            batch.initializeElement(
                at: gathered,
                to: Trade(price: price, size: size, exchangeTime: time, symbol: symbol)
            )
            gathered += 1

            guard end - here >= 1 + Self.endLength, here.byte() == "}" else { return false }
            here += 1
            if here.byte() == "," {
                here += 1
                continue
            }
            guard
                end - here == Self.endLength, here.word() == Word.end, here.word(8) == Word.endRest,
                here.byte(16) == "}"
            else { return false }
            trades.append(contentsOf: UnsafeBufferPointer(rebasing: batch[..<gathered]))
            return true
        }
    }

    /// Consumes a symbol and its quotation mark; `nil` if it is not a plain name.
    @inline(__always)
    private mutating func takeSymbol(
        _ here: inout UnsafeRawPointer,
        end: UnsafeRawPointer,
        symbols: inout SymbolTable
    ) -> SymbolID? {
        if self.symbol < symbols.count {
            let length = symbols.matchQuoted(self.symbol, at: here)
            if length != 0 {
                here += length
                return SymbolID(index: UInt16(truncatingIfNeeded: self.symbol))
            }
        }
        if let found = symbols.findQuoted(at: here) {
            here += found.length
            self.symbol = found.index
            return SymbolID(index: UInt16(truncatingIfNeeded: found.index))
        }
        return self.takeNewSymbol(&here, end: end, symbols: &symbols)
    }

    @inline(never)
    private mutating func takeNewSymbol(
        _ here: inout UnsafeRawPointer,
        end: UnsafeRawPointer,
        symbols: inout SymbolTable
    ) -> SymbolID? {
        var length = 0
        while length <= SymbolTable.maximumNameLength, here + length < end, here.byte(length) != "\"" {
            // The general parser handles escapes, control characters and everything beyond ASCII.
            guard here.byte(length) != "\\", case 0x20..<0x7F = here.byte(length) else { return nil }
            length += 1
        }
        guard here + length < end, here.byte(length) == "\"" else { return nil }
        guard let id = symbols.intern(utf8: UnsafeRawBufferPointer(start: here, count: length)) else { return nil }
        here += length + 1
        self.symbol = Int(id.index)
        return id
    }

    /// Reads a time of 13 digits at `here`, in ns; `nil` for anything else.
    @inline(__always)
    private static func time(_ here: UnsafeRawPointer) -> Int64? {
        let first = here.word() ^ TemplateNumber.zeros
        let last = here.word(5) ^ TemplateNumber.zeros
        guard TemplateNumber.others(first) | TemplateNumber.others(last) == 0, first & 0xFF != 0 else { return nil }
        // The first five digits, shifted so that they are the last of eight.
        let thousands = TemplateNumber.eightDigits(first << 24)
        let milliseconds = Int64(thousands) &* 100_000_000 &+ Int64(TemplateNumber.eightDigits(last))
        guard milliseconds <= FinnhubTime.last else { return nil }
        return milliseconds &* 1_000_000
    }

    /// The fixed parts of a frame, as little-endian words.
    private enum Word {
        static var frame: UInt64 { word("{\"data\":") }
        static var element: UInt64 { word("{\"c\":nul") }
        static var elementRest: UInt64 { word("ull,\"p\":") }
        static var symbol: UInt64 { word(",\"s\":\"\0\0") }
        static var time: UInt64 { word(",\"t\":\0\0\0") }
        static var size: UInt64 { word(",\"v\":\0\0\0") }
        static var end: UInt64 { word("],\"type\"") }
        static var endRest: UInt64 { word(":\"trade\"") }
        static var fiveBytes: UInt64 { 0x0000_00FF_FFFF_FFFF }
        static var sixBytes: UInt64 { 0x0000_FFFF_FFFF_FFFF }

        @inline(__always)
        private static func word(_ text: StaticString) -> UInt64 { UnsafeRawPointer(text.utf8Start).word() }
    }
}

extension UnsafeRawPointer {
    /// Returns the eight bytes from `offset` on as a little-endian word.
    @inline(__always)
    func word(_ offset: Int = 0) -> UInt64 {
        UInt64(littleEndian: self.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    func byte(_ offset: Int = 0) -> UInt8 { self.load(fromByteOffset: offset, as: UInt8.self) }
}

extension UInt8 {
    @inline(__always)
    static func == (byte: UInt8, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }

    @inline(__always)
    static func != (byte: UInt8, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
}

extension RecordingMap {
    /// A text up to this length is read whole for its symbols; of a longer one, samples all over it. Bytes.
    private static let searchedText: Int64 = 2 << 20
    private static let stretches: Int64 = 32
    private static let spanBytes: Int64 = 64 << 10

    /// Returns the first stretch at or behind an offset that may hold trades of a symbol, by the index where the file
    /// has one.
    ///
    /// A block that claims more than the largest size is not decompressed, and left out.
    package func span(of symbol: String, from place: Int64, atMost limit: Int64) -> Range<Int64>? {
        guard let length, place < length else { return nil }
        guard let index else { return place..<min(length, place + limit) }
        guard let number = index.symbols.firstIndex(of: symbol) else { return nil }
        var found: Range<Int64>?
        for block in index.blocks where block.end > place {
            let has = block.symbols.contains(number) && block.length <= PackedSegment.largestBlock
            guard let begun = found else {
                if has { found = max(place, block.offset)..<block.end }
                continue
            }
            guard has, block.end - begun.lowerBound <= limit else { break }
            found = begun.lowerBound..<block.end
        }
        return found
    }

    /// Returns the last stretch before an offset that may hold trades of a symbol.
    package func span(of symbol: String, before end: Int64, atMost limit: Int64) -> Range<Int64>? {
        guard end > 0 else { return nil }
        guard let index else { return max(0, end - limit)..<end }
        guard let number = index.symbols.firstIndex(of: symbol) else { return nil }
        var found: Range<Int64>?
        for block in index.blocks.reversed() where block.offset < end {
            let has = block.symbols.contains(number) && block.length <= PackedSegment.largestBlock
            guard let begun = found else {
                if has { found = block.offset..<min(end, block.end) }
                continue
            }
            guard has, begun.upperBound - block.offset <= limit else { break }
            found = block.offset..<begun.upperBound
        }
        return found
    }

    /// The symbols of a file.
    package struct Symbols {
        /// In the order in which they are found.
        package var names: [String] = []
        /// Whether the file has no others.
        package var areAll = false
        /// The services of each, as far as they are known.
        package var services: [String: RecordedServices] = [:]
    }

    /// Returns the symbols that trade in the file or are subscribed in it.
    ///
    /// Reads the index where there is one. Without an index a short file is read whole; of a long one only samples,
    /// which find the symbols that trade often.
    package func symbols() throws(RecordingFailure) -> Symbols {
        if let index { return Symbols(names: index.symbols, areAll: true, services: index.servicesBySymbol) }
        guard let length, !self.isPacked else { return Symbols() }
        var search = SymbolCollection()
        guard length > Self.searchedText else {
            try self.scan(from: 0, isLineStart: true) { line in
                search.take(line)
                return true
            }
            return Symbols(names: search.names, areAll: true, services: search.servicesBySymbol)
        }
        for span in 0..<Self.stretches {
            // The first and the last bytes are among the samples.
            let from = (length - Self.spanBytes) / (Self.stretches - 1) * span
            try self.scan(from: from, to: from + Self.spanBytes, isLineStart: from == 0) { line in
                search.take(line)
                return true
            }
        }
        return Symbols(names: search.names, areAll: false, services: search.servicesBySymbol)
    }
}

import Market
package import Recordings
package import Wire

/// A recording on disk: its symbols, and readers that begin at its start.
///
/// It may be compressed and have several files; the path of one of them also selects those that follow it in the same
/// run.
package struct RecordingFile: Sendable {
    /// The most bytes of text searched for symbols if the header does not name them.
    private static let searchedBytes = 64 << 20
    /// The most bytes of text searched for dialects if the header names the symbols.
    private static let searchedForDialects = 8 << 20
    /// The most files searched for symbols at the start of a recording, and again at its end.
    private static let searchedFiles = 32

    package let path: String
    /// The symbols subscribed to at the start, and later ones as far as they are found without reading the whole
    /// recording.
    package let symbols: [String]
    /// All symbols; `nil` if there may be others.
    package let allSymbols: Set<String>?
    /// The dialects of its frames, as far as its beginning shows them.
    package let dialects: Set<FrameDialect>
    /// The files, in order; never empty.
    package let segments: [RecordingStream.Segment]
    /// The reason why following files are left out, in one line; `nil` if there are no such files.
    package let unreadable: String?
    /// The damage found so far by any of its readers.
    package let damage = RecordingDamage()
    /// Called before each read of its readers, on their threads; tests simulate a hanging disk with it.
    private let beforeRead: (@Sendable () -> Void)?

    /// The number of unreadable lines among those read so far.
    package var damagedLines: Int { self.damage.lines }

    /// Opens a recording and finds its symbols.
    ///
    /// - Throws: ``RecordingFailure`` if it cannot be read, or has no frame in its first 64 MiB.
    package init(path: String, beforeRead: (@Sendable () -> Void)? = nil) throws(RecordingFailure) {
        self.path = path
        self.beforeRead = beforeRead
        let stream = try RecordingStream(path: path)
        self.segments = stream.segments
        self.unreadable = stream.unreadable
        let reader = ReplayCursor(stream, damage: self.damage)
        var frameReader = FrameReader()
        var table = SymbolTable()
        var trades: [Trade] = []
        var frames = 0
        var isWhole = true
        var dialects: Set<FrameDialect> = []
        let mayMix = stream.segments.contains { $0.header.version >= RecordingHeader.dialectVersion }
        while let frame = try reader.next() {
            frames += 1
            dialects.insert(frame.dialect.ofConnection)
            _ = frameReader.read(frame.frame, of: frame.dialect, symbols: &table, into: &trades)
            trades.removeAll(keepingCapacity: true)
            // The header's list is enough, once a frame after it was found.
            if let header = reader.header, !header.symbols.isEmpty {
                let isSearched = !mayMix || reader.textBytesRead >= Self.searchedForDialects
                if isSearched || Self.areComplete(dialects, for: header.symbols) { break }
            }
            if reader.textBytesRead >= Self.searchedBytes {
                isWhole = false
                break
            }
        }
        guard frames > 0 else {
            throw RecordingFailure(
                "\(path) holds no recorded frame (one JSON object a line, with \"at\" and \"frame\")"
            )
        }
        var symbols = reader.header?.symbols ?? []
        if symbols.isEmpty {
            symbols = table.names
        } else {
            // Others may have been subscribed to later, by a key or by a relay's client.
            isWhole = Self.addLater(to: &symbols, of: self.segments)
        }
        self.symbols = symbols
        self.dialects = dialects
        self.allSymbols = isWhole ? Set(symbols) : nil
    }

    /// Returns whether all symbols are of venues whose dialects were found.
    private static func areComplete(_ dialects: Set<FrameDialect>, for symbols: [String]) -> Bool {
        symbols.allSatisfy { symbol in Venue(of: symbol).map { dialects.contains($0.dialect) } ?? false }
    }

    /// Adds the files' further symbols; returns whether there can be no others.
    private static func addLater(to symbols: inout [String], of segments: [RecordingStream.Segment]) -> Bool {
        var areAll = segments.count <= 2 * Self.searchedFiles
        var known = Set(symbols)
        let searched =
            areAll ? segments : Array(segments.prefix(Self.searchedFiles) + segments.suffix(Self.searchedFiles))
        for segment in searched {
            let map = try? RecordingMap(path: SegmentNames.present(segment.path))
            guard let map, let found = try? map.symbols() else {
                areAll = false
                continue
            }
            areAll = areAll && found.areAll
            for name in found.names where known.insert(name).inserted { symbols.append(name) }
        }
        return areAll
    }

    /// Returns the failure for a file with messages of a dialect that no mock server speaks, with the remedy where the
    /// recording also holds others.
    static func foreign(_ path: String, in segments: [RecordingStream.Segment]) -> RecordingFailure {
        var others: Set<FrameDialect> = []
        if let stream = try? RecordingStream(segments) {
            while stream.bytesRead < Self.searchedBytes, let line = try? stream.next() {
                guard case .frame(_, _, let dialect) = line.content else { continue }
                guard MockProtocols.of(dialect.ofConnection) == nil else {
                    return RecordingFailure(
                        "\(path) also holds messages that cannot be replayed; `tickertape recording cut --dialect "
                            + "\(dialect.name) FILE NEW-FILE` keeps those of \(dialect.name)"
                    )
                }
                others.insert(dialect)
            }
        }
        let names = others.map { "\($0.name)" }.sorted().joined(separator: " and ")
        return RecordingFailure(
            "\(path) holds \(others.isEmpty ? "no message" : "messages of the dialect \(names)"), which cannot be replayed"
        )
    }

    /// Makes a reader at the start of the recording.
    package func makeReader() throws(RecordingFailure) -> ReplayCursor {
        ReplayCursor(try RecordingStream(self.segments), damage: self.damage, beforeRead: self.beforeRead)
    }

    /// Makes a reader at a frame.
    func makeReader(at place: ReplayCursor.Place) throws(RecordingFailure) -> ReplayCursor {
        let reader = try self.makeReader()
        try reader.seek(to: place)
        return reader
    }
}

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
    /// The most bytes of text searched for the services of the symbols if the header names these.
    private static let searchedForDialects = 8 << 20
    /// The most files searched for symbols at the start of a recording, and again at its end.
    private static let searchedFiles = 32

    package let path: String
    /// The symbols subscribed to at the start, and later ones as far as they are found without reading the whole
    /// recording.
    package let symbols: [String]
    /// All symbols; `nil` if there may be others.
    package let allSymbols: Set<String>?
    /// The services that its frames came from, by the dialects of their connections, as far as its beginning, the
    /// indices of its files and the samples of its other files show them.
    package let dialects: Set<FrameDialect>
    /// The services that the trades of each symbol came from, as far as they are found in the same way.
    private let services: [String: RecordedServices]
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
        var search = SymbolCollection()
        var frames = 0
        var isWhole = true
        let mayMix = stream.segments.contains { $0.header.version >= RecordingHeader.dialectVersion }
        reader.noteRead = { search.take($0) }
        while let frame = try reader.next() {
            frames += 1
            search.take(frame.frame, of: frame.dialect)
            // The header's list is enough, once a frame after it was found.
            if let header = reader.header, !header.symbols.isEmpty {
                let isSearched = !mayMix || reader.textBytesRead >= Self.searchedForDialects
                if isSearched || search.knowsServices(of: header.symbols) { break }
            }
            if reader.textBytesRead >= Self.searchedBytes {
                isWhole = false
                break
            }
        }
        reader.noteRead = { _ in }
        guard frames > 0 else {
            throw RecordingFailure(
                "\(path) holds no recorded frame (one JSON object a line, with \"at\" and \"frame\")"
            )
        }
        var symbols = reader.header?.symbols ?? []
        var services = search.servicesBySymbol
        if symbols.isEmpty {
            symbols = search.names
        } else {
            // Others may have been subscribed to later, by a key or by a relay's client.
            isWhole = Self.addLater(to: &symbols, &services, of: self.segments)
        }
        self.symbols = symbols
        self.services = services
        let found = services.values.reduce(into: Set(search.services.dialects)) { $0.formUnion($1.dialects) }
        self.dialects = Set((found.isEmpty ? Set(search.answers.dialects) : found).map(\.played))
        self.allSymbols = isWhole ? Set(symbols) : nil
    }

    /// Adds the files' further symbols, and further services; returns whether there can be no other symbols.
    private static func addLater(
        to symbols: inout [String],
        _ services: inout [String: RecordedServices],
        of segments: [RecordingStream.Segment]
    ) -> Bool {
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
            for (name, others) in found.services { services[name, default: RecordedServices()].formUnion(others) }
        }
        return areAll
    }

    /// Returns the services that the trades of a symbol came from. Where that is not known, it is the venue in its name
    /// if the recording has that venue's frames, and otherwise Finnhub.
    func services(of symbol: String) -> [FrameDialect] {
        if let found = self.services[symbol]?.dialects {
            return Set(found.map(\.played)).sorted { $0.rawValue < $1.rawValue }
        }
        if let venue = Venue(of: symbol), self.dialects.contains(venue.dialect) { return [venue.dialect] }
        let others = self.dialects.filter { $0 != .finnhub }
        return others.isEmpty || self.dialects.contains(.finnhub) ? [.finnhub] : []
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

import Market
package import Recordings
import Wire

extension RecordingFailure {
    /// Of a file with messages that the mock server does not speak.
    static func foreign(_ path: String) -> RecordingFailure {
        RecordingFailure(
            "\(path) holds messages of other services than Finnhub, which cannot be replayed yet; `tickertape recording cut "
                + "--dialect finnhub FILE NEW-FILE` keeps Finnhub's"
        )
    }
}

/// A recording on disk: what is in it, and readers that each begin at its start.
///
/// It may be compressed, and it may be of several files: naming one plays all that follow it in the same run.
package struct RecordingFile: Sendable {
    /// How much of a text is looked through for its symbols when its header does not name them, in bytes.
    private static let searchedBytes = 64 << 20
    /// Of a recording of very many files so many are searched for symbols at its start, and as many at its end.
    private static let searchedFiles = 32

    package let path: String
    /// The symbols that were found: those that were asked for at the start, and those that came later, as far as they can be
    /// found without reading all of it.
    package let symbols: [String]
    /// The symbols, where it is certain that there are no others.
    package let allSymbols: Set<String>?
    /// The files, in order; never empty.
    package let segments: [RecordingStream.Segment]
    /// Why files that would follow are left out, in one line; `nil` where none are.
    package let unreadable: String?
    /// What of it could not be read so far, by any of its readers.
    package let damage = RecordingDamage()
    /// Is called before each read of its readers, on their threads: what a disk that hangs is made of in tests.
    private let beforeRead: (@Sendable () -> Void)?

    /// Lines that cannot be read, among those looked through.
    package var damagedLines: Int { self.damage.lines }

    /// Opens a recording and finds out which symbols it has.
    ///
    /// - Throws: ``RecordingFailure`` when it cannot be read, or holds no frame in its first 64 MiB.
    package init(path: String, beforeRead: (@Sendable () -> Void)? = nil) throws(RecordingFailure) {
        self.path = path
        self.beforeRead = beforeRead
        let stream = try RecordingStream(path: path)
        self.segments = stream.segments
        self.unreadable = stream.unreadable
        if let foreign = stream.segments.first(where: { $0.header.version >= RecordingHeader.dialectVersion }) {
            throw .foreign(foreign.path)
        }
        let reader = Reader(stream, damage: self.damage)
        var frameReader = FrameReader()
        var table = SymbolTable()
        var trades: [Trade] = []
        var frames = 0
        var isWhole = true
        while let frame = try reader.next() {
            frames += 1
            _ = frameReader.read(frame.frame, of: frame.dialect, symbols: &table, into: &trades)
            trades.removeAll(keepingCapacity: true)
            // The header's word is enough, once there is proof that frames follow it.
            if let header = reader.header, !header.symbols.isEmpty { break }
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
            // Others may have been asked for later: by a key, or by a relay's client.
            isWhole = Self.addLater(to: &symbols, of: self.segments)
        }
        self.symbols = symbols
        self.allSymbols = isWhole ? Set(symbols) : nil
    }

    /// Adds the symbols that the files have beyond these; returns whether there can be no others.
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

    /// Makes a reader at the start of the recording.
    package func makeReader() throws(RecordingFailure) -> Reader {
        Reader(try RecordingStream(self.segments), damage: self.damage, beforeRead: self.beforeRead)
    }
}

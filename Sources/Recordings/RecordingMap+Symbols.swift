import Market
import NIOCore
import Wire

extension RecordingMap {
    /// A text up to this long is read in whole for its symbols; of a longer one stretches all over it, bytes.
    private static let searchedText: Int64 = 2 << 20
    private static let stretches: Int64 = 32
    private static let stretchBytes: Int64 = 64 << 10

    /// The symbols that trade in the file or are asked for in it, in the order in which they are found, and whether there
    /// can be no others.
    ///
    /// From the index where there is one. Without it a short file is read in whole; of a long one stretches are, so that what
    /// trades often is found, and little is read.
    package func symbols() throws(RecordingFailure) -> (names: [String], areAll: Bool) {
        if let index { return (index.symbols, true) }
        guard let length, !self.isPacked else { return ([], false) }
        var search = SymbolSearch()
        guard length > Self.searchedText else {
            try self.scan(from: 0, isLineStart: true) { search.take($0) }
            return (search.names, true)
        }
        for stretch in 0..<Self.stretches {
            // The first and the last bytes are among them.
            let from = (length - Self.stretchBytes) / (Self.stretches - 1) * stretch
            try self.scan(from: from, to: from + Self.stretchBytes, isLineStart: from == 0) { search.take($0) }
        }
        return (search.names, false)
    }
}

/// The gathering of symbols from lines.
private struct SymbolSearch {
    private var reader = FrameReader()
    private var table = SymbolTable()
    private var trades: [Trade] = []
    var names: [String] { self.table.names }

    /// Takes a line; answers that more are wanted.
    mutating func take(_ line: RecordedLine) -> Bool {
        switch line.content {
        case .frame(let bytes, _, let dialect):
            _ = self.reader.read(bytes, of: dialect, symbols: &self.table, into: &self.trades)
            self.trades.removeAll(keepingCapacity: true)
        case .note(let note):
            if note.kind == .subscribe, let symbol = note.symbol { _ = self.table.intern(symbol) }
        case .gap, .header, .unknown, .damaged, .torn: break
        }
        return true
    }
}

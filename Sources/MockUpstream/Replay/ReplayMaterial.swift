package import Market
package import Recordings
package import Wire

/// The material of a mock server: a recording, or a simulated market that is generated while it is played.
package enum ReplayMaterial: Sendable {
    case recording(RecordingFile)
    case market(SimulatedRun.Settings)

    /// The dialects of its frames.
    package var dialects: Set<FrameDialect> {
        switch self {
        case .recording(let file): file.dialects
        case .market(let run): [run.market.dialect]
        }
    }

    /// Returns the connections by which the trades of some symbols come, with the symbols of each in the same order, by
    /// the connections' dialects. A symbol of which no frame is found has none.
    package func connections(for symbols: [String]) -> [FrameDialect: [String]] {
        var connections: [FrameDialect: [String]] = [:]
        for symbol in symbols {
            switch self {
            case .recording(let file):
                for dialect in file.services(of: symbol) { connections[dialect, default: []].append(symbol) }
            case .market(let run): connections[run.market.dialect, default: []].append(symbol)
            }
        }
        return connections
    }

    /// Returns the symbols that are known, of those that came only from Finnhub not more than a number, which is the limit
    /// of its connection.
    package func symbols(ofFinnhub limit: Int) -> [String] {
        let connections = self.connections(for: self.symbols)
        let ofVenues = Set(connections.filter { $0.key != .finnhub }.values.joined())
        let surplus = Set(connections[.finnhub]?.dropFirst(limit) ?? []).subtracting(ofVenues)
        return self.symbols.filter { !surplus.contains($0) }
    }

    /// The symbols that are known.
    package var symbols: [String] {
        switch self {
        case .recording(let file): file.symbols
        case .market(let run): run.market.symbols.map(\.name)
        }
    }

    /// All symbols; `nil` if there may be others.
    var allSymbols: Set<String>? {
        switch self {
        case .recording(let file): file.allSymbols
        case .market(let run): Set(run.market.symbols.map(\.name))
        }
    }

    /// Returns when the material begins and ends; for an endless market the end is far away.
    package func span() throws(RecordingFailure) -> RecordingSpan {
        switch self {
        case .recording(let file):
            return try file.span()
        case .market(let run):
            let start = SimulatedRun.start(of: run)
            return RecordingSpan(start: start, bounds: 0...min(run.length ?? .max, .max - max(start, 0)))
        }
    }

    package func bounds(
        from: ReplayPlace?,
        to: ReplayPlace?,
        in span: RecordingSpan
    ) throws(RecordingFailure) -> ClosedRange<Int64> {
        switch self {
        case .recording(let file):
            return try file.bounds(from: from, to: to, in: span)
        case .market:
            guard from == nil, to == nil else {
                throw RecordingFailure("a simulated market is played from its start")
            }
            return span.bounds
        }
    }

    /// Returns a cursor at the start, or in a recording at the first frame at or after a time.
    func cursor(at time: Int64?) throws(RecordingFailure) -> ReplayCursor {
        switch self {
        case .recording(let file):
            let cursor = try file.makeReader()
            if let time { try cursor.seek(to: time) }
            return cursor
        case .market(let run): return ReplayCursor(SimulatedRun(run))
        }
    }

    /// The file in which places are searched; `nil` for a simulated market.
    var places: RecordingFile? {
        switch self {
        case .recording(let file): file
        case .market: nil
        }
    }
}

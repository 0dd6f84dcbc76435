import HTTP
package import Market
package import NIOCore
import Wire

/// The query of `/v1/bars/SYMBOL`.
package struct BarQuery: Sendable, Equatable {
    package static let maximumBars = 10_000
    static let usualBars = 100
    private static let known: Set<String> = ["width", "from", "to", "limit"]

    var width: BarWidth
    /// The range of the bars' starts, ns since 1970; `to` is exclusive.
    var from: Int64?
    var to: Int64?
    var limit: Int

    package init(width: BarWidth = .minute, from: Int64? = nil, to: Int64? = nil, limit: Int = BarQuery.usualBars) {
        self.width = width
        self.from = from
        self.to = to
        self.limit = limit
    }

    init(_ text: String?) throws(HTTPRefusal) {
        let query = try QueryText(text, known: Self.known)
        guard let width = BarWidth(word: query.text("width") ?? BarWidth.minute.word) else {
            throw .badQuery("width must be one of \(BarWidth.words)")
        }
        self.width = width
        self.limit = try query.number("limit", in: 1...Self.maximumBars, default: Self.usualBars)
        self.from = try query.moment("from")
        self.to = try query.moment("to")
    }
}

extension QueryText {
    /// Returns the time with a name, given in ms since 1970, in ns since 1970.
    func moment(_ name: String) throws(HTTPRefusal) -> Int64? {
        guard let text = self.text(name) else { return nil }
        guard text.utf8.count <= 13, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let milliseconds = Int64(text), milliseconds <= Int64.max / 1_000_000
        else { throw .badQuery("\(name) must be milliseconds since 1970") }
        return milliseconds * 1_000_000
    }
}

/// Some bars of one symbol, the oldest first.
package struct BarExcerpt: Sendable {
    var bars: [(bar: Bar, isClosed: Bool)]
    /// The start from which on all existing bars were searched.
    var oldest: Int64

    /// Returns the bars in memory, preceded by stored ones as far as they are wanted; `nil` if the symbol is unknown.
    static func joining(
        _ live: BarExcerpt?,
        past: RelayPast?,
        of symbol: String,
        _ query: BarQuery,
        _ reservation: AnswerMemory.Reservation
    ) async throws -> BarExcerpt? {
        guard let past else { return live }
        let end = min(query.to ?? .max, live?.oldest ?? .max)
        let missing = query.from == nil ? query.limit - (live?.bars.count ?? 0) : query.limit
        guard missing > 0, query.from ?? .min < end else { return live }
        // The number of bars is known only once they are read.
        try reservation.hold(items: missing + (live?.bars.count ?? 0))
        let earlier = try await past.bars(symbol, query.width, query.from, end == .max ? nil : end, missing)
        guard !earlier.isEmpty || live != nil else {
            // A symbol with bars outside this span is known.
            let any = try await past.bars(symbol, query.width, nil, nil, 1)
            return any.isEmpty ? nil : BarExcerpt(bars: [], oldest: .max)
        }
        let bars = earlier.map { ($0, true) } + (live?.bars ?? [])
        try reservation.hold(items: bars.count)
        return BarExcerpt(bars: Array(bars.prefix(query.limit)), oldest: earlier.first?.start ?? live?.oldest ?? .max)
    }

    package func body(_ symbol: String, _ query: BarQuery) -> ByteBuffer {
        JSONWriter.line { out in
            out.field("symbol", symbol)
            out.field("width", query.width.word)
            out.array("bars") { out in
                for (bar, isClosed) in self.bars { out.element(json: StreamEncoder.barObject(bar, isClosed: isClosed)) }
            }
        }
    }
}

extension RelayHub {
    /// Returns the bars of a symbol that are in memory; `nil` if there are none.
    package func bars(of symbol: String, _ query: BarQuery) -> BarExcerpt? {
        guard let series = self.bars.series(of: symbol, query.width), let oldest = series.bars.first?.start else {
            return nil
        }
        let bars = series.bars(from: query.from, to: query.to, limit: query.limit)
        return BarExcerpt(
            bars: bars.map { ($0, self.bars.isClosed($0, now: self.monotonic)) },
            oldest: oldest
        )
    }
}

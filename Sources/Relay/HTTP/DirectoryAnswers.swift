import HTTP
import NIOCore
import Wire

/// The bodies of `/v1/news` and `/v1/symbols`.
enum DirectoryAnswers {
    /// The numbers of results in one answer: the most, and the default.
    static let maximumHeadlines = Headline.maximumKept
    static let usualHeadlines = 50
    static let maximumSymbols = 10_000
    static let usualSymbols = 100
    /// The JSON of one result without its texts, in bytes.
    private static let frameBytes = 160

    /// - Parameter query: the request's query.
    static func news(
        _ query: String?,
        _ directory: RelayDirectory?,
        _ reservation: AnswerMemory.Reservation
    ) async throws -> ByteBuffer {
        let query = try DirectoryQuery(query, limit: 1...Self.maximumHeadlines, usual: Self.usualHeadlines)
        let found = try await Self.result(directory) { await $0.headlines(query) }
        let bytes = found.headlines.reduce(0) { sum, headline in
            let texts = [headline.text, headline.publisher, headline.summary, headline.url]
            return sum + texts.reduce(Self.frameBytes) { $0 + $1.utf8.count }
        }
        return try Self.body(reservation, bytes) { out in
            out.field("fetched", found.fetched / 1_000_000)
            out.field("matches", found.matches)
            out.field("publishers", found.publishers)
            out.array("headlines") { out in
                for headline in found.headlines {
                    out.element { out in
                        out.field("id", headline.id)
                        out.field("time", headline.time / 1_000_000)
                        out.field("headline", headline.text)
                        out.field("publisher", headline.publisher)
                        out.field("summary", headline.summary)
                        out.field("url", headline.url.isEmpty ? nil : headline.url)
                    }
                }
            }
        }
    }

    /// - Parameter query: the request's query.
    static func symbols(
        _ query: String?,
        _ directory: RelayDirectory?,
        _ reservation: AnswerMemory.Reservation
    ) async throws -> ByteBuffer {
        let query = try DirectoryQuery(query, limit: 1...Self.maximumSymbols, usual: Self.usualSymbols)
        let found = try await Self.result(directory) { await $0.symbols(query) }
        let bytes = found.symbols.reduce(0) { sum, symbol in
            let texts = [symbol.symbol, symbol.displaySymbol, symbol.description]
            return sum + texts.reduce(Self.frameBytes) { $0 + $1.utf8.count }
        }
        return try Self.body(reservation, bytes) { out in
            out.field("publisher", found.publisher)
            out.field("fetched", found.fetched / 1_000_000)
            out.field("note", found.note)
            out.field("matches", found.matches)
            out.field("publishers", found.publishers)
            out.array("symbols") { out in
                for symbol in found.symbols {
                    out.element { out in
                        out.field("symbol", symbol.symbol)
                        out.field("displaySymbol", symbol.displaySymbol)
                        out.field("description", symbol.description)
                    }
                }
            }
        }
    }

    /// Asks the directory, and refuses the request if it fails.
    private static func result<Found>(
        _ directory: RelayDirectory?,
        _ ask: (RelayDirectory) async -> Result<Found, ServiceFailure>
    ) async throws(HTTPRefusal) -> Found {
        guard let directory else { throw HTTPRefusal(.noKey, now: 0) }
        switch await ask(directory) {
        case .failure(let failure): throw HTTPRefusal(failure, now: directory.wallClock())
        case .success(let found): return found
        }
    }

    /// Returns a body, whose memory is reserved before it is built.
    ///
    /// - Parameter bytes: its size without escapes. A buffer that grows has up to twice the size of its text.
    private static func body(
        _ reservation: AnswerMemory.Reservation,
        _ bytes: Int,
        _ write: (inout JSONWriter) -> Void
    ) throws(HTTPServerFailure) -> ByteBuffer {
        try reservation.hold(max(AnswerMemory.smallBytes, 2 * bytes))
        let body = JSONWriter.line(write)
        try reservation.hold(max(AnswerMemory.smallBytes, body.storageCapacity))
        return body
    }
}

extension DirectoryQuery {
    /// The longest publisher and the longest text of a query, in bytes.
    private static let longestPublisher = 64
    private static let longestText = 128

    /// Reads a request's query.
    ///
    /// - Parameters:
    ///   - limit: the allowed numbers of results.
    ///   - usual: the number without a parameter.
    init(_ text: String?, limit: ClosedRange<Int>, usual: Int) throws(HTTPRefusal) {
        let query = try QueryText(text, known: ["publisher", "text", "limit"])
        let publisher = try query.text("publisher", atMost: Self.longestPublisher)
        let words = try query.text("text", atMost: Self.longestText)
        let most = try query.number("limit", in: limit, default: usual)
        self.init(publisher: publisher, text: words ?? "", limit: most)
    }
}

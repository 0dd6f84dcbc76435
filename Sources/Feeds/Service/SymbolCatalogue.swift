import NIOCore
package import Wire

/// The catalogue of symbols to follow, searched by what a person types.
///
/// With a key it is Finnhub's list of an exchange, requested once a day and kept on disk. Without one it holds the
/// symbols of a recording. A result names its source unless that is a list of less than a day.
package actor SymbolCatalogue {
    /// The source of the symbols.
    package enum Source: Sendable {
        case service(ServiceClient, exchange: String, file: SymbolListFile?)
        /// The symbols of a recording, and the recording's name for people.
        case recording(symbols: [String], name: String)
    }

    /// The result of a search.
    package struct Found: Sendable, Equatable {
        package var symbols: [ListedSymbol]
        /// A remark for the user, in one line; always present if nothing was found.
        package var note: String?
    }

    /// How long a list is used, ns: a day.
    private static let goodFor: Int64 = 86_400_000_000_000
    /// The pause after a failure, ns.
    private static let pause: Int64 = 10_000_000_000

    private struct List {
        var search: SymbolSearch
        var fetched: Int64
        /// A remark for the user.
        var note: String?
        /// When to request a better list, ns since 1970.
        var goodUntil: Int64
    }

    private let source: Source
    /// Nanoseconds since 1970.
    private let wallClock: @Sendable () -> Int64
    private var list: List?
    private var failure: (ServiceFailure, until: Int64)?
    private var loading: Task<Result<List, ServiceFailure>, Never>?

    package init(_ source: Source, wallClock: @escaping @Sendable () -> Int64) {
        self.source = source
        self.wallClock = wallClock
    }

    /// Returns the symbols that match a text, the best first.
    package func search(_ text: String, limit: Int = 20) async -> Result<Found, ServiceFailure> {
        switch await self.current() {
        case .failure(let failure):
            return .failure(failure)
        case .success(let list):
            let symbols = list.search.found(text, limit: limit)
            guard symbols.isEmpty else { return .success(Found(symbols: symbols, note: list.note)) }
            let nothing = "nothing among \(list.search.count) symbols fits \"\(text.prefix(64))\""
            return .success(Found(symbols: [], note: list.note.map { "\(nothing); \($0)" } ?? nothing))
        }
    }

    private func current() async -> Result<List, ServiceFailure> {
        let now = self.wallClock()
        // The lower bound keeps a list from being used for ever after the clock was set back.
        if let list, now < list.goodUntil, now >= list.fetched - Self.goodFor { return .success(list) }
        if let failure, now < failure.until { return self.list.map { .success($0) } ?? .failure(failure.0) }
        if let loading { return await loading.value }
        let loading = Task { await self.load(now: now) }
        self.loading = loading
        let result = await loading.value
        self.loading = nil
        switch result {
        case .success(let list):
            self.list = list
            self.failure = nil
        case .failure(let failure):
            var until = now + Self.pause
            if case .limited(let limit) = failure.kind { until = limit }
            self.failure = (failure, until)
        }
        return result
    }

    private func load(now: Int64) async -> Result<List, ServiceFailure> {
        switch self.source {
        case .recording(let symbols, let name):
            guard !symbols.isEmpty else {
                return .failure(
                    ServiceFailure(.unknown, "\(name) names no symbols; set FINNHUB_TOKEN to search Finnhub's")
                )
            }
            let list = symbols.map { ListedSymbol(named: $0, description: "in \(name)") }
            let note = "these are the symbols of \(name); with a key (FINNHUB_TOKEN) it would be Finnhub's list"
            return .success(List(search: SymbolSearch(list), fetched: now, note: note, goodUntil: .max))
        case .service(let client, let exchange, let file):
            let kept = await file?.read()
            if let kept, (0..<Self.goodFor).contains(now - kept.fetched),
                let list = Self.list(kept, exchange: exchange, goodUntil: kept.fetched + Self.goodFor)
            {
                return .success(list)
            }
            let failure: ServiceFailure
            switch await Self.fetch(exchange, from: client, into: file, now: now) {
            case .success(let list): return .success(list)
            case .failure(let reason): failure = reason
            }
            // An old list is better than none, but its note names the failure.
            guard let kept, var list = Self.list(kept, exchange: exchange, goodUntil: now + Self.pause) else {
                return .failure(failure)
            }
            if case .limited(let until) = failure.kind { list.goodUntil = until }
            let days = max(now - kept.fetched, 0) / Self.goodFor
            list.note = "the list is \(days == 1 ? "a day" : "\(days) days") old: \(failure)"
            return .success(list)
        }
    }

    private static func list(_ kept: SymbolListFile.Kept, exchange: String, goodUntil: Int64) -> List? {
        guard let symbols = ListedSymbol.list(kept.body, exchange: exchange), !symbols.isEmpty else { return nil }
        return List(search: SymbolSearch(symbols), fetched: kept.fetched, note: nil, goodUntil: goodUntil)
    }

    private static func fetch(
        _ exchange: String,
        from client: ServiceClient,
        into file: SymbolListFile?,
        now: Int64
    ) async -> Result<List, ServiceFailure> {
        switch await client.get("/crypto/symbol", query: [("exchange", exchange)]) {
        case .failure(let failure):
            return .failure(failure)
        case .success(let body):
            guard let symbols = ListedSymbol.list(body, exchange: exchange) else {
                return .failure(ServiceFailure(notWhat: "a list of symbols", body: body))
            }
            guard !symbols.isEmpty else { return .failure(await Self.unknown(exchange, client)) }
            let kept = SymbolListFile.Kept(body: body, fetched: now)
            var list = List(search: SymbolSearch(symbols), fetched: now, note: nil, goodUntil: now + Self.goodFor)
            if let reason = await file?.write(kept) {
                list.note = "the list cannot be kept for the next time: \(reason)"
            }
            return .success(list)
        }
    }

    /// Explains that the exchange has no symbols, and lists the exchanges that the service knows.
    private static func unknown(_ exchange: String, _ client: ServiceClient) async -> ServiceFailure {
        let name = exchange.prefix(32)
        guard case .success(let body) = await client.get("/crypto/exchange"),
            let names = body.withUnsafeReadableBytes({ bytes in
                var reader = JSONReader(bytes)
                return reader.strings(atMost: 1_000)
            }), !names.isEmpty
        else {
            return ServiceFailure(.unknown, "the service lists no symbols for the exchange \(name): check --exchange")
        }
        let known = names.prefix(40).map { AnswerText.line(of: $0) }.joined(separator: ", ")
        return ServiceFailure(.unknown, "the service lists no symbols for the exchange \(name); it knows \(known)")
    }
}

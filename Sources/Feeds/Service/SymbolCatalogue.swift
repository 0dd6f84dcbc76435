import NIOCore
package import Wire

/// The symbols that can be followed, searched by what a person types.
///
/// With a key it is Finnhub's list of an exchange, asked for once a day and kept on disk; without one, the symbols of a
/// recording. Whatever is found says where it is from, when that is anything but a list of today.
package actor SymbolCatalogue {
    /// Where the symbols come from.
    package enum Source: Sendable {
        case service(ServiceClient, exchange: String, file: SymbolListFile?)
        /// Names from a recording, and what to call it.
        case recording(symbols: [String], name: String)
    }

    /// What was found.
    package struct Found: Sendable, Equatable {
        package var symbols: [ListedSymbol]
        /// What a person must know about it, in one line; always there when nothing was found.
        package var note: String?
    }

    /// How long a list is good, ns: a day.
    private static let goodFor: Int64 = 86_400_000_000_000
    /// How long after a failure the service is left alone, ns.
    private static let pause: Int64 = 10_000_000_000

    private struct List {
        var search: SymbolSearch
        var fetched: Int64
        /// What a person must know about it.
        var note: String?
        /// When to try again to get a better one, ns since 1970.
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

    /// Finds what fits a text, the best first.
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
        // A clock that was set back makes no list good for ever.
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
            // A list of another day is better than none, but not instead of the word about what is wrong.
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

    /// The exchange has no symbols: says which ones there are.
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

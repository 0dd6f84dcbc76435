package import Market
import NIOCore
package import Wire

/// Finnhub's headlines and symbols for all readers of a program: its commands, its screen and its relay's clients.
///
/// A list is requested once for all readers at a time, and kept. No event loop waits for it.
package actor ServiceDirectory {
    /// The source of the symbols.
    package enum SymbolSource: Sendable {
        /// The service's lists, and the folder that keeps them; `nil` keeps them in memory only.
        case service(folder: String?)
        /// The symbols of a recording, and its name for people, such as `the recording`.
        case recording(symbols: [String], name: String)
    }

    /// The parts of a directory with a key.
    private struct Service: Sendable {
        let calls: ServiceCalls
        let address: UpstreamAddress
        let news: KeptAnswer<NewsSearch>
        let exchanges: KeptAnswer<[String]>
    }

    /// The exchange that is searched unless another one is named.
    package static let usualExchange = "BINANCE"
    /// The most exchanges whose symbols are in memory. The lists of others are read from disk again.
    static let maximumCatalogues = 4
    /// How long headlines are kept, ns: a minute.
    private static let newsGoodFor: Int64 = 60_000_000_000
    /// How long the list of exchanges is kept, ns: a day.
    private static let exchangesGoodFor: Int64 = 86_400_000_000_000
    /// The most exchanges that are kept. The service lists about 20.
    private static let maximumExchanges = 200

    private let source: SymbolSource
    /// `nil` without a key.
    private let service: Service?
    /// Nanoseconds since 1970.
    private let wallClock: @Sendable () -> Int64
    /// The catalogues in memory, the one that was used last at the end.
    private var catalogues: [(exchange: String, catalogue: SymbolCatalogue)] = []

    /// - Parameters:
    ///   - client: `nil` if there is no key.
    ///   - wallClock: returns ns since 1970.
    package init(
        _ client: ServiceClient?,
        symbols source: SymbolSource,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.source = source
        self.wallClock = wallClock
        self.service = client.map { client in
            let calls = ServiceCalls(client, wallClock: wallClock)
            return Service(
                calls: calls,
                address: client.address,
                news: KeptAnswer(wallClock: wallClock) { now, _ in await Self.news(calls, now) },
                exchanges: KeptAnswer(wallClock: wallClock) { now, _ in await Self.exchanges(calls, now) }
            )
        }
    }

    // MARK: Headlines

    /// Returns the newest headlines about crypto currencies that match a query.
    package func headlines(_ query: DirectoryQuery) async -> Result<FoundHeadlines, ServiceFailure> {
        guard let service else { return .failure(.noKey) }
        switch await service.news.current() {
        case .failure(let failure):
            return .failure(failure)
        case .success(let kept):
            let (headlines, matches) = kept.value.search(query)
            return .success(
                FoundHeadlines(
                    headlines: headlines,
                    matches: matches,
                    publishers: kept.value.publishers,
                    fetched: kept.fetched
                )
            )
        }
    }

    private static func news(
        _ calls: ServiceCalls,
        _ now: Int64
    ) async -> Result<KeptAnswer<NewsSearch>.Kept, ServiceFailure> {
        switch await calls.get("/news", query: [("category", "crypto")]) {
        case .failure(let failure):
            return .failure(failure)
        case .success(let body):
            guard let list = Headline.list(body) else {
                return .failure(ServiceFailure(notWhat: "a list of headlines", body: body))
            }
            return .success(.init(value: NewsSearch(list), fetched: now, goodUntil: now + Self.newsGoodFor))
        }
    }

    // MARK: Quotes

    /// Returns the price at which a symbol closed its previous day; `nil` if the service does not say.
    package func previousClose(of symbol: String) async -> ExactDecimal? {
        guard let service, case .success(let body) = await service.calls.get("/quote", query: [("symbol", symbol)])
        else { return nil }
        return PreviousClose.read(body)
    }

    // MARK: Symbols

    /// Returns the symbols of an exchange that match a query.
    ///
    /// - Parameter isFromClient: whether a client of the relay asks. Every exchange that clients name could cost a
    ///   call, so for them only those are searched that the service lists, and the result has all of these.
    package func symbols(
        _ query: DirectoryQuery,
        isFromClient: Bool = false
    ) async -> Result<FoundSymbols, ServiceFailure> {
        switch self.source {
        case .recording(let symbols, let name):
            let catalogue = self.catalogue(of: "", or: .recording(symbols: symbols, name: name))
            return await catalogue.search(query.text, exchange: query.publisher, limit: query.limit)
        case .service(let folder):
            guard let service else { return .failure(.noKey) }
            let exchange = (query.publisher ?? Self.usualExchange).uppercased()
            var publishers = [exchange]
            if isFromClient {
                switch await service.exchanges.current() {
                case .success(let known):
                    guard exchange == Self.usualExchange || known.value.contains(exchange) else {
                        return .failure(.unknownExchange(exchange, known: known.value))
                    }
                    publishers = known.value
                case .failure(let failure):
                    guard exchange == Self.usualExchange else { return .failure(failure) }
                }
            }
            let file = folder.map {
                SymbolListFile(directory: $0, exchange: exchange, service: service.address)
            }
            let catalogue = self.catalogue(
                of: exchange,
                or: .service(service.calls, exchange: exchange, exchanges: service.exchanges, file: file)
            )
            return await catalogue.search(query.text, limit: query.limit).map { found in
                var found = found
                found.publishers = publishers
                return found
            }
        }
    }

    /// Returns the catalogue of an exchange that is in memory, or else a new one.
    private func catalogue(of exchange: String, or source: SymbolCatalogue.Source) -> SymbolCatalogue {
        let known = self.catalogues.firstIndex { $0.exchange == exchange }.map { self.catalogues.remove(at: $0) }
        let used = known ?? (exchange: exchange, catalogue: SymbolCatalogue(source, wallClock: self.wallClock))
        self.catalogues.append(used)
        if self.catalogues.count > Self.maximumCatalogues { self.catalogues.removeFirst() }
        return used.catalogue
    }

    /// Requests the list of exchanges, in alphabetical order and in upper case, as symbols begin with them.
    static func exchanges(
        _ calls: ServiceCalls,
        _ now: Int64
    ) async -> Result<KeptAnswer<[String]>.Kept, ServiceFailure> {
        switch await calls.get("/crypto/exchange") {
        case .failure(let failure):
            return .failure(failure)
        case .success(let body):
            let names = body.withUnsafeReadableBytes { bytes in
                var reader = JSONReader(bytes)
                return reader.strings(atMost: 1_000)
            }
            guard let names else { return .failure(ServiceFailure(notWhat: "a list of exchanges", body: body)) }
            let usable = names.filter { (1...64).contains($0.utf8.count) }.map { $0.uppercased() }
            return .success(
                .init(
                    value: Array(Set(usable).sorted().prefix(Self.maximumExchanges)),
                    fetched: now,
                    goodUntil: now + Self.exchangesGoodFor
                )
            )
        }
    }
}

import NIOCore
import Wire

/// The symbols of one exchange, or of a recording, searched by what a person types.
///
/// An exchange's list is the service's, requested once a day and kept on disk. A result names its source unless that is
/// a list of less than a day.
actor SymbolCatalogue {
    /// The source of the symbols.
    enum Source: Sendable {
        /// The service's list of an exchange, whose name is in upper case.
        ///
        /// `exchanges` are those that the service lists, for the words about an exchange without symbols.
        case service(ServiceCalls, exchange: String, exchanges: KeptAnswer<[String]>, file: SymbolListFile?)
        /// The symbols of a recording, and the recording's name for people.
        case recording(symbols: [String], name: String)
    }

    private struct List: Sendable {
        var search: SymbolSearch
        /// A remark for any reader.
        var note: String?
        /// Why the list is not on disk.
        var diskProblem: String?
    }

    private typealias KeptList = KeptAnswer<List>.Kept

    /// How long a list is used, ns: a day.
    private static let goodFor: Int64 = 86_400_000_000_000

    private let exchange: String?
    /// The exchanges of the symbols, in alphabetical order and in upper case.
    private let exchanges: [String]
    private let list: KeptAnswer<List>

    init(_ source: Source, wallClock: @escaping @Sendable () -> Int64) {
        switch source {
        case .service(_, let exchange, _, _):
            self.exchange = exchange
            self.exchanges = [exchange]
        case .recording(let symbols, _):
            self.exchange = nil
            let names = symbols.compactMap { symbol in
                symbol.firstIndex(of: ":").map { symbol[..<$0].uppercased() }
            }
            self.exchanges = Set(names).sorted()
        }
        self.list = KeptAnswer(wallClock: wallClock) { now, older in
            await Self.load(source, now: now, older: older)
        }
    }

    /// Returns the symbols that match a text, the best first.
    ///
    /// - Parameter exchange: the only exchange whose symbols match, where there are several; `nil` for all.
    func search(
        _ text: String,
        exchange: String? = nil,
        limit: Int = 20
    ) async -> Result<FoundSymbols, ServiceFailure> {
        switch await self.list.current() {
        case .failure(let failure):
            return .failure(failure)
        case .success(let kept):
            let list = kept.value
            let (symbols, matches) = list.search.search(text, exchange: exchange, limit: limit)
            var note = list.note
            if matches == 0 {
                let nothing = "nothing among \(list.search.count) symbols fits \"\(text.prefix(64))\""
                note = note.map { "\(nothing); \($0)" } ?? nothing
            }
            return .success(
                FoundSymbols(
                    symbols: symbols,
                    matches: matches,
                    publisher: self.exchange ?? exchange?.uppercased(),
                    publishers: self.exchanges,
                    fetched: kept.fetched,
                    note: note,
                    diskProblem: list.diskProblem
                )
            )
        }
    }

    private static func load(
        _ source: Source,
        now: Int64,
        older: KeptList?
    ) async -> Result<KeptList, ServiceFailure> {
        switch source {
        case .recording(let symbols, let name):
            let listed = symbols.map { ListedSymbol(named: $0, description: "in \(name)") }
            let note =
                "these are the symbols of \(name); the list of all symbols needs the live market and a key (FINNHUB_TOKEN)"
            let list = List(search: SymbolSearch(listed), note: note)
            return .success(KeptList(value: list, fetched: now, goodUntil: .max))
        case .service(let calls, let exchange, let exchanges, let file):
            let stored = await file?.read()
            if let stored, (0..<Self.goodFor).contains(now - stored.fetched),
                let list = Self.list(stored, exchange: exchange)
            {
                return .success(
                    KeptList(value: list, fetched: stored.fetched, goodUntil: stored.fetched + Self.goodFor)
                )
            }
            let failure: ServiceFailure
            switch await Self.fetch(exchange, calls, exchanges, into: file, now: now) {
            case .success(let list):
                return .success(KeptList(value: list, fetched: now, goodUntil: now + Self.goodFor))
            case .failure(let reason):
                failure = reason
            }
            // An old list is better than none, but its note names the failure.
            let old: (list: List, fetched: Int64)? =
                if let stored, let list = Self.list(stored, exchange: exchange) {
                    (list: list, fetched: stored.fetched)
                } else {
                    older.map { (list: $0.value, fetched: $0.fetched) }
                }
            guard let (oldList, fetched) = old else { return .failure(failure) }
            var list = oldList
            let days = max(now - fetched, 0) / Self.goodFor
            list.note = "the list is \(days == 1 ? "a day" : "\(days) days") old: \(failure)"
            return .success(KeptList(value: list, fetched: fetched, goodUntil: failure.nextCall(after: now)))
        }
    }

    private static func list(_ stored: SymbolListFile.Kept, exchange: String) -> List? {
        guard let symbols = ListedSymbol.list(stored.body, exchange: exchange), !symbols.isEmpty else { return nil }
        return List(search: SymbolSearch(symbols))
    }

    private static func fetch(
        _ exchange: String,
        _ calls: ServiceCalls,
        _ exchanges: KeptAnswer<[String]>,
        into file: SymbolListFile?,
        now: Int64
    ) async -> Result<List, ServiceFailure> {
        switch await calls.get("/crypto/symbol", query: [("exchange", exchange)]) {
        case .failure(let failure):
            return .failure(failure)
        case .success(let body):
            guard let symbols = ListedSymbol.list(body, exchange: exchange) else {
                return .failure(ServiceFailure(notWhat: "a list of symbols", body: body))
            }
            guard !symbols.isEmpty else {
                let known = try? await exchanges.current().get().value
                return .failure(.unknownExchange(exchange, known: known ?? []))
            }
            var list = List(search: SymbolSearch(symbols))
            if let reason = await file?.write(SymbolListFile.Kept(body: body, fetched: now)) {
                list.diskProblem = "the list cannot be kept for the next time: \(reason)"
            }
            return .success(list)
        }
    }
}

import Feeds
import Ingest
import Market
import NIOConcurrencyHelpers
import TLS
import Wire

/// The feeds of a program, and the symbols of each: Finnhub's, and those of the exchanges themselves.
struct FeedPlan: Sendable {
    /// Finnhub's feed; `nil` for a program without one.
    var finnhub: FinnhubSettings?
    var venues: [VenueSettings] = []
    /// The second feeds with whose trades Finnhub's are compared; they put nothing on the program's tape.
    var audited: [VenueSettings] = []
    /// The feed of an edge, which has all symbols; `nil` for a program that connects to the services itself.
    var edge: EdgeFeed.Settings?
    /// What an ingest is while another one holds the leases; `nil` for a program that is not an ingest.
    var standby: EdgeFeed.Settings?
    /// Whether they also fill the gaps in Finnhub's trades.
    var fillsFinnhub = false
    /// Where the trades of each symbol come from.
    let routes: SymbolRoutes
    /// The symbols of the settings as the tape names them, in display order.
    let symbols: [String]

    /// Creates the plan of one feed of all symbols.
    init(_ finnhub: FinnhubSettings) { self.init(finnhub, venues: [], symbols: finnhub.symbols) }

    /// Creates the plan of a replay.
    ///
    /// - Parameters:
    ///   - finnhub: Finnhub's feed with its symbols; `nil` for none.
    ///   - venues: the venues' feeds with theirs. A symbol may have come from Finnhub and from its venue.
    ///   - symbols: all of them, in display order.
    init(_ finnhub: FinnhubSettings?, venues: [VenueSettings], symbols: [String]) {
        self.routes = SymbolRoutes(usual: .venue, venues: Set(venues.map(\.venue)))
        self.symbols = symbols
        self.venues = venues
        self.finnhub = finnhub
        let ofVenues = Set(venues.flatMap(\.symbols))
        for symbol in finnhub?.symbols ?? [] where !ofVenues.contains(symbol) {
            self.routes.choose(symbol, from: .finnhub)
        }
    }

    /// Creates the plan of a live program.
    ///
    /// - Parameter token: Finnhub's key; `nil` without one.
    /// - Throws: ``OperatorError`` where a symbol has no feed, or a proxy cannot be used.
    init(_ settings: Settings, token: Secret?) throws(OperatorError) {
        let usual: SymbolFeed =
            switch settings.from {
            case .auto: .finnhub
            case .finnhub: .finnhub
            case .venue: .venue
            }
        self.routes = SymbolRoutes(usual: usual, venues: Set(Venue.allCases))
        self.symbols = settings.symbolNames
        if settings.cluster.role == .edge {
            self.edge = Self.edge(settings, self.symbols)
            return
        }
        // As they are written: Kraken's own name of a pair is known even if its list of symbols does not come.
        var own: [Venue: [String]] = [:]
        var finnhub: [String] = []
        for text in settings.finnhub.symbols {
            let chosen = ChosenSymbol(text)
            self.routes.choose(chosen)
            switch chosen.feed ?? usual {
            case .finnhub: finnhub.append(chosen.name)
            case .venue:
                guard let venue = Venue(of: chosen.name) else { throw Self.noVenue(chosen.name) }
                own[venue, default: []].append(chosen.written)
            }
        }
        if let first = finnhub.first, token == nil {
            throw OperatorError(
                "\(first) comes from Finnhub, which needs a key: set FINNHUB_TOKEN, or write \(first)@venue",
                status: .configuration
            )
        }
        // Clients of the relay may ask for symbols of any venue, where venues are the usual feeds.
        for venue in Venue.allCases where usual == .venue || own[venue] != nil {
            self.venues.append(try settings.liveFeed(of: venue, symbols: own[venue] ?? []))
        }
        if let token, !finnhub.isEmpty {
            self.finnhub = try settings.liveFeed(token: token, symbols: finnhub)
        }
        if settings.cluster.role == .ingest { self.standby = Self.edge(settings, self.symbols) }
        guard settings.auditsFinnhub || settings.fillsFinnhub else { return }
        guard self.standby == nil else {
            throw OperatorError(
                "finnhub.audit and finnhub.fill connect to the exchanges without a lease: leave them out of an ingest, or "
                    + "run them on a program with cluster.role: alone",
                status: .configuration
            )
        }
        self.fillsFinnhub = settings.fillsFinnhub
        guard self.finnhub != nil else {
            throw OperatorError(
                "\(self.fillsFinnhub ? "finnhub.fill" : "finnhub.audit") compares Finnhub's trades, and no symbol comes from Finnhub: leave it out, or set "
                    + "FINNHUB_TOKEN and --from finnhub",
                status: .configuration
            )
        }
        guard !self.fillsFinnhub || settings.venues.backfill else {
            throw OperatorError(
                "finnhub.fill requests trades from the exchanges, which venues.backfill forbids: set venues.backfill to "
                    + "true, or leave finnhub.fill out",
                status: .configuration
            )
        }
        // Clients may ask for symbols of any venue.
        for venue in Venue.allCases {
            let own = finnhub.filter { Venue(of: $0) == venue }
            self.audited.append(try settings.liveFeed(of: venue, symbols: own))
        }
    }

    private static func edge(_ settings: Settings, _ symbols: [String]) -> EdgeFeed.Settings {
        var edge = EdgeFeed.Settings(settings.cluster.subjects, member: settings.cluster.memberName, symbols: symbols)
        edge.subscriptions = settings.finnhub.subscriptions
        return edge
    }

    /// The keys of the leases that an ingest needs: that of the tape first, and then one for each key and each venue.
    var leases: [String] {
        guard let standby else { return [] }
        let finnhub = self.finnhub.map { KeyIdentity(key: $0.key, upstream: $0.upstream).name }
        let venues = self.venues.map { KeyIdentity($0.venue, at: $0.upstream).name }
        return ["tape.\(standby.subjects.name)"] + (finnhub.map { ["key.\($0)"] } ?? [])
            + venues.map { name in
                // A host's address can have other characters.
                let name = String(name.map { ClusterSubjects.isName(String($0)) || $0 == "." ? $0 : "-" })
                return "venue.\(standby.subjects.name).\(name)"
            }
    }

    private static func noVenue(_ symbol: String) -> OperatorError {
        let names = Venue.allCases.map { "\($0.prefix)" }.joined(separator: ", ")
        return OperatorError(
            "\(symbol) is of no exchange that this program connects to by itself (\(names)): leave it out, or write "
                + "\(symbol)@finnhub and set FINNHUB_TOKEN",
            status: .configuration
        )
    }

    /// The neutral settings of each feed, in the order of their shares: Finnhub's first.
    private var clients: [ClientSettings] {
        (self.finnhub.map { [$0.client] } ?? []) + self.venues.map(\.client)
    }

    var source: FeedStatus.Source { self.clients.first?.source ?? .live }

    /// Whether it has a connection to NATS.
    private var isOfCluster: Bool { self.edge != nil || self.standby != nil }

    /// Whether every upstream's certificate is checked.
    var certificateIsChecked: Bool { self.clients.allSatisfy(\.certificateIsChecked) }

    /// The dialect of the first feed's frames.
    var dialect: FrameDialect {
        self.edge != nil ? .tickertape : self.finnhub?.dialect ?? self.venues.first?.venue.dialect ?? .finnhub
    }

    /// The addresses of the feeds with symbols, for the header of a recording.
    var addresses: String {
        if let edge { return "nats:\(edge.subjects.tape)" }
        let used = self.clients.filter { !$0.symbols.isEmpty }
        return (used.isEmpty ? self.clients : used).map { "\($0.upstream)" }.joined(separator: " ")
    }

    /// The subscriptions of each feed.
    var shares: [Subscriptions.Share] {
        let routes = self.routes
        if let edge { return [Subscriptions.Share(edge.subscriptions, retained: edge.symbols)] }
        var shares: [Subscriptions.Share] = []
        if let finnhub {
            shares.append(
                Subscriptions.Share(finnhub.subscriptions, retained: finnhub.symbols) {
                    routes.feed(of: $0) == .finnhub
                }
            )
        }
        for settings in self.venues {
            let venue = settings.venue
            shares.append(
                Subscriptions.Share(settings.subscriptions, retained: settings.symbols.map(venue.tapeName)) {
                    // A client gets trades under the tape's names only.
                    routes.feed(of: $0) == .venue && Venue(of: $0) == venue && venue.tapeName(of: $0) == $0
                }
            )
        }
        return shares
    }

    /// Returns what a client should write instead of a symbol that no feed serves; `nil` where nothing better is known.
    ///
    /// A client matches trades to its subscriptions by their names, so another name of a symbol is refused, not
    /// translated.
    func hint(of symbol: String) -> String? {
        let venues = self.venues.map(\.venue)
        if let venue = Venue(of: symbol), venues.contains(venue), self.routes.feed(of: symbol) == .venue {
            let name = venue.tapeName(of: symbol)
            return name == symbol ? nil : "its name here is \(name)"
        }
        guard self.finnhub == nil, let first = venues.first else { return nil }
        var names = venues.map(\.name)
        let last = names.popLast() ?? ""
        let list = names.isEmpty ? last : "\(names.joined(separator: ", ")) and \(last)"
        return "this relay has symbols of \(list) only: write one of them, such as \(first.tapeName(of: first.example))"
    }

    /// Notes the feed of a symbol that is added at the screen. Returns `nil`, or the reason for a refusal in one line.
    func refusal(of symbol: ChosenSymbol) -> String? {
        // The ingest knows which feed it is.
        if self.edge != nil { return nil }
        switch symbol.feed ?? self.routes.feed(of: symbol.name) {
        case .finnhub:
            guard self.finnhub != nil else {
                return "this run has no connection to Finnhub: start it with FINNHUB_TOKEN and \(symbol.name)@finnhub"
            }
        case .venue:
            guard let venue = Venue(of: symbol.name) else { return Self.noVenue(symbol.name).description }
            guard self.venues.contains(where: { $0.venue == venue }) else {
                return "this run has no connection to \(venue.name): start it with --from venue, or with "
                    + "--symbol \(symbol.name)@venue"
            }
        }
        self.routes.choose(symbol)
        return nil
    }

    /// Checks that the trust roots and the revocation lists can be loaded, before the program opens or creates
    /// anything.
    ///
    /// - Parameter settings: those of the program, which may name servers of NATS.
    /// - Throws: ``OperatorError`` that says what to change.
    func checkTrust(_ settings: Settings) throws(OperatorError) {
        let isClusterEncrypted = self.isOfCluster && settings.cluster.servers.contains(where: \.demandsTLS)
        // All feeds share the settings of TLS.
        let feeds = self.clients.first(where: \.upstream.isEncrypted)?.dial.tls
        guard let tls = feeds ?? (isClusterEncrypted ? settings.dial.tls : nil) else { return }
        do throws(TLSError) {
            _ = try TLSContext(client: tls)
        } catch {
            var withoutLists = tls
            withoutLists.revocationListFile = nil
            let isWellWithoutLists = (try? TLSContext(client: withoutLists)) != nil
            let setting = isWellWithoutLists ? "tls.crl-file" : "tls.ca-file, --ca-file"
            throw OperatorError("\(error) (\(setting))", status: .configuration)
        }
    }
}

/// The kind of feed of each symbol. Its methods may be called on any thread.
final class SymbolRoutes: Sendable {
    /// The most symbols whose feed is remembered: those of the settings and of the screen.
    private static let limit = 2_000

    private let usual: SymbolFeed
    private let venues: Set<Venue>
    private let chosen = NIOLockedValueBox<[String: SymbolFeed]>([:])

    /// - Parameter venues: the venues to which ``SymbolFeed/venue`` applies as the usual feed.
    init(usual: SymbolFeed, venues: Set<Venue>) {
        self.usual = usual
        self.venues = venues
    }

    func feed(of symbol: String) -> SymbolFeed {
        if let chosen = self.chosen.withLockedValue({ $0[symbol] }) { return chosen }
        return self.usual == .venue && Venue(of: symbol).map(self.venues.contains) == true ? .venue : .finnhub
    }

    /// Notes the feed that a text names.
    func choose(_ symbol: ChosenSymbol) {
        if let feed = symbol.feed { self.choose(symbol.name, from: feed) }
    }

    func choose(_ symbol: String, from feed: SymbolFeed) {
        self.chosen.withLockedValue { if $0.count < Self.limit { $0[symbol] = feed } }
    }
}

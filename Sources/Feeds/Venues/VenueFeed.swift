package import Ingest
package import Logging
package import Market
package import NIOCore
package import Wire

/// A venue's own service as a feed: the connection of a ``VenueClient``, opened again after each end.
///
/// It asks for the venue's list of symbols first, and connects when there is a symbol to subscribe to. Belongs to the
/// tape's event loop.
package final class VenueFeed: ClientFeed<VenueClient> {
    private enum Names {
        case unasked
        /// The list was requested; until the limit no connection is opened.
        case awaited(Scheduled<Void>)
        /// The limit has passed, or the list has come or cannot be had.
        case ready
    }

    /// The time between two requests for a list that lacks a wanted symbol.
    private static let namesInterval = TimeAmount.hours(1)
    /// The time from each failure of a request in a row to the next request, min. Where the venue may ban this address,
    /// it is the longest at once.
    private static let namesRetries: [Int64] = [1, 2, 4, 8, 15]

    private let namesLimit: TimeAmount
    private let connector: any Connecting
    private let source: (any VenueNameSource)?
    private let backfill: VenueBackfill?
    private var names = Names.unasked
    private var isAskingForNames = false
    private var namesFailures = 0
    private var namesTimer: Scheduled<Void>?
    /// Why the names could not be checked.
    private var namesProblem: String?
    private var isStarted = false
    private var isStopping = false
    private var isLinkStarted = false
    /// Continues the attempts to connect, while no symbol needs a connection.
    private var heldRetry: (() -> Void)?
    private let days: VenueDays?
    /// The owner of the second connection, if the venue needs one.
    private var rotation: RotationController?

    /// - Parameters:
    ///   - connector: the way to the venue.
    ///   - names: the venue's list of symbols; `nil` leaves the names unchecked.
    ///   - service: the venue's REST service for its figures of the last 24 hours; `nil` for none.
    ///   - trades: the venue's earlier trades; `nil` leaves missing ones missing, as in every replay.
    ///   - filler: requests such trades for another feed, too; `nil` if there is none.
    package init(
        _ settings: VenueSettings,
        _ tape: TapeWriter,
        connector: any Connecting,
        names: (any VenueNameSource)?,
        service: VenueService? = nil,
        trades: (any VenueTradesSource)? = nil,
        filler: GapFiller? = nil,
        _ context: FeedContext
    ) {
        self.namesLimit = settings.namesLimit
        self.connector = connector
        self.source = names
        var keeping = ReconnectingConnection.Settings(connector: connector, backoff: settings.backoff)
        keeping.holding = settings.holding
        let client = VenueClient(settings, tape, context)
        // A replay is not of the last 24 hours.
        let live = client.settings.isLive ? service : nil
        self.days = live.map { service in
            VenueDays(
                service,
                on: context.loop,
                wallClock: context.wallClock,
                symbols: { client.listedSymbols },
                take: { day in
                    if client.settings.isAllowed { client.input.dayArrived(day) }
                }
            )
        }
        let asks = settings.client.isLive && settings.backfill
        self.backfill = trades.flatMap { source in
            guard asks else { return nil }
            return VenueBackfill(
                settings.venue,
                source: source,
                holding: settings.serviceHolding,
                preferred: client.input.symbols.first,
                input: filler.map { SharedBackfillInput(client.input, $0.input, of: settings.venue) } ?? client.input,
                context,
                isAllowed: { client.settings.isAllowed }
            )
        }
        if let backfill { filler?.add(backfill, of: settings.venue) }
        super.init(client, keeping, context)
        client.backfill = self.backfill
        self.backfill?.delegate = self
        self.link.delegate = self
        guard let rotation = settings.rotation, settings.client.isLive else { return }
        self.rotation = RotationController(
            rotation,
            self.client,
            self.link,
            address: { [weak self] in self?.address ?? "" },
            tookOver: { [weak self] in self?.noteChanged() }
        )
    }

    /// The address of the connection that has just opened.
    private var address: String {
        "\((self.connector as? VenueConnector)?.address ?? self.client.settings.upstream)"
    }

    private var loop: any EventLoop { self.client.context.loop }

    // MARK: Feed

    package override func start() {
        self.client.publishChanges()
        self.client.followMarks(until: self.finished)
        self.isStarted = true
        self.advance()
    }

    package override func stop() {
        self.end()
        super.stop()
    }

    package override func abandon() {
        self.end()
        super.abandon()
    }

    private func end() {
        self.isStopping = true
        self.namesTimer?.cancel()
        if case .awaited(let limit) = self.names { limit.cancel() }
        self.heldRetry = nil
        self.days?.stop()
        self.rotation?.stop()
        self.backfill?.stop()
    }

    package override func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        super.subscriptionsChanged(changes)
        self.backfill?.symbolsChanged()
        // The list may be older than the symbol. It is loaded once an hour at most.
        if self.client.hasUnlisted, let source { self.askForNames(source) }
        self.advance()
    }

    package override func prefer(_ symbol: String?) {
        self.backfill?.prefer(symbol.map(self.client.venue.tapeName) ?? self.client.input.symbols.first)
    }

    package override func renew() -> ConnectionRenewal {
        // Without a symbol there is nothing to renew; the next one opens a connection.
        guard self.isStarted, !self.isStopping, !self.isLinkStarted || self.heldRetry != nil else {
            return self.rotation?.renew() ?? super.renew()
        }
        return .underWay
    }

    // MARK: Connection

    /// Opens the connection if a symbol needs it, and closes it if none does.
    private func advance() {
        guard self.isStarted, !self.isStopping else { return }
        guard !self.client.input.symbols.isEmpty else { return self.rest() }
        switch self.names {
        case .unasked:
            self.names = .ready
            guard let source else { break }
            let bound = NIOLoopBound(self, eventLoop: self.loop)
            self.names = .awaited(self.loop.scheduleTask(in: self.namesLimit) { bound.value.namesAreLate() })
            self.client.report(.connecting, reason: "asking \(self.client.venue.name) for its list of symbols")
            // The answer may come within the call.
            return self.askForNames(source)
        case .awaited: return
        case .ready: break
        }
        guard self.client.hasRequestable else { return self.rest() }
        if !self.isLinkStarted {
            self.isLinkStarted = true
            self.link.start()
        } else if let retry = self.heldRetry {
            self.heldRetry = nil
            retry()
        }
    }

    /// Ends the connection, because no symbol needs it, and reports that.
    private func rest() {
        if let connection = self.link.connection {
            // A replay goes on without symbols, so that it comes to its end.
            if self.client.settings.isLive {
                self.rotation?.connectionUnwanted()
                connection.close()
            }
            return
        }
        guard !self.isLinkStarted || self.heldRetry != nil else { return }
        if self.client.input.symbols.isEmpty {
            self.client.report(
                .waiting,
                reason: "no symbol of \(self.client.venue.name) is wanted: nothing is connected"
            )
        } else {
            self.client.report(.noSuchSymbol, reason: self.client.wordsForNoSymbol)
        }
    }

    // MARK: Names

    private func askForNames(_ source: any VenueNameSource) {
        guard !self.isAskingForNames else { return }
        self.isAskingForNames = true
        source.names(on: self.loop) { [weak self] in self?.take($0) }
    }

    private func take(_ result: Result<VenueNames, ServiceFailure>) {
        self.isAskingForNames = false
        guard !self.isStopping else { return }
        if case .awaited(let limit) = self.names { limit.cancel() }
        self.names = .ready
        switch result {
        case .success(let names):
            self.namesProblem = nil
            self.namesFailures = 0
            self.client.namesArrived(names, now: self.client.now)
            self.askAgain(in: Self.namesInterval)
        case .failure(let failure):
            self.namesProblem = "the symbols' names could not be checked: \(failure)"
            let retries = Self.namesRetries
            let place = failure.mayBan ? retries.count - 1 : min(self.namesFailures, retries.count - 1)
            self.namesFailures += 1
            self.askAgain(in: .minutes(retries[place]))
        }
        self.noteChanged()
        self.advance()
    }

    private func namesAreLate() {
        guard case .awaited = self.names else { return }
        self.names = .ready
        self.namesProblem = "the symbols' names are not checked yet: \(self.client.venue.name)'s list has not come"
        self.noteChanged()
        self.advance()
    }

    /// Asks for the list again later, if it has not come or lacks a wanted symbol.
    private func askAgain(in time: TimeAmount) {
        self.namesTimer?.cancel()
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.namesTimer = self.loop.scheduleTask(in: time) {
            let feed = bound.value
            guard !feed.isStopping, let source = feed.source else { return }
            if feed.namesProblem != nil || feed.client.hasUnlisted {
                feed.askForNames(source)
            } else {
                feed.askAgain(in: Self.namesInterval)
            }
        }
    }

    private func noteChanged() {
        let detour = (self.connector as? VenueConnector)?.detour
        let notes = [detour, self.namesProblem, self.backfill?.problem].compactMap(\.self)
        self.client.noteChanged(notes.isEmpty ? nil : notes.joined(separator: "; "))
    }
}

extension VenueFeed: ReconnectingConnectionDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        self.noteChanged()
        self.backfill?.connectionOpened()
        let connection = try self.client.connectionOpened(
            channel,
            address: self.address,
            isRelayed: isRelay,
            link: self.link
        )
        if !self.client.hasRequestable { connection.close() }
        self.days?.start()
        return connection
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        // What the list met is likely to be met by the first attempt, which may take some seconds to find out.
        let reason = phase == .connecting ? reason ?? self.namesProblem : reason
        self.client.connectionReported(phase, reason: reason, cause: cause)
    }

    package func connectionLost(_ failure: UpstreamFailure, retry: @escaping (UpstreamFailure) -> Void) {
        guard !self.client.hasRequestable, !self.isStopping, failure.disposition != .ended else {
            return retry(failure)
        }
        self.heldRetry = { retry(failure) }
        self.rest()
    }
}

extension VenueFeed: VenueBackfillDelegate {
    func backfillProblemChanged() { self.noteChanged() }
}

extension VenueFeed {
    /// Creates the feed of a venue, which has not started.
    ///
    /// - Parameters:
    ///   - tape: takes the trades; the feed belongs to its loop.
    ///   - filler: requests missing trades for another feed, too; `nil` if there is none.
    ///   - wallClock: ns since 1970.
    ///   - chance: uniformly distributed from 0 to 1, for the jitter.
    package static func make(
        _ settings: VenueSettings,
        into tape: NIOLoopBound<TapeWriter>,
        filler: NIOLoopBound<GapFiller>? = nil,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) async throws -> FeedService {
        let ways = settings.addresses.map { address in
            var connector = settings.client.connector(to: address)
            connector.venue = settings.venue
            // Most feeds of a program have no symbol at the start, and need no certificates then.
            let way = UpstreamConnector(readingLater: connector, sockets: SocketPathConnector(), wallClock: wallClock)
            return VenueConnector.Way(address, GuardedConnector.way(way, settings.client.permission))
        }
        let connector = VenueConnector(ways)
        let services = settings.services
        let service =
            services.isEmpty ? nil : VenueService(settings.venue, services, on: loop, wallClock: wallClock)
        let names = service.map { VenueCatalogue($0, wallClock: wallClock) }
        return try await loop.submit {
            let trades = settings.tradesSource(on: loop, wallClock: wallClock)
            let context = FeedContext(loop: loop, wallClock: wallClock, chance: chance, logger: logger)
            let feed = VenueFeed(
                settings,
                tape.value,
                connector: connector,
                names: names,
                service: service,
                trades: trades,
                filler: filler?.value,
                context
            )
            return FeedService(feed, on: loop)
        }.get()
    }
}

import Feeds
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import NIOPosix
import Relay
import TLS

/// What the parts of a ticker share: its loops, its tape and the feed that writes it, measurements and warnings.
struct TickerBase: Sendable {
    let warnings: Warnings
    /// The storage of the key's lock and attempts; `nil` in a replay, which needs no key and stores no state.
    let key: KeyStorage?
    let manager: ServiceManager
    let instruments: Instruments
    /// The loggers of the parts.
    let log: ProgramLog
    let certificate: RelayTLS?
    /// The headlines and symbols, for the screen and for the relay.
    let lookup: SharedLookup
    /// The place where the relay listens; `nil` without a relay.
    let place: RelayPlace?
    let loops: MultiThreadedEventLoopGroup
    /// The loop of the feed, and the relay's, which may be the same.
    let loop: any EventLoop
    let relayLoop: any EventLoop
    let epoch: UInt64
    /// The feed's status at the start.
    let status: FeedStatus
    /// The tape, which has no readers yet.
    let tape: NIOLoopBound<TapeWriter>
    /// The feeds, not started yet.
    let feed: FeedGroup
    let subscriptions: Subscriptions
    /// The connection to the other members of a cluster; `nil` for a program that is in none.
    let cluster: ClusterConnection?
    /// What it does for edges; `nil` unless it is an ingest.
    let ingest: ClusterIngest?

    /// Checks the settings before it opens anything, takes the inherited socket, and makes the parts.
    ///
    /// - Parameter isFirst: whether the settings' warnings are still to be printed.
    init(_ program: TickerProgram, isFirst: Bool = true) async throws {
        let settings = program.settings
        try program.feed.checkTrust(settings)
        for warning in try settings.checkRelay() where isFirst { Console.printError("warning: \(warning)") }
        self.warnings = Warnings { settings.log.levels[$0] }
        self.key = program.played == nil ? Self.keyStorage(program, self.warnings) : nil
        self.manager = ServiceManager()
        let inherited = try InheritedSocket.take()
        self.instruments = Instruments(source: program.feed.source)
        self.log = ProgramLog(settings, format: DisplayService.format(settings))
        self.certificate = try settings.relayTLS(instruments: self.instruments, logger: self.log.logger(.tls))
        // A replay can follow the symbols of its material only.
        let symbols = program.played.map { played in
            ServiceDirectory.SymbolSource.recording(symbols: Set(played.symbols).sorted(), name: played.name)
        }
        self.lookup = SharedLookup { () throws(OperatorError) in try ServiceLookup(settings, symbols: symbols) }
        self.place = RelayPlace(settings, inherited: inherited, isEncrypted: self.certificate != nil)
        if self.place == nil { self.key?.announceNoRelay() }

        self.loops = MultiThreadedEventLoopGroup(numberOfThreads: program.relaySharesLoop ? 1 : 2)
        let loop = self.loops.next()
        self.loop = loop
        self.relayLoop = self.loops.next()
        let epoch = UInt64(WallClock.now() / 1_000_000)
        self.epoch = epoch
        self.status = FeedStatus(
            source: program.feed.source,
            phase: .connecting,
            since: WallClock.now(),
            certificateChecked: program.feed.certificateIsChecked
        )
        self.tape = try await loop.submit { NIOLoopBound(TapeWriter(epoch: epoch), eventLoop: loop) }.get()
        let isMember = settings.cluster.role != .alone && program.played == nil
        self.cluster =
            isMember
            ? try await ClusterConnection(
                settings,
                on: loop,
                state: self.instruments.cluster,
                logger: self.log.logger(.feed)
            ) : nil
        let (tape, key, instruments, warnings) = (self.tape, self.key, self.instruments, self.warnings)
        let logger = self.log.logger(.feed)
        let makeFeeds: @Sendable (NIOLoopBound<any UpstreamPermission>?) async throws -> MadeFeeds = { permission in
            try await Self.makeFeeds(
                program,
                permission: permission,
                into: tape,
                on: loop,
                key: key,
                instruments: instruments,
                logger: logger,
                warnings: warnings
            )
        }
        var standby: NIOLoopBound<StandbyFeed>?
        var (feeds, finnhub, filler): MadeFeeds = ([], program.feed.finnhub, nil)
        if let cluster = self.cluster, let edge = program.feed.edge {
            feeds = [try await cluster.makeEdge(edge, into: tape, logger: logger)]
        } else if let cluster = self.cluster, let edge = program.feed.standby {
            let made = try await cluster.makeStandby(
                edge,
                leases: program.feed.leases,
                symbols: program.feed.shares.map(\.retained),
                into: tape,
                logger: logger
            ) { try await makeFeeds($0).feeds }
            standby = made
            feeds = [try await loop.submit { FeedService(made.value, on: loop) }.get()]
        } else {
            (feeds, finnhub, filler) = try await makeFeeds(nil)
        }
        let shares = program.feed.shares.count
        self.feed = FeedGroup(
            feeds,
            shares: try await loop.submit { [standby] in
                standby.map { standby in (0..<shares).map { standby.value.share($0) } } ?? []
            }.get(),
            finnhub: finnhub,
            audit: try await Self.makeAudit(
                program,
                filler: filler,
                on: loop,
                warnings: self.warnings,
                logger: self.log.logger(.audit)
            )
        )
        if let audit = self.feed.audit { self.instruments.latency.follow(audit.tapeAudit) }
        self.subscriptions = Subscriptions(program.feed.shares, order: program.feed.symbols, loop: loop) {
            [feed = program.feed] in
            feed.hint(of: $0)
        }
        if let standby {
            self.ingest = try await self.cluster?.makeIngest(
                settings.cluster,
                of: standby,
                subscriptions: self.subscriptions,
                status: self.status
            )
        } else {
            self.ingest = nil
        }
    }

    /// The feeds in the order of their shares, the settings of Finnhub's, and what fills its gaps; `nil` if they stay.
    private typealias MadeFeeds = (feeds: [FeedService], finnhub: FinnhubSettings?, filler: NIOLoopBound<GapFiller>?)

    /// Returns the storage of a key; `nil` for a program without Finnhub's feed. Blocks on the disk.
    ///
    /// - Parameter key: `nil` for the key at the start.
    static func keyStorage(_ program: TickerProgram, _ warnings: Warnings, key: Secret? = nil) -> KeyStorage? {
        guard let finnhub = program.feed.finnhub else { return nil }
        let identity = KeyIdentity(key: key ?? finnhub.key, upstream: finnhub.upstream)
        return KeyStorage(program.settings.state, identity: identity, warnings: warnings)
    }

    /// Makes the comparison of Finnhub's trades with those of the venues; `nil` if it is not wanted.
    ///
    /// - Parameter filler: fills Finnhub's gaps; `nil` if they stay.
    private static func makeAudit(
        _ program: TickerProgram,
        filler: NIOLoopBound<GapFiller>?,
        on loop: any EventLoop,
        warnings: Warnings,
        logger: Logger
    ) async throws -> FinnhubAudit? {
        guard program.feed.finnhub != nil, !program.feed.audited.isEmpty else { return nil }
        var venues = program.feed.audited
        for index in venues.indices {
            // Another feed of the same venue keeps the counts, and the venue's limit of requests suffices for one.
            guard !program.feed.venues.contains(where: { $0.venue == venues[index].venue }) else {
                venues[index].backfill = false
                continue
            }
            if venues[index].backfill, let service = venues[index].service {
                venues[index].serviceHolding =
                    KeyStorage(
                        program.settings.state,
                        identity: KeyIdentity(restOf: venues[index].venue, at: service),
                        isShared: false,
                        warnings: warnings
                    ).holding
            }
            venues[index].holding =
                KeyStorage(
                    program.settings.state,
                    identity: KeyIdentity(venues[index].venue, at: venues[index].upstream),
                    isShared: false,
                    warnings: warnings
                ).holding
        }
        return try await FinnhubAudit.make(venues, filler: filler, on: loop, logger: logger)
    }

    /// Makes the feeds that connect to services. Only this function names the services that trades come from.
    private static func makeFeeds(
        _ program: TickerProgram,
        permission: NIOLoopBound<any UpstreamPermission>?,
        into tape: NIOLoopBound<TapeWriter>,
        on loop: any EventLoop,
        key: KeyStorage?,
        instruments: Instruments,
        logger: Logger,
        warnings: Warnings
    ) async throws -> MadeFeeds {
        let handshakeEnded: @Sendable (UpstreamHandshake) -> Void = { handshake in
            switch handshake {
            case .completed(let session, let nanoseconds):
                instruments.handshakes.completed(session, nanoseconds: nanoseconds)
            case .failed: instruments.handshakes.failed()
            }
        }
        var feeds: [FeedService] = []
        var filler: NIOLoopBound<GapFiller>?
        var finnhub = program.feed.finnhub
        if let key { finnhub?.holding = key.holding }
        finnhub?.handshakeEnded = handshakeEnded
        finnhub?.permission = permission
        if let finnhub {
            feeds.append(
                try await FinnhubFeed.make(finnhub, into: tape, loop: loop, logger: logger, wallClock: WallClock.now)
            )
            if program.feed.fillsFinnhub {
                filler = try await loop.submit {
                    tape.value.inputWithoutIDs.map { NIOLoopBound(GapFiller($0), eventLoop: loop) }
                }.get()
            }
        }
        let holding = { (identity: KeyIdentity) in
            KeyStorage(program.settings.state, identity: identity, isShared: false, warnings: warnings).holding
        }
        for var settings in program.feed.venues {
            if program.played == nil {
                settings.holding = holding(KeyIdentity(settings.venue, at: settings.upstream))
                if settings.backfill, let service = settings.service {
                    settings.serviceHolding = holding(KeyIdentity(restOf: settings.venue, at: service))
                }
            }
            settings.handshakeEnded = handshakeEnded
            settings.permission = permission
            feeds.append(
                try await VenueFeed.make(
                    settings,
                    into: tape,
                    filler: filler,
                    loop: loop,
                    logger: logger,
                    wallClock: WallClock.now
                )
            )
        }
        return (feeds, finnhub, filler)
    }
}

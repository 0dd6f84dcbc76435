import Feeds
import Wire
import Market
import MockUpstream
import NIOCore
import NIOPosix
import TLS

/// The whole program on a replay: a mock server on loopback, and the same components as for a live feed.
struct ReplayProgram {
    let settings: Settings
    /// The settings as they were loaded; `nil` for a replay that does not load them again.
    var reloadable: ReloadableSettings?
    let material: ReplayMaterial
    /// The settings of the mock server.
    let mockServer: MockServerSettings
    let source: FeedStatus.Source
    /// A remark for people that belongs to every status of the feed.
    var note: String?
    /// Whether the replay starts with the relay's first subscribed client.
    var waitsForClient = false
    /// The way from a demo to the live market.
    var liveStart: LiveStart?

    /// Plays the material to its end, or until the program is stopped.
    func run() async throws {
        let authority = try CertificateAuthority(name: "tickertape replay")
        let (settings, feeds) = self.plan(trusting: authority)
        var plan = feeds
        var mockServerSettings = self.mockServer
        mockServerSettings.credentials = try authority.issue(for: "127.0.0.1")
        // The display's keys and the relay's clients control one clock.
        mockServerSettings.sharesClock = true
        mockServerSettings.marks = plan.makeMarks()
        // The player waits until the relay and the display are ready.
        mockServerSettings.waitsForGo = true
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let mockServer = try await MockServer.start(
            self.material,
            settings: mockServerSettings,
            on: group.next(),
            logger: ProgramLog.silent,
            wallClock: WallClock.now
        )
        let file: RecordingFile? = if case .recording(let file) = self.material { file } else { nil }
        // After the replay all damage is known, and no screen is left for the lines to disturb.
        defer { if let file { RecordedDamage.printError(of: file) } }
        plan.connect(to: mockServer.address?.port ?? 0)
        let program = TickerProgram(
            settings: settings,
            reloadable: self.reloadable,
            feed: plan,
            replay: PlayedMaterial(self.material, mockServer: mockServer, waitsForClient: self.waitsForClient),
            liveStart: self.liveStart
        )
        do {
            try await program.run()
        } catch {
            await mockServer.stop()
            throw error
        }
        await group.end()
        if let failure = file?.damage.failure { throw OperatorError(failure, status: .failure) }
    }

    /// Returns the feeds, which connect to the mock server: one for each service that the symbols' trades came from.
    /// The settings have the symbols of the feeds.
    private func plan(trusting authority: CertificateAuthority) -> (settings: Settings, feeds: FeedPlan) {
        let isRecording = if case .recording = self.material { true } else { false }
        let isChosen = isRecording && self.settings.origin(of: .symbols) != .builtIn
        let limit = self.settings.finnhub.subscriptions.limit
        let symbols = isChosen ? self.settings.symbolNames : self.material.symbols(ofFinnhub: limit)
        let (all, count) = (self.material.symbols.count, symbols.count)
        if !isChosen, count < all {
            Console.printError(
                "warning: only \(count) of \(all) symbols are played, for upstream.max-symbols is \(limit)"
            )
        }
        let connections = self.material.connections(for: symbols)
        func adapt(_ client: inout ClientSettings, path: String, symbols: [String]) {
            client.symbols = symbols
            client.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: 443, path: path)
            client.dial = self.settings.dial
            client.dial.tls = TLSClientConfiguration()
            client.dial.tls.trust = .certificates(pem: authority.certificatePEM)
            client.source = self.source
            client.note = self.note
            // A paused replay answers no ping in time, and may stay silent without limit.
            client.webSocket.pingInterval = nil
            client.connection.silentAfter = nil
            client.connection.heartbeatSilentAfter = nil
            // The replay starts after all subscriptions. The mock server has no limit on their rate.
            client.watch.subscribeInterval = 0
        }
        var venues: [VenueSettings] = []
        for venue in Venue.allCases {
            guard let own = connections[venue.dialect] else { continue }
            var feed = VenueSettings(venue, symbols: [])
            adapt(&feed.client, path: venue.upstream.path, symbols: own)
            feed.service = nil
            feed.serviceFallback = nil
            feed.fallback = nil
            feed.backoff = ReconnectBackoff.Settings()
            feed.subscriptions.linger = self.settings.finnhub.subscriptions.linger
            venues.append(feed)
        }
        var finnhub: FinnhubSettings?
        if venues.isEmpty || connections[.finnhub] != nil {
            var feed = FinnhubSettings(key: Secret("replay"), options: self.settings.finnhub)
            adapt(&feed.client, path: UpstreamAddress.finnhub.path, symbols: connections[.finnhub] ?? [])
            finnhub = feed
        }
        let played = Set(connections.values.joined())
        for symbol in symbols where !played.contains(symbol) {
            Console.printError(
                "warning: \(SymbolName.word(symbol)) is not played: no message of it was found where the recording was "
                    + "searched, at its beginning and in samples of it"
            )
        }
        var settings = self.settings
        if !isChosen { settings.finnhub.symbols = symbols }
        return (settings, FeedPlan(finnhub, venues: venues, symbols: symbols))
    }
}

extension FeedPlan {
    /// Gives each feed marks of a replay, and returns them by the dialects of the feeds' connections.
    fileprivate mutating func makeMarks() -> [FrameDialect: FrameMarks] {
        let isOnly = self.venues.count + (self.finnhub == nil ? 0 : 1) == 1
        let turns = isOnly ? nil : FrameTurns()
        var marks: [FrameDialect: FrameMarks] = [:]
        if let finnhub { marks[finnhub.dialect] = FrameMarks(turns: turns) }
        self.finnhub?.marks = marks[.finnhub]
        for index in self.venues.indices {
            let own = FrameMarks(turns: turns)
            marks[self.venues[index].venue.dialect] = own
            self.venues[index].marks = own
        }
        return marks
    }

    /// Lets each feed connect to a port.
    fileprivate mutating func connect(to port: Int) {
        self.finnhub?.upstream.port = port
        for index in self.venues.indices { self.venues[index].upstream.port = port }
    }
}

extension CertificateAuthority {
    /// Issues a certificate for a mock server on `host`: for that host, this machine's names, and Finnhub's own name,
    /// since tests redirect that name here.
    func issue(for host: String) throws(TLSError) -> TLSCredentials {
        let isAddress = UpstreamAddress(isEncrypted: true, host: host, port: 443).isIPAddress
        var names = ["localhost", "ws.finnhub.io"]
        var addresses = ["127.0.0.1", "::1"]
        if isAddress, !addresses.contains(host) { addresses.append(host) }
        if !isAddress, !names.contains(host) { names.append(host) }
        return try self.issue(names: names, addresses: addresses)
    }
}

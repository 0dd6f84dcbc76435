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
        let marks = FrameMarks()
        var mockServerSettings = self.mockServer
        mockServerSettings.credentials = try authority.issue(for: "127.0.0.1")
        // The display's keys and the relay's clients control one clock.
        mockServerSettings.sharesClock = true
        mockServerSettings.marks = marks
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
        let settings = self.settings.following(self.material)
        let plan = self.plan(settings, port: mockServer.address?.port ?? 0, trusting: authority, marks: marks)
        guard plan.feedCount == 1 else {
            await mockServer.stop()
            await group.end()
            throw OperatorError(
                "the recording holds symbols of several services, which cannot be replayed together yet: choose those of "
                    + "one with --symbol, or keep one with `tickertape recording cut --dialect NAME FILE NEW-FILE`",
                status: .failure
            )
        }
        let program = TickerProgram(
            settings: settings,
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

    /// Returns the feeds, which connect to the mock server: one for each service that the material came from.
    private func plan(
        _ settings: Settings,
        port: Int,
        trusting authority: CertificateAuthority,
        marks: FrameMarks
    ) -> FeedPlan {
        func adapt(_ client: inout ClientSettings, path: String) {
            client.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: port, path: path)
            client.dial = settings.dial
            client.dial.tls = TLSClientConfiguration()
            client.dial.tls.trust = .certificates(pem: authority.certificatePEM)
            client.source = self.source
            client.note = self.note
            client.marks = marks
            // A paused replay answers no ping in time, and may stay silent without limit.
            client.webSocket.pingInterval = nil
            client.connection.silentAfter = nil
            client.connection.heartbeatSilentAfter = nil
            // The replay starts after all subscriptions. The mock server has no limit on their rate.
            client.watch.subscribeInterval = 0
        }
        let dialects = self.material.dialects
        var venues: [VenueSettings] = []
        for venue in Venue.allCases where dialects.contains(venue.dialect) {
            var feed = VenueSettings(venue, symbols: [])
            adapt(&feed.client, path: venue.upstream.path)
            feed.service = nil
            feed.serviceFallback = nil
            feed.fallback = nil
            feed.backoff = ReconnectBackoff.Settings()
            feed.subscriptions = settings.finnhub.subscriptions
            venues.append(feed)
        }
        var finnhub: FinnhubSettings?
        if venues.isEmpty || dialects.contains(.finnhub) {
            var feed = FinnhubSettings(key: Secret("replay"), options: settings.finnhub)
            adapt(&feed.client, path: UpstreamAddress.finnhub.path)
            finnhub = feed
        }
        return FeedPlan(finnhub, venues: venues, symbols: settings.symbolNames)
    }
}

extension Settings {
    /// Returns these settings with the symbols of the material, up to the limit of one connection. A user's choice of
    /// symbols in a recording stays.
    fileprivate func following(_ material: ReplayMaterial) -> Settings {
        let symbols: [String]
        switch material {
        case .recording(let file):
            guard self.origin(of: .symbols) == .builtIn else { return self }
            symbols = file.symbols
        case .market(let run): symbols = run.market.symbols.map(\.name)
        }
        let limit = self.finnhub.subscriptions.limit
        if symbols.count > limit {
            Console.printError(
                "warning: only \(limit) of \(symbols.count) symbols are played, for upstream.max-symbols is \(limit)"
            )
        }
        var settings = self
        settings.finnhub.symbols = Array(symbols.prefix(limit))
        return settings
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

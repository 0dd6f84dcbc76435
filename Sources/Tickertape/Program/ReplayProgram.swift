import Feeds
import Wire
import Market
import MockUpstream
import NIOCore
import NIOPosix
import TLS

/// The whole program on a replay: a stand-in Finnhub on loopback, and everything behind it as if it were live.
struct ReplayProgram {
    let settings: Settings
    let material: ReplayMaterial
    /// How the material is played.
    let mockServer: MockServerSettings
    let source: FeedStatus.Source
    /// Whether it begins with the relay's first subscribed client.
    var waitsForClient = false

    /// Plays the material to its end, or until the program is stopped.
    func run() async throws {
        let authority = try CertificateAuthority(name: "tickertape replay")
        let marks = FrameMarks()
        var mockServerSettings = self.mockServer
        mockServerSettings.credentials = try authority.issue(for: "127.0.0.1")
        // One clock, which the display's keys and the relay's clients command.
        mockServerSettings.sharesClock = true
        mockServerSettings.marks = marks
        // Nothing is played before the relay and the display are there to see it.
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
        // At the end, when all is known, and there is no picture which a line would tear.
        defer { if let file { RecordedDamage.complain(of: file) } }
        let settings = self.settings.following(self.material)
        let program = TickerProgram(
            settings: settings,
            feed: self.feed(settings, port: mockServer.address?.port ?? 0, trusting: authority, marks: marks),
            replay: PlayedMaterial(self.material, mockServer: mockServer, waitsForClient: self.waitsForClient)
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

    /// The feed, which connects to the stand-in.
    private func feed(
        _ settings: Settings,
        port: Int,
        trusting authority: CertificateAuthority,
        marks: FrameMarks
    ) -> FinnhubSettings {
        var feed = FinnhubSettings(key: Secret("replay"), options: settings.finnhub, dial: settings.dial)
        feed.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: port)
        feed.dial.tls = TLSClientConfiguration()
        feed.dial.tls.trust = .certificates(pem: authority.certificatePEM)
        feed.source = self.source
        feed.marks = marks
        // A replay that is held back answers no ping in time, and may be silent for as long as it likes.
        feed.webSocket.pingInterval = nil
        feed.session.silentAfter = nil
        // Nothing is played before everything is asked for, and the stand-in does not mind the haste.
        feed.watch.subscribeInterval = 0
        return feed
    }
}

extension Settings {
    /// The same with the symbols of what is played, unless a person has chosen others: as many as may be asked for.
    fileprivate func following(_ material: ReplayMaterial) -> Settings {
        let symbols: [String]
        switch material {
        case .recording(let file):
            guard self.origin(of: .symbols) == .builtIn else { return self }
            symbols = file.symbols
        case .market(let run): symbols = run.market.symbols.map(\.name)
        }
        let limit = self.finnhub.watch.symbolLimit
        if symbols.count > limit {
            Console.complain(
                "warning: only \(limit) of \(symbols.count) symbols are played, for upstream.max-symbols is \(limit)"
            )
        }
        var settings = self
        settings.finnhub.symbols = Array(symbols.prefix(limit))
        return settings
    }
}

extension CertificateAuthority {
    /// A certificate for a stand-in that listens on `host`: for that host, this machine's names, and Finnhub's own name, for
    /// tests that lead it here.
    func issue(for host: String) throws(TLSError) -> TLSCredentials {
        let isAddress = UpstreamAddress(isEncrypted: true, host: host, port: 443).isIPAddress
        var names = ["localhost", "ws.finnhub.io"]
        var addresses = ["127.0.0.1", "::1"]
        if isAddress, !addresses.contains(host) { addresses.append(host) }
        if !isAddress, !names.contains(host) { names.append(host) }
        return try self.issue(names: names, addresses: addresses)
    }
}

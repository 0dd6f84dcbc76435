import Feeds
import Ingest
import Market
import MockUpstream
import NIOCore
import NIOPosix
import TLS

/// A replay inside the program: a stand-in Finnhub on loopback, and the whole program behind it as if it were live.
struct InnerReplay {
    var settings: Settings
    var material: ReplayMaterial
    /// How many times the recording's pace; `nil` is as fast as the slowest lossless reader takes it.
    var speed: Double?
    var source: FeedStatus.Source
    /// Whether it begins anew at the end, with times of now; for the demo.
    var repeats = false
    var waitsForClient = false
    var part = ReplayPart()
    var isPaused = false
    /// Whether connections break where something is missing, and are made again.
    var hasBreaks = false

    func run() async throws {
        let file: RecordingFile? = if case .recording(let file) = self.material { file } else { nil }
        let authority = try CertificateAuthority(name: "tickertape replay")
        var standInSettings = StandInSettings()
        standInSettings.speed = self.speed
        standInSettings.credentials = try authority.issue(for: "127.0.0.1")
        standInSettings.repeats = self.repeats
        standInSettings.rebasesTimes = self.repeats
        standInSettings.replay.machine.isPaused = self.isPaused
        if let file { try self.part.apply(to: &standInSettings.replay, recording: file) }
        standInSettings.replay.hasBreaks = self.hasBreaks
        // One clock, which the display's keys and the relay's clients command.
        standInSettings.sharesClock = true
        standInSettings.marks = FrameMarks()
        // Nothing is played before the relay and the display are there to see it.
        standInSettings.waitsForGo = true
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let standIn = try await StandIn.start(
            self.material,
            settings: standInSettings,
            on: group.next(),
            logger: ProgramLog.silent,
            wallClock: WallClock.now
        )
        var settings = self.settings
        if let file, settings.origin(of: .symbols) == .builtIn {
            settings.finnhub.symbols = Self.first(file.symbols, settings)
        }
        var feed = FinnhubSettings(key: APIKey("replay"), options: settings.finnhub, dial: settings.dial)
        feed.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: standIn.address?.port ?? 0)
        feed.dial.tls = TLSClientConfiguration()
        feed.dial.tls.trust = .certificates(pem: authority.certificatePEM)
        feed.source = self.source
        feed.marks = standInSettings.marks
        // A replay that is held back answers no ping in time, and may be silent for as long as it likes.
        feed.webSocket.pingInterval = nil
        feed.session.silentAfter = nil
        // Nothing is played before everything is asked for, and the stand-in does not mind the haste.
        feed.watch.subscribeInterval = 0
        // At the end, when all is known, and there is no picture which a line would tear.
        defer { if let file { Self.tell(file) } }
        var program = TickerProgram(settings: settings, feed: feed)
        program.standIn = standIn
        program.replay = standIn.remote
        program.waitsForClient = self.waitsForClient
        program.recordedSymbols = file?.symbols
        program.allRecordedSymbols = file?.allSymbols
        if case .market(let run) = self.material {
            let names = run.market.symbols.map(\.name)
            program.recordedSymbols = names
            program.allRecordedSymbols = Set(names)
            program.material = "the simulated market"
        }
        do {
            try await program.run()
        } catch {
            await standIn.stop()
            throw error
        }
        await group.end()
    }

    /// As many symbols as may be asked for; that others are left out is said.
    static func first(_ symbols: [String], _ settings: Settings) -> [String] {
        let limit = settings.finnhub.watch.symbolLimit
        if symbols.count > limit {
            Console.complain(
                "warning: only \(limit) of \(symbols.count) symbols are played, for upstream.max-symbols is \(limit)"
            )
        }
        return Array(symbols.prefix(limit))
    }

    /// Says what of a recording could not be read.
    static func tell(_ file: RecordingFile) {
        for path in file.damage.cutOff {
            Console.complain(
                "warning: \(path) is cut off: what followed, if anything, is missing; `recording verify` says more"
            )
        }
        guard let summary = file.damage.summary else { return }
        let verb = file.damage.lines + file.damage.parts == 1 ? "is" : "are"
        Console.complain("warning: \(summary) of \(file.path) cannot be read and \(verb) left out")
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

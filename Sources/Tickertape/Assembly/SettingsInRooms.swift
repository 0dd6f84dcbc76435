import Feeds
import Market
import Measurements
import NIOCore
import Relay
import TLS
import Terminal

// What the settings mean in each room.

extension FinnhubSettings {
    init(_ settings: Settings, token: Secret) {
        self.init(key: APIKey(token.reveal()))
        let url = settings.upstream.url
        self.upstream = UpstreamAddress(
            isEncrypted: url.isEncrypted,
            host: url.host,
            port: url.port,
            path: url.path
        )
        self.symbols = settings.symbols
        self.tls = settings.tlsConfiguration
        self.dnsTimeout = settings.handshake.dns
        self.tcpTimeout = settings.handshake.tcp
        self.upgradeTimeout = settings.handshake.upgrade
        self.maximumMessageBytes = settings.upstream.maxMessage
        self.pingInterval = settings.upstream.pingInterval
        self.pongTimeout = settings.upstream.pongTimeout
        self.session.silentAfter = settings.upstream.silentAfter.nanoseconds
        self.dropsRepeats = settings.upstream.dropsRepeats
        self.watch = SymbolWatch.Settings(settings)
        self.ladder = ReconnectLadder.Settings(settings.reconnect)
        self.relayToken = settings.relay.token.map { APIKey($0.reveal()) }
    }
}

extension FinnhubSettings {
    /// The settings for the market itself, which may be behind a proxy.
    ///
    /// - Throws: ``OperatorError`` when the proxy is none that can be used.
    static func live(_ settings: Settings, token: Secret) throws(OperatorError) -> FinnhubSettings {
        var live = FinnhubSettings(settings, token: token)
        live.proxy = try settings.proxyServer(for: settings.upstream.url)
        return live
    }

    /// Finds out whether the trust roots and the revocation lists can be used, before anything is opened or made.
    ///
    /// - Throws: ``OperatorError`` with what to change.
    func checkTrust() throws(OperatorError) {
        guard self.upstream.isEncrypted else { return }
        do throws(TLSError) {
            _ = try TLSContext(client: self.tls)
        } catch {
            var withoutLists = self.tls
            withoutLists.revocationListFile = nil
            let isWellWithoutLists = (try? TLSContext(client: withoutLists)) != nil
            let setting = isWellWithoutLists ? "tls.crl-file" : "tls.ca-file, --ca-file"
            throw OperatorError("\(error) (\(setting))", status: .configuration)
        }
    }
}

extension ReconnectLadder.Settings {
    /// What `auto` means for a rejected key where nobody is there to see it.
    private static let serviceRetry: Int64 = 900_000_000_000

    init(_ reconnect: Settings.Backoff, isService: Bool = Surroundings.ofThisProcess.isService) {
        self.init()
        self.first = reconnect.min.nanoseconds
        self.limit = reconnect.max.nanoseconds
        self.floor = reconnect.atLeast.nanoseconds
        self.settled = reconnect.settled.nanoseconds
        self.rateLimited = reconnect.rateLimitedMin.nanoseconds
        self.rateLimitedLimit = reconnect.rateLimitedMax.nanoseconds
        self.brief = reconnect.brief.nanoseconds
        self.briefLimit = reconnect.briefLimit
        self.keyInUse = reconnect.keyInUse.nanoseconds
        switch reconnect.rejectedKey {
        case .auto: self.rejectedKey = isService ? Self.serviceRetry : nil
        case .stop: self.rejectedKey = nil
        case .retry(let wait): self.rejectedKey = wait.nanoseconds
        }
    }
}

extension RelaySettings {
    /// - Parameter listen: where to listen; `nil` for the socket file alone.
    init(_ settings: Settings, listen: Endpoint?) {
        self.init(host: listen?.host ?? "127.0.0.1", port: listen?.port ?? 0)
        self.listensOnTCP = listen != nil
        self.unixSocket = settings.relay.unixSocket
        self.token = settings.relay.token.map { ClientToken($0.reveal()) }
        self.hostNames = settings.relay.hostNames
        self.maximumClients = settings.relay.maxClients
        self.maximumClientsPerAddress = settings.relay.maxClientsPerAddress
        self.maximumPlainConnections = settings.relay.maxPlainConnections
        self.handshakeTimeout = settings.relay.handshakeTimeout
        self.maximumHeaderBytes = settings.relay.maxHeaders
        self.requestBurst = settings.relay.requestBurst
        self.requestsPerSecond = settings.relay.requestsPerSecond
        self.maximumWaitingBytes = settings.relay.maxWaiting
        self.maximumMessageBytes = settings.relay.maxMessage
        self.pingInterval = settings.relay.pingInterval
        self.pongTimeout = settings.relay.pongTimeout
        self.symbolLimit = settings.upstream.maxSymbols
        self.unsubscribeGrace = settings.relay.unsubscribeGrace
        self.pipeline = settings.pipeline
        self.allowedOrigins = settings.relay.allowedOrigins
        self.compression = settings.relay.compression.inRelay
        self.allowsReplayControl =
            switch settings.relay.replayControl {
            case .auto: listen?.isLoopback ?? true
            case .on: true
            case .off: false
            }
        self.version = tickertapeVersion
        self.freshness = FreshnessLimits(settings)
    }
}

extension FreshnessLimits {
    init(_ settings: Settings, seesAllTrades: Bool = true) {
        self.init(
            lateAfter: settings.feed.lateAfter.nanoseconds,
            staleAfter: settings.feed.staleAfter.nanoseconds
        )
        self.seesAllTrades = seesAllTrades
    }
}

extension StreamURL {
    /// The same for the feeds.
    var upstreamAddress: UpstreamAddress {
        if let socketPath { return UpstreamAddress(socketPath: socketPath, path: self.path) }
        return UpstreamAddress(isEncrypted: self.isEncrypted, host: self.host, port: self.port, path: self.path)
    }
}

extension Settings.Relay.Compression {
    fileprivate var inRelay: RelaySettings.Compression {
        switch self {
        case .auto: .auto
        case .on: .on
        case .off: .off
        }
    }
}

extension SymbolWatch.Settings {
    init(_ settings: Settings) {
        self.init()
        self.symbolLimit = settings.upstream.maxSymbols
        self.subscribeInterval = settings.upstream.subscribeInterval.nanoseconds
        self.lateAfter = settings.feed.lateAfter.nanoseconds
        self.staleAfter = settings.feed.staleAfter.nanoseconds
        self.staleFactor = settings.feed.staleFactor
        self.staleLimit = settings.feed.staleLimit.nanoseconds
        self.coolDown = settings.feed.coolDownMin.nanoseconds
        self.coolDownLimit = max(settings.feed.coolDownMin, settings.feed.coolDownMax).nanoseconds
        self.retryRefused = settings.feed.retryRefused.nanoseconds
        self.retryOverLimit = settings.feed.retryOverLimit.nanoseconds
        self.retryLimit = settings.feed.retryMax.nanoseconds
    }
}

extension RelayError {
    var isAddressTaken: Bool {
        switch self {
        case .addressInUse, .cannotListen, .socketInUse: true
        case .needsToken, .cannotMakeSocket, .alreadyStarted: false
        }
    }
}

extension Settings {
    /// The proxy through which an address is reached; `nil` for the direct way.
    func proxyServer(for url: StreamURL) throws(OperatorError) -> ProxyServer? {
        guard let proxy = try self.proxy(for: url)?.proxy else { return nil }
        let credentials = proxy.login.map {
            ProxyServer.Credentials(user: $0.user.reveal(), password: $0.password.reveal())
        }
        return ProxyServer(host: proxy.host, port: proxy.port, credentials: credentials)
    }

    /// Whether the person asked for a log, rather than getting the default one.
    var isVerbose: Bool { self.display.isQuiet || self.origin(of: .logLevel) != .builtIn }

    var tlsConfiguration: TLSClientConfiguration {
        var configuration = TLSClientConfiguration()
        if let file = self.tls.authorityFile { configuration.trust = .file(file) }
        configuration.verification = self.tls.verify ? .full : .disabled
        configuration.revocationListFile = self.tls.revocationListFile
        configuration.stapling =
            switch self.tls.stapling {
            case .off: .ignored
            case .stapled: .checked
            case .required: .required
            }
        configuration.pins = self.tls.pins
        configuration.ciphers = self.tls.ciphers
        configuration.handshakeTimeout = self.handshake.tls
        return configuration
    }
}

extension Settings.Display {
    /// The format asked for; `nil` leaves the choice to the output.
    var outputFormat: OutputFormat? {
        switch self.format {
        case .auto: nil
        case .tui: .tui
        case .plain: .plain
        case .json: .json
        case .csv: .csv
        case .oneline: .oneline
        case .waybar: .waybar
        }
    }
}

extension DisplaySettings {
    /// How the screen looks by the settings and the environment.
    ///
    /// - Throws: ``OperatorError`` where one mark would mean two things.
    init(_ settings: Settings.Display, environment: (String) -> String?) throws(OperatorError) {
        self.init(environment: environment)
        switch settings.colour {
        case .auto: break
        case .always:
            let known = Self.colours(environment)
            self.depth = known == .none ? .sixteen : known
        case .never: self.depth = .none
        case .sixteen: self.depth = .sixteen
        case .many: self.depth = .many
        case .full: self.depth = .full
        }
        self.theme = settings.theme
        self.hues = settings.palette
        self.look.numbers = NumberStyle(grouping: settings.grouping, decimal: settings.decimal)
        guard !self.look.numbers.isAmbiguous else {
            throw OperatorError(
                "display.grouping and display.decimal are both a \(settings.decimal.rawValue); choose another one",
                status: .configuration
            )
        }
        self.look.flashes = settings.flashes
        self.look.setsTitle = self.look.setsTitle && settings.setsTitle
        self.bytesPerSecond = settings.bytesPerSecond > 0 ? settings.bytesPerSecond : nil
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

extension RelayServer {
    /// Reads the number of clients.
    var counter: @Sendable () -> Int { { self.clientCount } }
}

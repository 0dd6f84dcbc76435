import Feeds
import Market
import Measurements
import NIOCore
import Relay
import TLS
import Terminal

// What the settings mean in each room.

extension RelayError {
    var isAddressTaken: Bool {
        switch self {
        case .addressInUse, .cannotListen, .socketInUse: true
        case .needsToken, .cannotMakeSocket, .alreadyStarted: false
        }
    }
}

extension Settings {
    /// Whether the person asked for a log, rather than getting the default one.
    var isVerbose: Bool { self.display.isQuiet || self.origin(of: .logLevel) != .builtIn }
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

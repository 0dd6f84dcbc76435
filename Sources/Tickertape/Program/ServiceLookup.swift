import Feeds
import Market
import NIOPosix
import TLS
import Terminal
import Wire

/// The queries to Finnhub's REST service, or to a recording in its place: symbols by name, and headlines.
struct ServiceLookup: Sendable {
    let directory: ServiceDirectory
    /// The client of the service; `nil` without a key.
    private let client: ServiceClient?
    /// The exchange that the screen searches, if the symbols come from the service.
    private let exchange: String?
    /// The warning that applies to all answers; `nil` for none.
    let warning: String?

    /// - Parameter source: the source of the symbols; `nil` for the service if a key is set, and else for the bundled
    ///   recording.
    /// - Throws: ``OperatorError`` when the recording, the proxy or the trust roots cannot be used.
    init(
        _ settings: Settings,
        symbols source: ServiceDirectory.SymbolSource? = nil,
        environment: ProcessEnvironment = .current
    ) throws(OperatorError) {
        var client: ServiceClient?
        if let token = settings.token {
            client = try Self.client(settings, token: token)
        }
        self.warning =
            settings.dial.tls.verification == .full || client == nil
            ? nil : "the certificate of the service is not checked (tls.verify), so any server could have sent this"
        let symbols: ServiceDirectory.SymbolSource
        if let source {
            symbols = source
        } else if client != nil {
            symbols = .service(folder: settings.state.cache.path(orAuto: environment.cacheFolder))
        } else {
            guard let path = BundledRecording.path else { throw OperatorError(.noKey) }
            symbols = try Self.symbols(ofRecording: path, name: "the bundled recording")
        }
        if case .service = symbols { self.exchange = ServiceDirectory.usualExchange } else { self.exchange = nil }
        self.client = client
        self.directory = ServiceDirectory(client, symbols: symbols, wallClock: WallClock.now)
    }

    private static func client(_ settings: Settings, token: Secret) throws(OperatorError) -> ServiceClient {
        var service = settings.service
        service.key = token
        service.dial = try settings.dial(to: service.address)
        do throws(TLSError) {
            return try ServiceClient(service, on: MultiThreadedEventLoopGroup.singleton, wallClock: WallClock.now)
        } catch {
            throw OperatorError("\(error) (tls.ca-file, --ca-file)", status: .configuration)
        }
    }

    /// Returns the symbols of a recording.
    ///
    /// - Parameter name: the recording's name in messages, such as `the recording`.
    static func symbols(
        ofRecording path: String,
        name: String
    ) throws(OperatorError) -> ServiceDirectory.SymbolSource {
        .recording(symbols: try OperatorError.opening(recording: path).symbols, name: name)
    }

    /// Uses another key from the next request on.
    func keyChanged(to key: Secret) { self.client?.keyChanged(to: key) }

    // MARK: For the screen

    /// Returns the symbols that match a text being typed, with warnings about them.
    func suggestions(
        for text: String,
        limit: Int = 20
    ) async -> (suggestions: [DisplayPrompt.Suggestion], message: String?) {
        switch await self.directory.symbols(DirectoryQuery(text: text, limit: limit)) {
        case .failure(let failure):
            return ([], failure.description)
        case .success(let found):
            let suggestions = found.symbols.map { symbol in
                DisplayPrompt.Suggestion(
                    text: symbol.symbol,
                    note: symbol.description.isEmpty
                        ? symbol.displaySymbol : "\(symbol.displaySymbol), \(symbol.description)"
                )
            }
            guard suggestions.isEmpty, let exchange = self.exchange else {
                return (suggestions, found.remark ?? self.warning)
            }
            let nothing = found.remark ?? "nothing fits"
            return ([], "\(nothing); these are \(exchange)'s: Enter adds what is typed whole, such as COINBASE:BTC-USD")
        }
    }

    /// Returns the newest headlines for the news pane, or the reason why there are none.
    func news() async -> DisplayNews {
        switch await self.directory.headlines(DirectoryQuery(limit: Headline.maximumKept)) {
        case .failure(let failure):
            return .failed(failure.description)
        case .success(let found):
            return .headlines(
                found.headlines.map {
                    DisplayHeadline(time: $0.time, source: $0.publisher, text: $0.text, url: $0.url)
                }
            )
        }
    }
}

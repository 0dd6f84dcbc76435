import Feeds
import Market
import NIOPosix
import TLS
import Terminal

/// The queries to Finnhub's REST service, or to a recording in its place: symbols by name, and headlines.
struct ServiceLookup: Sendable {
    private(set) var symbols: SymbolCatalogue
    /// The exchange of the symbols, if they come from the service.
    private var exchange: String?
    let headlines: Headlines
    /// The warning that applies to all answers; `nil` for none.
    let warning: String?

    /// - Parameters:
    ///   - exchange: the exchange whose symbols are searched, if a key is set.
    ///   - recording: the recording to search instead of the service. Without it and without a key, the bundled
    ///     recording is searched.
    /// - Throws: ``OperatorError`` when the recording, the proxy or the trust roots cannot be used.
    init(
        _ settings: Settings,
        exchange: String = Self.usualExchange,
        recording: String? = nil,
        environment: ProcessEnvironment = .current
    ) throws(OperatorError) {
        var client: ServiceClient?
        if let token = settings.token {
            client = try Self.client(settings, token: token)
        }
        self.headlines = Headlines(client, wallClock: WallClock.now)
        self.warning =
            settings.dial.tls.verification == .full || client == nil
            ? nil : "the certificate of the service is not checked (tls.verify), so any server could have sent this"
        if let client, recording == nil {
            let folder = settings.state.cache.path(orAuto: environment.cacheFolder)
            let address = settings.service.address
            self.symbols = SymbolCatalogue(
                .service(
                    client,
                    exchange: exchange,
                    file: folder.map { SymbolListFile(directory: $0, exchange: exchange, service: address) }
                ),
                wallClock: WallClock.now
            )
            self.exchange = exchange
            return
        }
        guard let path = recording ?? BundledRecording.path else {
            throw OperatorError(ServiceFailure.noKey.description, status: .failure)
        }
        let file = try OperatorError.opening(recording: path)
        let name = recording == nil ? "the bundled recording" : "the recording \(FilePath.last(of: path))"
        self.symbols = SymbolCatalogue(.recording(symbols: file.symbols, name: name), wallClock: WallClock.now)
    }

    /// The exchange that is searched by default.
    static let usualExchange = "BINANCE"

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

    /// Returns this lookup with the symbols of a recording in place of the service's.
    ///
    /// - Parameter name: the recording's name in messages, such as `the recording`.
    func searching(_ recorded: Set<String>, of name: String) -> ServiceLookup {
        var lookup = self
        lookup.symbols = SymbolCatalogue(
            .recording(symbols: recorded.sorted(), name: name),
            wallClock: WallClock.now
        )
        lookup.exchange = nil
        return lookup
    }

    // MARK: For the screen

    /// Returns the symbols that match a text being typed, with warnings about them.
    func suggestions(
        for text: String,
        limit: Int = 20
    ) async -> (suggestions: [DisplayPrompt.Suggestion], message: String?) {
        switch await self.symbols.search(text, limit: limit) {
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
                return (suggestions, found.note ?? self.warning)
            }
            let nothing = found.note ?? "nothing fits"
            return ([], "\(nothing); these are \(exchange)'s: Enter adds what is typed whole, such as COINBASE:BTC-USD")
        }
    }

    /// Returns the newest headlines for the news pane, or the reason why there are none.
    func news() async -> DisplayNews {
        switch await self.headlines.latest() {
        case .failure(let failure):
            return .failed(failure.description)
        case .success(let headlines):
            return .headlines(
                headlines.map { DisplayHeadline(time: $0.time, source: $0.source, text: $0.text) }
            )
        }
    }
}

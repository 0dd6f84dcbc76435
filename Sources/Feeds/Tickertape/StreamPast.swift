package import Market
package import NIOCore
import TLS
import Wire

/// What a relay knows of the time before a reader came: the bars that it answers over HTTP, for charts.
///
/// A relay without any (an old one, one that knows nothing of the symbol, one that is gone) has an empty past, which is no
/// error: the chart then begins with the first price.
package struct StreamPast: Sendable {
    /// One symbol's bars of one width, the oldest first.
    package struct Bars: Sendable {
        package var symbol: String
        package var width: BarWidth
        package var bars: [Bar]
    }

    /// So many bars of a width are asked for; a relay answers with as many as it has.
    package static let wanted: [(width: BarWidth, limit: Int)] = [(.second, 3_900), (.minute, 150)]
    /// The symbols whose past is asked for; a chart of each of more is nothing that anybody looks at.
    package static let maximumSymbols = 50
    private static let ending = "/v1/stream"

    private let client: ServiceClient

    /// - Parameter timeout: how long each answer may take, up to its last byte.
    /// - Returns: `nil` where the relay's address says nothing of where its other answers are: only `/v1/stream` is known to
    ///   have neighbours.
    package init?(
        _ settings: StreamFeed.Settings,
        on group: any EventLoopGroup,
        timeout: TimeAmount = .seconds(10),
        wallClock: @escaping @Sendable () -> Int64
    ) throws {
        var address = settings.relay
        if address.path != "/" {
            guard address.path.hasSuffix(Self.ending) else { return nil }
            address.path.removeLast(Self.ending.utf8.count)
            if address.path.isEmpty { address.path = "/" }
        }
        var service = ServiceSettings(address: address, key: settings.token)
        service.isRelay = true
        service.dial = settings.dial
        service.timeout = timeout
        // Of a bar some 200 bytes are told.
        service.maximumBytes = 2 << 20
        self.client = try ServiceClient(service, on: group, wallClock: wallClock)
    }

    /// Asks for the newest bars of a symbol; what does not come or is no answer is missing.
    ///
    /// - Returns: `nil` where nothing was found because the network brought no whole answer, so that asking again may help.
    package func bars(of symbol: String) async -> [Bars]? {
        var found: [Bars] = []
        for (width, limit) in Self.wanted {
            let query = [("width", width.word), ("limit", "\(limit)")]
            switch await self.client.get("/v1/bars/\(ServiceClient.escaped(symbol))", query: query) {
            case .success(let body):
                guard let bars = BarList.read(body, width: width, limit: limit), !bars.isEmpty else { continue }
                found.append(Bars(symbol: symbol, width: width, bars: bars))
            case .failure(let failure): return found.isEmpty && failure.kind == .network ? nil : found
            }
        }
        return found
    }
}

import HTTP
package import Market
package import NIOCore
import TLS
import Wire

/// The bars that a relay holds from before a reader connected, fetched over HTTP for charts.
///
/// A relay without bars has an empty past, which is not an error: an old relay, one that does not know the symbol, or
/// one that cannot be reached. The chart then begins with the first price.
package struct StreamPast: Sendable {
    /// One symbol's bars of one width, the oldest first.
    package struct Bars: Sendable {
        package var symbol: String
        package var width: BarWidth
        package var bars: [Bar]
    }

    /// The number of bars to request for each width; a relay answers with as many as it has.
    package static let wanted: [(width: BarWidth, limit: Int)] = [
        (.second, 3_900), (.minute, 150), (.fiveMinutes, 320),
    ]
    /// The most symbols whose past is requested; more charts than that are of no use.
    package static let maximumSymbols = 50

    private let client: ServiceClient

    /// - Parameter timeout: the limit for each answer, up to its last byte.
    /// - Returns: `nil` if the paths of the relay's other answers cannot be derived from its address: only the path
    ///   `/v1/stream` has known siblings.
    package init?(
        _ settings: StreamSubscriber.Settings,
        on group: any EventLoopGroup,
        timeout: TimeAmount = .seconds(10),
        wallClock: @escaping @Sendable () -> Int64
    ) throws {
        guard let address = settings.relay.besideStream else { return nil }
        var service = ServiceSettings(address: address, key: settings.token)
        service.isRelay = true
        service.dial = settings.dial
        service.timeout = timeout
        // A bar takes some 200 bytes.
        service.maximumBytes = 2 << 20
        self.client = try ServiceClient(service, on: group, wallClock: wallClock)
    }

    /// Requests the newest bars of a symbol. Widths without a usable answer are missing.
    ///
    /// - Returns: `nil` if there are no bars because the network brought no whole answer; a further request may then
    ///   help.
    package func bars(of symbol: String) async -> [Bars]? {
        var found: [Bars] = []
        for (width, limit) in Self.wanted {
            let query = [("width", width.word), ("limit", "\(limit)")]
            switch await self.client.get("/v1/bars/\(PercentText.encoded(symbol))", query: query) {
            case .success(let body):
                guard let bars = BarList.read(body, width: width, limit: limit), !bars.isEmpty else { continue }
                found.append(Bars(symbol: symbol, width: width, bars: bars))
            case .failure(let failure): return found.isEmpty && failure.kind == .unreachable ? nil : found
            }
        }
        return found
    }
}

extension UpstreamAddress {
    /// The address to which a relay's other paths are appended; `nil` if they cannot be derived: only the path
    /// `/v1/stream` has known siblings.
    var besideStream: UpstreamAddress? {
        let ending = "/v1/stream"
        var address = self
        if address.path != "/" {
            guard address.path.hasSuffix(ending) else { return nil }
            address.path.removeLast(ending.utf8.count)
            if address.path.isEmpty { address.path = "/" }
        }
        return address
    }
}

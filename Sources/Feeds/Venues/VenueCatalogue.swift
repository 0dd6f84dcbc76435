import Market
package import NIOCore
package import Wire

/// The source of the names of a venue's symbols.
package protocol VenueNameSource {
    /// Asks for the names; calls `then` on the loop with them, or with the reason why there are none.
    func names(on loop: any EventLoop, then: @escaping (Result<VenueNames, ServiceFailure>) -> Void)
}

/// The list of a venue's symbols, requested from its REST service and kept for an hour.
///
/// No event loop waits for it: the list is read elsewhere.
package final class VenueCatalogue: VenueNameSource, Sendable {
    /// How long a list is used, ns: an hour.
    static let goodFor: Int64 = 3_600_000_000_000

    private let kept: KeptAnswer<VenueNames>

    /// - Parameter services: the addresses of the service, in the order in which they are tried.
    package convenience init(
        _ venue: Venue,
        _ services: [ServiceSettings],
        on group: any EventLoopGroup,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        let calls = services.map {
            ServiceCalls(ServiceClient(readingLater: $0, on: group, wallClock: wallClock), wallClock: wallClock)
        }
        self.init(venue, calls, wallClock: wallClock)
    }

    init(_ venue: Venue, _ calls: [ServiceCalls], wallClock: @escaping @Sendable () -> Int64) {
        self.kept = KeptAnswer(wallClock: wallClock) { now, _ in
            switch await Self.load(venue, calls) {
            case .success(let names): .success(.init(value: names, fetched: now, goodUntil: now + Self.goodFor))
            case .failure(let failure): .failure(failure)
            }
        }
    }

    package func names(on loop: any EventLoop, then: @escaping (Result<VenueNames, ServiceFailure>) -> Void) {
        let bound = NIOLoopBound(then, eventLoop: loop)
        let kept = self.kept
        Task {
            let names = await kept.current().map(\.value)
            loop.execute { bound.value(names) }
        }
    }

    /// Requests the list from one address after the other, until one has it.
    private static func load(_ venue: Venue, _ calls: [ServiceCalls]) async -> Result<VenueNames, ServiceFailure> {
        var failure = ServiceFailure(.unreachable, "\(venue.name)'s list of symbols has no address")
        for call in calls {
            switch await call.get(venue.listPath, query: venue.listQuery) {
            case .success(let body):
                guard let list = VenueListing.list(body, of: venue) else {
                    failure = ServiceFailure(
                        notWhat: "\(venue.name)'s list of symbols",
                        body: body,
                        address: venue.serviceSetting
                    )
                    continue
                }
                return .success(VenueNames(venue, list))
            case .failure(let reason): failure = reason
            }
        }
        return .failure(failure)
    }
}

extension Venue {
    fileprivate var listPath: String {
        switch self {
        case .binance: "/api/v3/exchangeInfo"
        case .coinbase: "/products"
        case .kraken: "/0/public/AssetPairs"
        }
    }

    fileprivate var listQuery: [(String, String)] {
        switch self {
        // Without the sets of permissions the list has half the size.
        case .binance: [("showPermissionSets", "false")]
        case .coinbase, .kraken: []
        }
    }
}

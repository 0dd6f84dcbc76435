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

    init(_ service: VenueService, wallClock: @escaping @Sendable () -> Int64) {
        self.kept = KeptAnswer(wallClock: wallClock) { now, _ in
            await Self.load(from: service).map { .init(value: $0, fetched: now, goodUntil: now + Self.goodFor) }
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

    private static func load(from service: VenueService) async -> Result<VenueNames, ServiceFailure> {
        let venue = service.venue
        let what = "\(venue.name)'s list of symbols"
        return await service.get(venue.listPath, query: venue.listQuery, what: what) { body in
            VenueListing.list(body, of: venue).map { VenueNames(venue, $0) }
        }
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

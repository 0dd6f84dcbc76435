import NIOCore
package import Wire

/// A venue's REST service at one address or several, for answers that are requested rarely.
package final class VenueService: Sendable {
    package let venue: Venue
    /// In the order in which they are tried.
    private let calls: [ServiceCalls]

    /// - Parameter services: the addresses of the service, in the order in which they are tried.
    convenience init(
        _ venue: Venue,
        _ services: [ServiceSettings],
        on group: any EventLoopGroup,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.init(
            venue,
            services.map {
                ServiceCalls(ServiceClient(readingLater: $0, on: group, wallClock: wallClock), wallClock: wallClock)
            }
        )
    }

    init(_ venue: Venue, _ calls: [ServiceCalls]) {
        self.venue = venue
        self.calls = calls
    }

    /// Requests a path from one address after the other, until one has a readable answer.
    ///
    /// - Parameters:
    ///   - what: the answer in words, for the failure of one that cannot be read.
    ///   - read: reads the body; `nil` if it is not the answer.
    func get<Value>(
        _ path: String,
        query: [(String, String)],
        what: String,
        read: (ByteBuffer) -> Value?
    ) async -> Result<Value, ServiceFailure> {
        var failure = ServiceFailure(.unreachable, "\(what) has no address")
        for call in self.calls {
            switch await call.get(path, query: query) {
            case .success(let body):
                if let value = read(body) { return .success(value) }
                failure = ServiceFailure(notWhat: what, body: body, address: self.venue.serviceSetting)
            case .failure(let reason): failure = reason
            }
        }
        return .failure(failure)
    }
}

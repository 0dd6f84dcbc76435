import NIOCore
import Wire

/// A venue's REST service as a source of earlier trades.
final class VenueTradesService: VenueTradesSource {
    /// The largest accepted answer, in bytes; 1,000 trades have some 200 KB.
    private static let maximumBytes = 4 << 20

    private let places: [Place]

    init(
        _ venue: Venue,
        _ services: [ServiceSettings],
        on group: any EventLoopGroup,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.places = services.map { service in
            var service = service
            service.maximumBytes = Self.maximumBytes
            let client = ServiceClient(readingLater: service, on: group, wallClock: wallClock)
            return Place(client: client, venue: venue, wallClock: wallClock)
        }
    }

    var addresses: [String] { self.places.map(\.client.address.place) }

    func ask(
        _ request: VenueTradesRequest,
        at address: Int,
        on loop: any EventLoop,
        then: @escaping (VenueTradesAnswer) -> Void
    ) {
        let bound = NIOLoopBound(then, eventLoop: loop)
        let place = self.places[address]
        Task {
            let answer = await place.answer(to: request)
            loop.execute { bound.value(answer) }
        }
    }
}

/// One of the addresses of a venue's REST service.
private struct Place: Sendable {
    /// How long Kraken's own limit of requests lasts, ns: its counter falls by one a second or slower.
    private static let pause: Int64 = 15_000_000_000

    let client: ServiceClient
    let venue: Venue
    /// ns since 1970.
    let wallClock: @Sendable () -> Int64

    func answer(to request: VenueTradesRequest) async -> VenueTradesAnswer {
        let (result, headers) = await self.client.get(target: request.target)
        let used = headers.first(name: "X-MBX-USED-WEIGHT-1M").flatMap { Int($0) }
        guard case .success(let body) = result, let error = VenueExchange.errorText(in: body, of: self.venue) else {
            return VenueTradesAnswer(result, usedWeight: used)
        }
        return VenueTradesAnswer(.failure(self.failure(error)), usedWeight: used)
    }

    /// Explains an error in an answer with status 200, such as Kraken's `EAPI:Rate limit exceeded`.
    private func failure(_ error: String) -> ServiceFailure {
        let said = "\(self.venue.name) says: \(AnswerText.line(of: error))"
        if error.contains("Rate limit") || error.contains("Too many requests") {
            return .rateLimited(until: self.wallClock() + Self.pause, said)
        }
        if error.contains("lockout") {
            return .rateLimited(until: self.wallClock() + RetryAfter.afterEdgeBan, said)
        }
        if error.hasPrefix("EService") || error.hasPrefix("EGeneral:Internal") {
            return ServiceFailure(.unreachable, said, cure: "try again later")
        }
        return ServiceFailure(.unreadableAnswer, said)
    }
}

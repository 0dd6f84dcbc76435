package import NIOCore
package import Wire

/// An answer of a venue's REST service to a request for earlier trades.
package struct VenueTradesAnswer: Sendable {
    /// The body of an answer with status 200, or the reason why there is none.
    package var result: Result<ByteBuffer, ServiceFailure>
    /// The weight of all requests from this address in the present minute, as Binance counts it; `nil` if the venue
    /// does not say.
    package var usedWeight: Int?

    package init(_ result: Result<ByteBuffer, ServiceFailure>, usedWeight: Int? = nil) {
        self.result = result
        self.usedWeight = usedWeight
    }
}

/// A source of a venue's earlier trades: its REST service.
package protocol VenueTradesSource: AnyObject {
    /// The service's addresses for people, in the order in which they are used; at least one. The first has trades by
    /// their ids, another one has only the newest.
    var addresses: [String] { get }

    /// Sends one request to one of the addresses; calls `then` once on the loop.
    ///
    /// The caller keeps the venue's limits: every call is one request.
    func ask(
        _ request: VenueTradesRequest,
        at address: Int,
        on loop: any EventLoop,
        then: @escaping (VenueTradesAnswer) -> Void
    )
}

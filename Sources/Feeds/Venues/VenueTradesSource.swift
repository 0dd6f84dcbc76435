package import NIOCore
package import Wire

/// A source of a venue's earlier trades: its REST service.
package protocol VenueTradesSource: AnyObject {
    /// Sends one request; calls `then` once on the loop, with the answer's body or with the reason why there is none.
    ///
    /// The caller keeps the venue's limits: every call is one request.
    func ask(
        _ request: VenueTradesRequest,
        on loop: any EventLoop,
        then: @escaping (Result<ByteBuffer, ServiceFailure>) -> Void
    )
}

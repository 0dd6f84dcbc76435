import NIOHTTP1
import Wire

extension HTTPRefusal {
    /// Describes a failure of Finnhub's REST service.
    ///
    /// The status 503 says that a person or time can change the answer, 502 that the service did not answer as it
    /// should, 403 that asking again is of no use. A 401 would make clients ask for the relay's token.
    ///
    /// - Parameter now: nanoseconds since 1970.
    init(_ failure: ServiceFailure, now: Int64) {
        let (status, type): (HTTPResponseStatus, String) =
            switch failure.kind {
            case .noKey: (.serviceUnavailable, "no-key")
            case .keyRejected: (.serviceUnavailable, "key-rejected")
            case .notPermitted: (.forbidden, "not-permitted")
            case .rateLimited: (.serviceUnavailable, "rate-limited")
            case .unreachable: (.badGateway, "unreachable")
            case .unreadableAnswer: (.badGateway, "unreadable-answer")
            case .unknownExchange: (.notFound, "no-such-publisher")
            }
        self.init(
            status: status,
            type: type,
            message: failure.reason,
            hint: failure.cure ?? "try again later"
        )
        guard case .rateLimited(let until) = failure.kind else { return }
        self.retryAt = (until + 999_999) / 1_000_000
        let seconds = (until - now + 999_999_999) / 1_000_000_000
        self.headers.add(name: "Retry-After", value: String(max(seconds, 1)))
    }
}

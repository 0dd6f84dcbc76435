import NIOHTTP1
import Wire

extension UpstreamFailure {
    /// The shortest wait after a failure of Kraken, which may be under repair; ns.
    static let repair: Int64 = 5_000_000_000

    /// Explains an answer of a venue other than 101.
    ///
    /// - Parameter now: nanoseconds since 1970, for a `Retry-After` with a date.
    init(_ venue: Venue, status: HTTPResponseStatus, headers: HTTPHeaders, body: String, now: Int64) {
        let words = AnswerText.line(of: body)
        let answer = "HTTP \(status.code)" + (words.isEmpty ? "" : ": \(words)")
        let wait = RetryAfter.parse(headers, now: now)
        self.init("", cause: .refusedStatus)
        self.retryAfter = wait
        switch status.code {
        case 451:
            self.isOfLocation = true
            self.description = "\(venue.name) refuses this location (\(answer)): \(venue.cureForLocation)"
        case 429:
            self.cause = .rateLimited
            self.disposition = .rateLimited(retryAfter: wait)
            self.description =
                "\(venue.name) has had too many attempts from this address (\(answer)); it bans one that "
                + "tries on"
        case 418:
            self.cause = .rateLimited
            self.disposition = .rateLimited(retryAfter: max(wait ?? 0, RetryAfter.afterBan))
            self.description = "\(venue.name) has banned this address for a time (\(answer))"
        case 403 where venue == .kraken:
            // The edge in front of Kraken bans for 10 minutes, and an attempt renews the ban.
            self.cause = .rateLimited
            self.disposition = .rateLimited(retryAfter: wait)
            self.description =
                "the edge in front of Kraken refuses this address (\(answer)), as it does after too many "
                + "attempts"
        case 401, 403:
            self.description =
                "\(venue.name) refuses connections from this network (\(answer)): "
                + "try another network or a proxy (HTTPS_PROXY)"
        case 500..<600:
            self.description = "\(venue.name) is down or under repair (\(answer))"
            if venue == .kraken { self.retryAfter = max(wait ?? 0, Self.repair) }
        case 404, 410:
            self.description = "\(venue.name) has nothing at this path (\(answer)): check its address"
            self.isOfUnknownPath = true
        case 300..<400:
            let place = AnswerText.redirection(headers).map { " to \($0)" } ?? ""
            self.description =
                "\(venue.name) redirects\(place) (HTTP \(status.code)), which is not followed: check its "
                + "address"
        default: self.description = "\(venue.name) did not open the WebSocket (\(answer))"
        }
    }
}

extension Venue {
    fileprivate var cureForLocation: String {
        switch self {
        case .binance: "its host for market data, data-stream.binance.vision, usually works"
        case .coinbase, .kraken: "try another network or a proxy (HTTPS_PROXY)"
        }
    }
}

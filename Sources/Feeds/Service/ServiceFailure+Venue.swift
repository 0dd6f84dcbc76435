import HTTP
import Wire

extension ServiceFailure {
    /// Whether a venue refuses this address or this place, and may ban it for further requests.
    var mayBan: Bool {
        switch self.kind {
        case .rateLimited, .notPermitted: true
        case .noKey, .keyRejected, .unreachable, .unreadableAnswer, .unknownExchange: false
        }
    }

    /// Explains an answer of a venue's REST service whose status is not 200.
    ///
    /// - Parameter now: nanoseconds since 1970.
    init(_ answer: OutgoingExchange.Answer, of venue: Venue, now: Int64) {
        let (status, headers) = (answer.head.status.code, answer.head.headers)
        let own = VenueExchange.errorText(in: answer.body, of: venue).map { AnswerText.line(of: $0) }
        let words = own ?? Self.words(of: Self.beginning(of: answer.body))
        let said = "HTTP \(status)" + (words.isEmpty ? "" : ": \(words)")
        switch status {
        case 451:
            self.init(.notPermitted, "\(venue.name) refuses this location (\(said))", cure: "try another network")
        case 429:
            self = .rateLimited(
                until: now + Self.wait(headers, now: now),
                "\(venue.name)'s limit of requests is reached (\(said))"
            )
        case 418:
            self = .rateLimited(
                until: now + max(Self.wait(headers, now: now), RetryAfter.afterBan),
                "\(venue.name) has banned this address for a time (\(said))"
            )
        case 403 where venue == .kraken:
            // The edge in front of Kraken bans for 10 minutes, and an attempt renews the ban.
            self = .rateLimited(
                until: now + max(RetryAfter.parse(headers, now: now) ?? 0, RetryAfter.afterEdgeBan),
                "the edge in front of Kraken refuses this address (\(said)), as it does after too many attempts"
            )
        case 401, 403:
            self.init(
                .notPermitted,
                "\(venue.name) refuses requests from this network (\(said))",
                cure: "try another network or a proxy (HTTPS_PROXY)"
            )
        case 500..<600:
            self.init(.unreachable, "\(venue.name) is down or under repair (\(said))", cure: "try again later")
        default:
            self.init(
                .unreadableAnswer,
                "\(venue.name) refuses the request (\(said))",
                cure: "check \(venue.serviceSetting)"
            )
        }
    }
}

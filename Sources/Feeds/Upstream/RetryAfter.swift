import NIOHTTP1

/// The wait that a service asks for (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// The shortest wait after a venue's ban, ns: Binance bans for 2 minutes at least (its REST documentation, limits).
    static let afterBan: Int64 = 120_000_000_000

    /// The wait after a refusal by the edge in front of Kraken, ns: its ban lasts for 10 minutes (reference of the
    /// venues, A3).
    static let afterEdgeBan: Int64 = 600_000_000_000

    /// The longest wait that is returned, in nanoseconds: three days, the longest ban of Binance (its REST
    /// documentation, limits).
    package static let limit: Int64 = 259_200_000_000_000

    /// Reads the value of `Retry-After`, seconds or a date, as nanoseconds from `now`.
    ///
    /// - Parameter now: nanoseconds since 1970.
    /// - Returns: more than 0 and at most ``limit``; `nil` for a text that is empty, malformed, negative or in the
    ///   past.
    package static func parse(_ text: some StringProtocol, now: Int64) -> Int64? {
        Self.parse(text, nowInSeconds: now / 1_000_000_000)
    }

    /// Reads the wait from an answer's headers.
    ///
    /// A date is compared with the answer's own `Date`, if it has one. The difference of two times of one clock is
    /// right even if our clock is wrong.
    ///
    /// - Parameter now: nanoseconds since 1970.
    static func parse(_ headers: HTTPHeaders, now: Int64) -> Int64? {
        guard let text = headers.first(name: "Retry-After") else { return nil }
        let now = now / 1_000_000_000
        let theirs = headers.first(name: "Date").flatMap { HTTPDate.parse($0, now: now) }
        return Self.parse(text, nowInSeconds: theirs ?? now)
    }

    // In seconds, since nanoseconds of a date in the year 9999 overflow.
    private static func parse(_ text: some StringProtocol, nowInSeconds now: Int64) -> Int64? {
        let wait: Int64
        if text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            guard !text.isEmpty else { return nil }
            // More digits than an integer holds still mean a long wait.
            wait = Int64(text) ?? .max
        } else {
            guard let date = HTTPDate.parse(text, now: now) else { return nil }
            wait = date - now
        }
        return wait <= 0 ? nil : min(wait, Self.limit / 1_000_000_000) * 1_000_000_000
    }
}

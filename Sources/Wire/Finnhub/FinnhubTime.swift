/// The time in a trade: `t`, integer milliseconds since 1970 UTC.
enum FinnhubTime {
    /// The last millisecond whose nanoseconds an `Int64` holds, in the year 2262.
    static let last: Int64 = Int64.max / 1_000_000

    /// Nanoseconds since 1970 of a time that is sane: after 1970, and held; else `nil`.
    static func nanoseconds(_ milliseconds: Int64) -> Int64? {
        milliseconds > 0 && milliseconds <= Self.last ? milliseconds * 1_000_000 : nil
    }
}

/// The conversion of a trade's time `t`, integer milliseconds since 1970 UTC.
enum FinnhubTime {
    /// The last millisecond whose nanoseconds fit an `Int64`, in the year 2262.
    static let last: Int64 = Int64.max / 1_000_000

    /// Returns a time in nanoseconds since 1970; `nil` unless it is after 1970 and fits.
    static func nanoseconds(_ milliseconds: Int64) -> Int64? {
        milliseconds > 0 && milliseconds <= Self.last ? milliseconds * 1_000_000 : nil
    }
}

/// A venue's own figures of one symbol's last 24 hours, as the venue publishes them.
///
/// They are never computed from the tape and never mixed with the session's values: the session began when this program
/// did.
package struct VenueDay: Sendable, Equatable {
    /// How long after their arrival the figures are shown, ns: five minutes. They are requested every one or two.
    package static let goodFor: Int64 = 300_000_000_000

    /// The symbol, by its name on the tape.
    package var symbol: String
    /// The price 24 hours ago; `nil` where the venue does not publish it. Kraken's is that of 00:00 UTC, which is not
    /// 24 hours ago.
    package var open: ExactDecimal?
    package var high: ExactDecimal
    package var low: ExactDecimal
    /// The newest price when the venue answered.
    package var last: ExactDecimal
    /// In units of the base currency.
    package var volume: ExactDecimal
    /// Our wall clock at the answer, ns since 1970.
    package var received: Int64

    package init(
        symbol: String,
        open: ExactDecimal?,
        high: ExactDecimal,
        low: ExactDecimal,
        last: ExactDecimal,
        volume: ExactDecimal,
        received: Int64
    ) {
        self.symbol = symbol
        self.open = open
        self.high = high
        self.low = low
        self.last = last
        self.volume = volume
        self.received = received
    }

    /// Returns for how long the figures are still good, ns; `nil` if they are too old.
    ///
    /// - Parameter wall: our wall clock, ns since 1970.
    package func timeLeft(at wall: Int64) -> Int64? {
        let left = Self.goodFor.subtractingCapped(wall.subtractingCapped(self.received))
        return left > 0 ? left : nil
    }

    /// The change of the price within the 24 hours; `nil` without ``open`` and where it cannot be held exactly.
    package var change: ExactDecimal? { self.open.flatMap { self.last.subtracting($0) } }
}

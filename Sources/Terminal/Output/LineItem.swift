package import Market

/// An item of a line output.
package enum LineItem: Sendable, Equatable {
    /// A price, with the arrival of its trade where that is measured, monotonic ns.
    case price(PriceUpdate, arrived: Int64? = nil)
    /// A price that a relay had before this program connected, with the arrival of its trade at the relay, monotonic
    /// ns.
    case snapshot(PriceUpdate, arrived: Int64)
    case status(FeedStatus)
    /// The venue's own figures of a symbol's last 24 hours.
    case day(VenueDay)
    case gap(Gap)
    /// The outcome of a gap with ids, and its wall clock, ns since 1970.
    case settled(GapOutcome, at: Int64)
    case symbol(SymbolStatus)
    /// A symbol without a subscriber; since when, wall clock, ns since 1970.
    case unsubscribed(String, since: Int64)
    /// The symbols that the feed has, for an output without a list of symbols to wait for.
    case expected([String])
    /// Whether a replay is paused; since when, wall clock, ns since 1970.
    case paused(Bool, since: Int64 = 0)
    /// A person's wish to see another symbol, for an output that shows one after the other.
    case step(SymbolStep)
    /// An alert, with the bytes for a terminal at the errors beside the line.
    case alert(Alert, call: [UInt8])
}

/// The neighbour of the symbol that is shown.
package enum SymbolStep: Sendable, Equatable {
    case next, previous
}

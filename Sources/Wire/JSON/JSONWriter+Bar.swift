import Market

extension JSONWriter {
    /// Writes the members of a bar; `start` is ms since 1970 by the exchange's clock.
    ///
    /// - Parameter isClosed: whether the bar's period is over; `nil` writes no such member.
    mutating func fields(of bar: Bar, isClosed: Bool?) {
        self.field("start", bar.start / 1_000_000)
        self.field("open", bar.open)
        self.field("high", bar.high)
        self.field("low", bar.low)
        self.field("close", bar.close)
        self.field("volume", bar.volume)
        self.field("vwap", bar.average?.description)
        self.field("trades", bar.count)
        if let isClosed { self.field("closed", isClosed) }
        self.field("incomplete", bar.lacksSomething)
        if bar.possibleRepeats > 0 { self.field("possibleRepeats", bar.possibleRepeats) }
    }
}

/// One alert rule as the screen lists it.
package struct ListedAlert: Sendable, Equatable {
    /// `BINANCE:BTCUSDT above 60000`.
    package var text: String
    /// `armed`, `fired 3 times, armed again at 59940`, `quiet until 07:00`.
    package var state: String
    /// When the rule last fired, monotonic ns. The screen then shows a line for it.
    package var fired: Int64?
    /// Whether that line is highlighted for a moment.
    package var flashes = true

    package init(text: String, state: String, fired: Int64? = nil) {
        self.text = text
        self.state = state
        self.fired = fired
    }

    /// Returns the same alert with or without the highlight.
    package func flashing(_ flashes: Bool) -> ListedAlert {
        var alert = self
        alert.flashes = flashes
        return alert
    }
}

/// One alert as the screen shows it.
package struct ListedAlert: Sendable, Equatable {
    /// `BINANCE:BTCUSDT above 60000`.
    package var text: String
    /// `armed`, `fired 3 times, armed again at 59940`, `quiet until 07:00`.
    package var state: String
    /// When it fired last; monotonic ns; the screen has a line for it then.
    package var fired: Int64?
    /// Whether that line stands out for a moment.
    package var flashes = true

    package init(text: String, state: String, fired: Int64? = nil) {
        self.text = text
        self.state = state
        self.fired = fired
    }

    /// The same, flashing or not.
    package func flashing(_ flashes: Bool) -> ListedAlert {
        var alert = self
        alert.flashes = flashes
        return alert
    }
}

/// What a venue says of its own service.
public struct VenueServiceState: Sendable, Equatable {
    /// Whether its engine makes no trades, so that silence is no fault of the connection.
    package var isHalted = false
    /// What to know of it, in one line; `nil` if all is well.
    package var text: String?

    package init(isHalted: Bool = false, text: String? = nil) {
        self.isHalted = isHalted
        self.text = text
    }
}

/// Whose words a frame is in: nothing outside a dialect's own folders parses its bytes or passes them on.
package enum FrameDialect: UInt8, Sendable, CaseIterable {
    case finnhub
    /// Tickertape's own, as on `/v1/stream`.
    case tickertape

    /// The name in recordings and in commands; at most 32 bytes, which JSON need not escape.
    package var name: StaticString {
        switch self {
        case .finnhub: "finnhub"
        case .tickertape: "tickertape"
        }
    }

    /// Finds a dialect by its name; `nil` for any that this program does not know.
    package init?(name: some StringProtocol) {
        guard let found = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
        self = found
    }
}

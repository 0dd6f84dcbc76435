/// The time zone of the screen and of the page.
package enum TimeZoneChoice: Sendable, Equatable {
    /// That of the machine; on the page, of the browser.
    case local
    case named(TimeZoneRules)

    /// Returns the screen's clock.
    ///
    /// - Parameter local: returns how far this machine's local time is ahead of UTC at a time (ns since 1970), ns.
    package func clock(local: @escaping @Sendable (Int64) -> Int64) -> ScreenClock {
        switch self {
        case .local: ScreenClock(zone: "local", offset: local)
        case .named(let rules): ScreenClock(zone: rules.name) { rules.offset(at: $0) }
        }
    }

    /// The name in the time zone database; `nil` for the local zone.
    package var name: String? {
        switch self {
        case .local: nil
        case .named(let rules): rules.name
        }
    }
}

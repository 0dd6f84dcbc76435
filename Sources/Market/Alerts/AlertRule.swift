/// A condition on the prices of a symbol, as a person writes it: `BINANCE:BTCUSDT above 60000`.
///
/// ``init(_:symbol:)`` reads a rule, and `description` writes a text that reads back as the same rule.
package struct AlertRule: Sendable, Hashable {
    /// The largest number of rules in force at a time.
    package static let most = 256
    /// The longest text of a rule, in bytes.
    package static let maximumBytes = 256

    /// The subject of a rule.
    package enum Subject: Sendable, Hashable {
        /// A symbol as the venue names it. Without the venue (`BTCUSDT`) it means that symbol of every venue.
        case symbol(String)
        /// Every symbol, each one separately.
        case every
        /// All symbols together: whether anything trades at all.
        case feed
    }

    package enum Direction: String, Sendable, Hashable {
        case either = "moves"
        case up = "rises"
        case down = "falls"
    }

    package enum Condition: Sendable, Hashable {
        case above(ExactDecimal)
        case below(ExactDecimal)
        /// The price goes from one side of this level to the other.
        case crosses(ExactDecimal)
        /// The price moves by at least this percentage from the lowest or the highest price within the span, ns.
        case moves(Direction, percent: ExactDecimal, within: Int64)
        /// The price is above (below) every earlier one since the watch began.
        case newHigh
        case newLow
        /// No trade for this span, ns; `nil` takes the setting's.
        case stale(after: Int64?)
        /// A trade after such a silence.
        case back(after: Int64?)
    }

    /// The distance by which a price must come back before a rule fires again.
    package enum Band: Sendable, Hashable {
        /// A percentage of the rule's price.
        case percent(ExactDecimal)
        case price(ExactDecimal)
    }

    /// A rule's own option about quiet hours.
    package enum Quiet: Sendable, Hashable {
        case never
        case hours(QuietHours)
    }

    package var subject: Subject
    package var condition: Condition
    /// `nil` takes the setting's value.
    package var hysteresis: Band?
    /// The shortest time between two alerts, ns; `nil` takes the setting's.
    package var cooldown: Int64?
    /// Whether the rule fires only once.
    package var isOnce = false
    /// `nil` takes the setting's value.
    package var quiet: Quiet?

    /// The reason why a text is not a rule, in one line that says what to change.
    package struct ParseError: Error, Sendable, Equatable, CustomStringConvertible {
        package var description: String

        package init(_ description: String) { self.description = description }
    }

    /// Whether the rule applies to the symbol of this name on its own.
    package func isAbout(_ name: String) -> Bool {
        switch self.subject {
        case .feed: return false
        case .every: return true
        case .symbol(let wanted):
            if Self.isSame(wanted[...], name[...]) { return true }
            guard !wanted.utf8.contains(UInt8(ascii: ":")), let colon = name.lastIndex(of: ":") else { return false }
            return Self.isSame(wanted[...], name[name.index(after: colon)...])
        }
    }

    /// The full name of the rule's only symbol, if it is known before a trade arrives.
    var onlySymbol: String? {
        switch self.subject {
        case .symbol(let name): name.utf8.contains(UInt8(ascii: ":")) ? name : nil
        case .every, .feed: nil
        }
    }

    /// Compares two names without regard to case: venues write symbols in capitals, and people type them in any case.
    private static func isSame(_ one: Substring, _ other: Substring) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).allSatisfy { Self.capital($0) == Self.capital($1) }
    }

    private static func capital(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    }
}

extension AlertRule {
    /// The condition as one stable word for programs.
    package var kind: String {
        switch self.condition {
        case .above: "above"
        case .below: "below"
        case .crosses: "crosses"
        case .moves(let direction, _, _): direction.rawValue
        case .newHigh: "new-high"
        case .newLow: "new-low"
        case .stale: "stale"
        case .back: "back"
        }
    }

    /// Whether the rule is about the silence of a symbol rather than a price.
    package var isAboutSilence: Bool {
        switch self.condition {
        case .stale, .back: true
        case .above, .below, .crosses, .moves, .newHigh, .newLow: false
        }
    }
}

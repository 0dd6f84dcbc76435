import Market

/// The price from which a row's change is counted, and the span's name.
struct ChangeBase {
    let price: ExactDecimal
    let span: Span
    /// For how long this is the base if no figures come, ns; `nil` without a limit.
    let lasts: Int64?

    enum Span {
        /// The venue's own rolling 24 hours.
        case day
        /// Since this program, or the relay that it follows, has the symbol.
        case session

        var word: String {
            switch self {
            case .day: "24h"
            case .session: "session"
            }
        }

        /// The same as the heading of a column.
        var heading: String { self.word.uppercased() }
    }

    /// - Parameter wall: the wall clock, ns since 1970.
    init(of row: DisplayRow, wall: Int64) {
        if let day = row.day, let open = day.open, let left = day.timeLeft(at: wall) {
            (self.price, self.span, self.lasts) = (open, .day, left)
        } else {
            (self.price, self.span, self.lasts) = (row.summary.open, .session, nil)
        }
    }
}

import Market

/// The price from which a row's change is counted, and the span's name.
struct ChangeBase {
    let price: ExactDecimal
    let span: Span
    /// For how long this is the base if no figures come, ns; `nil` without a limit.
    let lasts: Int64?

    enum Span {
        /// The venue's own rolling 24 hours, or those of the program's history.
        case day
        /// Since Finnhub's previous close.
        case close
        /// Since this program, or the relay that it follows, has the symbol.
        case session

        var word: String {
            switch self {
            case .day: "24h"
            case .close: "since close"
            case .session: "session"
            }
        }

        /// The same as the heading of a column.
        var heading: String { self.word.uppercased() }
    }

    /// - Parameters:
    ///   - open: the session's first price.
    ///   - day: the venue's figures, if it gives any.
    ///   - reference: the price where the venue gives none.
    ///   - wall: the wall clock, ns since 1970.
    init(open: ExactDecimal, day: VenueDay?, reference: ChangeReference? = nil, wall: Int64) {
        if let day, let open = day.open, let left = day.timeLeft(at: wall) {
            (self.price, self.span, self.lasts) = (open, .day, left)
        } else if let reference, reference.until > wall {
            self.price = reference.price
            self.span = reference.span == .day ? .day : .close
            self.lasts = reference.until - wall
        } else {
            (self.price, self.span, self.lasts) = (open, .session, nil)
        }
    }

    /// - Parameter wall: the wall clock, ns since 1970.
    init(of row: DisplayRow, wall: Int64) {
        self.init(open: row.summary.open, day: row.day, reference: row.reference, wall: wall)
    }
}

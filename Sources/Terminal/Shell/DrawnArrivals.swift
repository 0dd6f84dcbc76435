import Measurements

/// How long prices take from their trades' arrival to the terminal: each is measured once, when the terminal has taken all of
/// the frame that shows it first.
///
/// Times are monotonic ns.
struct DrawnArrivals {
    private let histogram: LatencyHistogram?
    /// When the trades arrived whose prices are on their way to the terminal for the first time.
    private var underWay: [Int64] = []
    /// The newest arrival that was drawn of each symbol that is on the screen.
    private var newest: [String: Int64] = [:]

    init(_ histogram: LatencyHistogram?) { self.histogram = histogram }

    var areUnderWay: Bool { !self.underWay.isEmpty }

    /// Takes a frame that is drawn of this state: finds the prices that it shows and the one before did not.
    mutating func drawn(_ state: DisplayState) {
        guard self.histogram != nil else { return }
        // Symbols that are gone are forgotten.
        if self.newest.count > state.rows.count {
            let known = Set(state.rows.map(\.summary.symbol))
            self.newest = self.newest.filter { known.contains($0.key) }
        }
        for row in state.rows {
            guard let arrived = row.priceArrived, self.newest[row.summary.symbol] != arrived else { continue }
            self.newest[row.summary.symbol] = arrived
            self.underWay.append(arrived)
        }
    }

    /// Notes that the terminal has taken the whole frame.
    mutating func taken(at now: Int64) {
        if let histogram { for arrival in self.underWay { histogram.record(nanoseconds: now - arrival) } }
        self.underWay.removeAll(keepingCapacity: true)
    }
}

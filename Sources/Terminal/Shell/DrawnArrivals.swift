import Measurements

/// The measurement of prices from their trades' arrival to the terminal. Each price is measured once, when the terminal
/// has taken the whole first frame with it.
///
/// Times are monotonic ns.
struct DrawnArrivals {
    private let histogram: LatencyHistogram?
    /// The arrivals of the prices whose first frame is being written.
    private var underWay: [Int64] = []
    /// The newest drawn arrival of each symbol on the screen.
    private var newest: [String: Int64] = [:]

    init(_ histogram: LatencyHistogram?) { self.histogram = histogram }

    var areUnderWay: Bool { !self.underWay.isEmpty }

    /// Takes the state of a drawn frame, and finds the prices that the preceding frame did not have.
    mutating func drawn(_ state: DisplayState) {
        guard self.histogram != nil else { return }
        // Removes symbols that have left the screen.
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

    /// Records that the terminal has taken the whole frame.
    mutating func taken(at now: Int64) {
        if let histogram { for arrival in self.underWay { histogram.record(nanoseconds: now - arrival) } }
        self.underWay.removeAll(keepingCapacity: true)
    }
}

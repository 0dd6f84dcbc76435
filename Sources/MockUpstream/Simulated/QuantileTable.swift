import Market

/// A distribution of integers, defined by some quantiles and linear interpolation between them.
///
/// Integer arithmetic only: the same seed gives the same numbers on every machine.
struct QuantileTable: Sendable {
    /// The share of values below a point, in millionths, and the value there. Both ascend; the first share is 0 and the
    /// last 1,000,000.
    private let points: [(share: Int, value: Int)]

    init(_ points: [(share: Int, value: Int)]) {
        precondition(points.first?.share == 0 && points.last?.share == 1_000_000, "quantiles do not cover everything")
        self.points = points
    }

    /// Draws one value.
    func draw(_ random: inout SeededGenerator) -> Int {
        let share = Int.random(in: 0..<1_000_000, using: &random)
        // The first share is 0 and the last exceeds every drawn share, so there is a point on either side.
        let above = self.points.firstIndex { $0.share > share } ?? self.points.count - 1
        let (low, high) = (self.points[above - 1], self.points[above])
        return low.value + (high.value - low.value) * (share - low.share) / (high.share - low.share)
    }
}

/// A histogram of times in buckets with a width of at most 1.6 %, of constant size.
struct Histogram {
    private static let stepsPerDoubling = 64
    private var counts = [Int](repeating: 0, count: 64 * Histogram.stepsPerDoubling)
    private(set) var count = 0
    private(set) var maximum: Int64 = 0

    mutating func add(_ nanoseconds: Int64) {
        self.counts[Self.bucket(max(nanoseconds, 0))] += 1
        self.count += 1
        self.maximum = max(self.maximum, nanoseconds)
    }

    mutating func add(_ other: Histogram) {
        for index in self.counts.indices { self.counts[index] += other.counts[index] }
        self.count += other.count
        self.maximum = max(self.maximum, other.maximum)
    }

    /// Returns the time that the given part of all values does not exceed, ns.
    func quantile(_ part: Double) -> Int64 {
        var left = max(Int((Double(self.count) * part).rounded(.up)), 1)
        for (index, count) in self.counts.enumerated() {
            left -= count
            if left <= 0 { return min(Self.top(index), self.maximum) }
        }
        return self.maximum
    }

    private static func bucket(_ value: Int64) -> Int {
        guard value >= Int64(Self.stepsPerDoubling) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let step = Int(value >> (exponent - 6)) - Self.stepsPerDoubling
        return (exponent - 5) * Self.stepsPerDoubling + step
    }

    private static func top(_ bucket: Int) -> Int64 {
        guard bucket >= Self.stepsPerDoubling else { return Int64(bucket) }
        let exponent = bucket / Self.stepsPerDoubling + 5
        let step = bucket % Self.stepsPerDoubling + Self.stepsPerDoubling
        return (Int64(step + 1) << (exponent - 6)) - 1
    }
}

import Market

/// Adjoining periods of one round length: those of a chart's candles and volumes.
struct ChartPeriods: Equatable {
    /// The start of the first: a multiple of the width, ns.
    var start: Int64
    /// The length of each, ns.
    var width: Int64
    var count: Int

    var end: Int64 { self.start + self.width * Int64(self.count) }

    /// The length as the screen shows it: `1m`.
    var word: String { AlertSpan.write(self.width) }

    /// The round lengths, seconds.
    private static let widths: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400,
    ]

    /// Returns the smallest round length of which `most` periods hold `length` ns. It is a multiple of `unit`, so that
    /// each point of that width belongs to one period.
    static func width(holding length: Int64, most: Int, unit: Int64) -> Int64 {
        func holds(_ width: Int64) -> Bool { (length - 1) / width < Int64(max(most, 1)) }
        let round = Self.widths.lazy.map { $0 * 1_000_000_000 }.first { $0 % unit == 0 && holds($0) }
        if let round { return round }
        var width = max(unit, 86_400_000_000_000)
        while !holds(width), width < Int64.max / 4 { width *= 2 }
        return width
    }

    /// Returns the start of the period that contains a moment.
    static func start(of time: Int64, width: Int64) -> Int64 {
        let remainder = time % width
        return time - (remainder < 0 ? remainder + width : remainder)
    }

    /// Creates the periods that hold the range.
    init(_ range: Range<Int64>, width: Int64) {
        self.width = width
        self.start = Self.start(of: range.lowerBound, width: width)
        self.count = max(Int((range.upperBound - self.start + width - 1) / width), 0)
    }

    /// Creates as many periods, of which the last one contains `now`.
    init(upTo now: Int64, count: Int, width: Int64) {
        (self.width, self.count) = (width, count)
        self.start = Self.start(of: now, width: width) - Int64(count - 1) * width
    }

    /// Returns the place of the period that contains a moment; `nil` outside of all.
    func place(of time: Int64) -> Int? {
        time >= self.start && time < self.end ? Int((time - self.start) / self.width) : nil
    }
}

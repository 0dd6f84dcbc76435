import Market

/// The labelled moments below a chart.
struct TimeAxis {
    struct Label: Equatable {
        /// The column of the moment.
        var column: Int
        var text: String
    }

    var labels: [Label] = []

    private static let steps: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800,
        604_800, 2_592_000,
    ]

    /// Labels the round times of the clock.
    init(_ stretch: Range<Int64>, columns: Int, clock: ScreenClock = .utc) {
        let span = Double(stretch.upperBound) - Double(stretch.lowerBound)
        guard columns > 0, span > 0, span < 1e18 else { return }
        let perColumn = span / Double(columns)
        guard
            let seconds = Self.steps.first(where: { Double($0) * 1e9 / perColumn >= Double(Self.width($0) + 8) })
        else { return }
        let step = seconds * 1_000_000_000
        let start = clock.local(stretch.lowerBound)
        var local = start - (start % step + step) % step
        let end = clock.local(stretch.upperBound)
        while local < end {
            for time in clock.times(ofLocal: local) where stretch.contains(time) {
                let column = Int((Double(time) - Double(stretch.lowerBound)) / perColumn)
                let text = seconds >= 86_400 ? clock.date(time).dropFirst(5) : clock.timeOfDay(time)[...]
                self.labels.append(Label(column: column, text: String(text.prefix(Self.width(seconds)))))
            }
            local += step
        }
    }

    /// The width of `05:31:02` for steps below a minute, of `05:31` or `11-21` for longer ones.
    private static func width(_ seconds: Int64) -> Int { seconds < 60 ? 8 : 5 }
}

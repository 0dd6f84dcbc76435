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

    init(_ stretch: Range<Int64>, columns: Int) {
        let span = Double(stretch.upperBound) - Double(stretch.lowerBound)
        guard columns > 0, span > 0, span < 1e18 else { return }
        let perColumn = span / Double(columns)
        guard
            let seconds = Self.steps.first(where: { Double($0) * 1e9 / perColumn >= Double(Self.width($0) + 8) })
        else { return }
        let step = seconds * 1_000_000_000
        var time = stretch.lowerBound - (stretch.lowerBound % step + step) % step
        while time < stretch.upperBound {
            if time >= stretch.lowerBound {
                let column = Int((Double(time) - Double(stretch.lowerBound)) / perColumn)
                let text = UTCText.timestamp(time)
                let from = text.index(text.startIndex, offsetBy: seconds >= 86_400 ? 5 : 11)
                self.labels.append(Label(column: column, text: String(text[from...].prefix(Self.width(seconds)))))
            }
            time += step
        }
    }

    /// The width of `05:31:02` for steps below a minute, of `05:31` or `11-21` for longer ones.
    private static func width(_ seconds: Int64) -> Int { seconds < 60 ? 8 : 5 }
}

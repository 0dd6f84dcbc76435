import Market

/// The price movement in one column of a chart.
enum ChartSample: Equatable {
    /// Before the first price, in a gap, or in the future.
    case unknown
    /// No trade in this column: the price is unchanged.
    case held(Double)
    case traded(low: Double, high: Double, close: Double)

    /// Returns the samples of a series from `from` to `to`.
    ///
    /// - Parameters:
    ///   - now: the end of the drawing.
    ///   - isCut: whether the connection is lost, so that the price since the newest trade is unknown.
    static func samples(
        of series: PriceSeries,
        from: Int64,
        to: Int64,
        now: Int64,
        isCut: Bool,
        columns: Int
    ) -> [ChartSample] {
        var samples = [ChartSample](repeating: .unknown, count: max(columns, 0))
        guard columns > 0, to > from, series.count > 0 else { return samples }
        let scale = Double(columns) / (Double(to) - Double(from))
        func column(_ time: Int64) -> Int {
            let place = (Double(time) - Double(from)) * scale
            return place < 0 ? -1 : (place >= Double(columns) ? columns : Int(place))
        }
        var held: Double?
        var next = 0
        // The last point before the range has the price at the range's start.
        for index in max(0, series.index(from: from) - 1)..<series.count {
            let point = series[index]
            let place = column(point.start)
            guard place < columns else { break }
            let close = point.close.approximation
            guard close.isFinite, point.low.isFinite, point.high.isFinite else { continue }
            if point.followsGap {
                // A gap always gets a column, even if it is shorter.
                if place > 0, next == place, place < columns { samples[place - 1] = .unknown }
            } else if let held, next < place {
                for column in next..<place { samples[column] = .held(held) }
            }
            held = close
            next = max(next, place + 1)
            guard place >= 0 else {
                // A point that spans the start appears in the first column, even before a gap.
                if point.start + series.width > from { (samples[0], next) = (.held(close), 1) }
                continue
            }
            if case .traded(let low, let high, _) = samples[place] {
                samples[place] = .traded(low: min(low, point.low), high: max(high, point.high), close: close)
            } else {
                samples[place] = .traded(low: point.low, high: point.high, close: close)
            }
        }
        let present = min(column(now), columns - 1)
        if let held, !isCut, next <= present {
            for column in next...present { samples[column] = .held(held) }
        }
        return samples
    }

    var low: Double? {
        switch self {
        case .unknown: nil
        case .held(let price): price
        case .traded(let low, _, _): low
        }
    }

    var high: Double? {
        switch self {
        case .unknown: nil
        case .held(let price): price
        case .traded(_, let high, _): high
        }
    }

    var close: Double? {
        switch self {
        case .unknown: nil
        case .held(let price): price
        case .traded(_, _, let close): close
        }
    }
}

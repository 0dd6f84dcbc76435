import Glibc

/// The benchmark of the latency from the upstream's frame to the price on the terminal.
struct ScreenBenchmark {
    private static let columns: UInt16 = 100
    private static let lines: UInt16 = 30
    /// Two prices whose repeated digits occur nowhere else on the screen.
    private static let prices = (low: "111111.11", high: "888888.88")
    private static let marks = (low: Array("111".utf8), high: Array("888".utf8))
    private static let tradesPerSecond = 100

    let bench: Workbench

    func rows() throws -> [Row] {
        var firsts: [Double] = []
        var starts: [Double] = []
        var latency = Histogram()
        for round in 1...self.bench.options.rounds {
            Workbench.say("screen: round \(round)")
            let result = try self.measure()
            firsts.append(Double(result.first) / 1e6)
            starts.append(Double(result.start) / 1e6)
            latency.add(result.latency)
        }
        return [
            Row([
                "screen": .text("\(Self.columns)x\(Self.lines)"),
                "start_to_subscribe_ms": .number(starts.median, digits: 1),
                "first_price_ms": .number(firsts.median, digits: 1),
                "trades_s": .count(Self.tradesPerSecond),
                "changes": .count(latency.count),
                "p50_ms": .number(Double(latency.quantile(0.5)) / 1e6, digits: 1),
                "p99_ms": .number(Double(latency.quantile(0.99)) / 1e6, digits: 1),
                "max_ms": .number(Double(latency.maximum) / 1e6, digits: 1),
            ])
        ]
    }

    /// Returns the times from the start to the subscribe, from the first frame to its price, and from each later frame
    /// to its change.
    private func measure() throws -> (start: Int64, first: Int64, latency: Histogram) {
        let terminal = try Terminal(columns: Self.columns, lines: Self.lines)
        let finnhub = try FakeFinnhub()
        let started = Clock.now()
        let process = try self.bench.startProgram(
            upstream: finnhub,
            ["--format", "tui", "--relay", "off"],
            terminal: terminal.path,
            environment: ["TERM": "xterm-256color", "NO_COLOR": "1", "LANG": "C.UTF-8"]
        )
        defer { process.stop() }
        try finnhub.accept(process)
        let subscribed = Clock.now()
        // The screen is drawn before the first price arrives.
        try terminal.discard(milliseconds: 500)

        let sent = Clock.now()
        try finnhub.send(TradeMessage.frame(number: 0, price: Self.prices.low))
        guard try terminal.wait(for: Self.marks.low, milliseconds: 5_000) else {
            throw BenchmarkFailure("the first price is not shown; there is only: \(terminal.text)")
        }
        let shown = Clock.now()
        // One rise and one fall fix the session's high and low, so that only the price changes afterwards.
        for (number, price) in [Self.prices.high, Self.prices.low].enumerated() {
            try finnhub.send(TradeMessage.frame(number: number + 1, price: price))
            try terminal.discard(milliseconds: 1_000)
        }
        return (subscribed - started, shown - sent, try self.changes(from: finnhub, on: terminal))
    }

    /// Sends trades at a constant rate, with some price changes, and returns the times until the changes are shown.
    private func changes(from finnhub: FakeFinnhub, on terminal: Terminal) throws -> Histogram {
        var latency = Histogram()
        let interval = Clock.second / Int64(Self.tradesPerSecond)
        let end = Clock.now() + Int64(self.bench.options.seconds) * Clock.second
        var due = Clock.now()
        var number = 3
        var isHigh = false
        var tradesToChange = 30
        /// The time of the sent change that is not shown yet.
        var changed: Int64?
        while Clock.now() < end || changed != nil {
            if Clock.now() >= due {
                due += interval
                number += 1
                tradesToChange -= 1
                if tradesToChange <= 0, changed == nil {
                    isHigh.toggle()
                    // The varying distance spreads the changes over all phases of the screen's refresh.
                    tradesToChange = 30 + number % 7
                    changed = Clock.now()
                }
                try finnhub.send(TradeMessage.frame(number: number, price: isHigh ? Self.prices.high : Self.prices.low))
            }
            try terminal.take(milliseconds: 1)
            if let since = changed {
                if terminal.shows(isHigh ? Self.marks.high : Self.marks.low) {
                    latency.add(Clock.now() - since)
                    changed = nil
                } else if Clock.now() - since > 5 * Clock.second {
                    throw BenchmarkFailure("a price is not shown; there is only: \(terminal.text)")
                }
            }
            if changed == nil { terminal.forget() }
        }
        return latency
    }
}

import Market
import TLS

extension TapeChecker {
    /// Compares the program's report of each symbol and hour with the tape and the market.
    func check(_ hours: [CompletenessHour]) {
        let places = self.market.symbols.indices.map { self.places(of: $0) }
        let lost = self.outcomes.map { ($0.symbol, $0.lost) }
        self.check(hours, places: places, lost: lost) { symbol in
            guard let first = places[symbol].first, let last = places[symbol].last else { return 0 }
            return last - first + 1 - places[symbol].count
        }
    }

    /// Compares a report with places of the market.
    ///
    /// - Parameters:
    ///   - places: of the trades that it must have, by symbol, in ascending order.
    ///   - lost: ids by symbol. An hour with a trade that was lost and came nevertheless may have no hash.
    ///   - missing: returns how many trades of a symbol must be missing.
    func check(
        _ hours: [CompletenessHour],
        places: [[Int]],
        lost: [(symbol: String, ids: [ClosedRange<UInt64>])],
        missing: (Int) -> Int
    ) {
        for (symbol, name) in self.market.symbols.enumerated() {
            let own = hours.filter { $0.symbol == name }
            let truth = self.market.columns[symbol]
            let places = places[symbol]
            let lost = lost.filter { $0.symbol == name }.flatMap(\.ids)
            for hour in own {
                let within = places.filter { CompletenessHour.start(of: truth.times[$0]) == hour.start }
                let (first, last) = (within.first, within.last)
                if hour.count != UInt64(within.count) || hour.first != first.map({ truth.first + UInt64($0) })
                    || hour.last != last.map({ truth.first + UInt64($0) })
                {
                    self.fault("the report of \(name) is wrong: \(hour), but \(within.count) trades are on the tape")
                }
                var digest = RunningSHA256()
                for place in within { truth.line(place).withUnsafeBytes { digest.take($0) } }
                let mayBeVoid = within.contains { place in lost.contains { $0.contains(truth.first + UInt64(place)) } }
                if hour.sha256 != digest.finish(), hour.sha256 != nil || !mayBeVoid {
                    self.fault("the report of \(name) has another hash: \(hour.reason ?? hour.sha256 ?? "none")")
                }
            }
            // A report has the newest 48 hours of a symbol.
            let oldest = own.count < 48 ? Int64.min : own.map(\.start).min() ?? .min
            let reported = places.count { CompletenessHour.start(of: truth.times[$0]) >= oldest }
            let (count, lacking) = own.reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.missing) }
            if count != UInt64(reported) {
                self.fault("the report of \(name) has \(count) trades instead of \(reported)")
            }
            let expected = missing(symbol)
            if lacking != UInt64(expected) {
                self.fault("the report of \(name) has \(lacking) missing instead of \(expected)")
            }
        }
    }
}

import Market
import TLS

extension TapeChecker {
    /// Compares the program's report of each symbol and hour with the tape and the market.
    func check(_ hours: [CompletenessHour]) {
        for (symbol, name) in self.market.symbols.enumerated() {
            let own = hours.filter { $0.symbol == name }
            let truth = self.market.columns[symbol]
            let places = self.places(of: symbol)
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
                if hour.sha256 != digest.finish() {
                    self.fault("the report of \(name) has another hash: \(hour.reason ?? hour.sha256 ?? "none")")
                }
            }
            guard let first = places.first, let last = places.last else { continue }
            let (count, missing) = own.reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.missing) }
            if count != UInt64(places.count) {
                self.fault("the report of \(name) has \(count) trades instead of \(places.count)")
            }
            if missing != UInt64(last - first + 1 - places.count) {
                self.fault("the report of \(name) has \(missing) missing of \(last - first + 1 - places.count)")
            }
        }
    }
}

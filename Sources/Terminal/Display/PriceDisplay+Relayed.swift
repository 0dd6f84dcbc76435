package import Market
import NIOCore

/// What a relay says, for `watch`: prices that somebody else has debounced.
extension PriceDisplay {
    /// Takes a price that somebody else has debounced already: a relay, for `watch`. On the loop only.
    ///
    /// - Parameter age: how long ago its trade arrived there, ns; `nil` for one that has just come.
    package func show(_ update: PriceUpdate, age: Int64? = nil) {
        let now = self.now
        self.state.withValue { state in
            if let age {
                // A snapshot is told of what is followed anew; what was held back when a symbol was given up is a price.
                state.model.admission.subscribe(update.summary.symbol)
                // One that was there before us says nothing of how long the way takes.
                state.model.take(update, now: now, age: age)
                self.output.show(.snapshot(update, arrived: now - age))
            } else {
                self.show([update], in: &state, now: now)
            }
            state.model.chart(update.summary, now: now, age: age ?? 0)
            // After a break there may be a hundred thousand in a row.
            if age != nil { self.publishSoon(&state) } else { self.publishPrices(&state, now: now) }
        }
    }

    /// Takes which symbols a relay has, for an output that is to wait for all of them.
    package func expect(_ symbols: [String]) {
        self.output.show(.expected(symbols))
    }

    /// Notes that trades came without a new price, from a relay. On the loop only.
    package func observe(_ summary: SymbolSummary) {
        let now = self.now
        self.state.withValue { state in
            state.model.observe(summary, now: now)
            state.model.chart(summary, now: now)
            self.publishPrices(&state, now: now)
        }
    }
}

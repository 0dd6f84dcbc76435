package import Market
import NIOCore

/// The display of a relay's messages, for `watch`: prices that the relay has debounced.
extension PriceDisplay {
    /// Takes a debounced price from a relay, for `watch`. On the loop only.
    ///
    /// - Parameter age: how long ago its trade arrived at the relay, ns; `nil` for a trade that has just arrived.
    package func show(_ update: PriceUpdate, age: Int64? = nil) {
        let now = self.now
        self.withState { state in
            if let age {
                // A snapshot belongs to a new subscription. A price without an age may be one held back while the
                // symbol was released.
                state.model.admission.subscribe(update.summary.symbol)
                // A trade from before the subscription does not measure the transmission time.
                state.model.take(update, now: now, age: age)
                self.output.show(.snapshot(update, arrived: now - age))
            } else {
                self.show([update], in: &state, now: now)
            }
            state.model.chart(update.summary, now: now, age: age ?? 0)
            // After a reconnect, a hundred thousand updates may follow one another.
            if age != nil { self.publishSoon(&state) } else { self.publishPrices(&state, now: now) }
        }
    }

    /// Takes the relay's symbols, for an output that waits for a price of each.
    package func expect(_ symbols: [String]) {
        self.output.show(.expected(symbols))
    }

    /// Takes trades from a relay without a new price. On the loop only.
    package func observe(_ summary: SymbolSummary) {
        let now = self.now
        self.withState { state in
            state.model.observe(summary, now: now)
            state.model.chart(summary, now: now)
            self.publishPrices(&state, now: now)
        }
    }
}

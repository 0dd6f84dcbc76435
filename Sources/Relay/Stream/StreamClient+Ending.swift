import NIOCore
import Wire

/// The end of a client of `/v1/stream`: the reports of the data that it no longer gets.
extension StreamClient {
    /// Prepares for the end of the relay: nothing that the client waits for comes any more, and from now on all
    /// messages are written at once. First comes the report of the missed trades or, if the client is closed for them,
    /// its close frame.
    func willStop() {
        guard self.isOpen else { return }
        self.isLast = true
        if self.catchUp != nil, !self.endCatchUp() { return }
        self.pace.endWaiting()
    }

    /// Shows the last prices: the newest of each symbol with trades that were not reported to the client.
    func showLast() {
        guard self.isOpen else { return }
        self.showPostponed()
        self.showAllUnreported()
        self.pace.endWaiting()
    }

    /// - Parameter missed: the missed trades, without those still to be resumed and those between two prices.
    func closeTooSlow(missed: UInt64) {
        guard self.isOpen else { return }
        let missed = missed + self.countRestOfCatchUp() + self.unreportedTrades
        self.closeSlow(missed: missed, reason: "too slow: \(missed) trades missed")
    }

    /// Skips the trades still to be resumed; returns the report of that.
    private func leaveOutRest() -> (frames: ByteBuffer, messages: Int) {
        var out = ByteBuffer()
        var messages = 0
        var isDone = false
        while !isDone {
            var step = ByteBuffer()
            isDone = !self.advance(&step, &messages, leavesOut: true)
            out.writeImmutableBuffer(step)
        }
        return (out, messages)
    }

    /// Ends the catch-up; returns whether the client stays. It is closed if it takes all trades or none and some were
    /// still to come.
    private func endCatchUp() -> Bool {
        let place = self.catchUp
        let missed = self.countRestOfCatchUp()
        self.catchUp = place
        guard !self.closesWhenBehind || missed == 0 else {
            self.closeTooSlow(missed: self.pace.missed)
            return false
        }
        let before = self.catchUp?.missedInAll ?? 0
        let rest = self.leaveOutRest()
        self.context.noteSkipped((self.catchUp?.missedInAll ?? before) - before)
        self.write(rest.frames, messages: rest.messages)
        self.caughtUp()
        return true
    }

    /// Returns how many of the trades still to be resumed a client misses that is closed now.
    private func countRestOfCatchUp() -> UInt64 {
        guard let before = self.catchUp else { return 0 }
        _ = self.leaveOutRest()
        guard let after = self.catchUp else { return 0 }
        // The missed and unreported trades, and the trades of symbols that it would have got by their newest price.
        return after.missedInAll - before.missedInAll + before.missed + after.trades - before.trades
    }
}

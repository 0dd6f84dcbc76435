import NIOCore
import Wire

/// The end of a client of `/v1/stream`: what it is told of what it does not get any more.
extension StreamClient {
    /// The relay ends, and nothing that a client waits for comes any more: from now on all is written at once. First what it
    /// has missed so far, or, where it is to be closed for that, its end.
    func willStop() {
        guard self.isOpen else { return }
        self.isLast = true
        if self.catchUp != nil, !self.endCatchUp() { return }
        self.output.endWaiting()
    }

    /// The last that a client is shown: the newest of each symbol of which it has not been told all trades.
    func showLast() {
        guard self.isOpen else { return }
        self.showPostponed()
        self.showAllUntold()
        self.output.endWaiting()
    }

    /// - Parameter missed: the trades that it has missed beside those that were still to come: on its way from where it left
    ///   off, and between two prices.
    func closeTooSlow(missed: UInt64) {
        guard self.isOpen else { return }
        let missed = missed + self.countRestOfCatchUp() + self.untoldTrades
        self.hub.noteSlowClient(missed: missed)
        self.close(.tryAgainLater, reason: "too slow: \(missed) trades missed")
    }

    /// Leaves out the trades that are still to come, and returns how that is told.
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

    /// Ends the way of a client to whom nothing comes any more; returns whether it stays: it is closed where it takes all trades
    /// or none, and some were still to come.
    private func endCatchUp() -> Bool {
        let place = self.catchUp
        let missed = self.countRestOfCatchUp()
        self.catchUp = place
        guard !self.closesWhenBehind || missed == 0 else {
            self.closeTooSlow(missed: self.output.missed)
            return false
        }
        let before = self.catchUp?.missedInAll ?? 0
        let rest = self.leaveOutRest()
        self.hub.noteSkipped((self.catchUp?.missedInAll ?? before) - before)
        self.write(rest.frames, messages: rest.messages)
        self.caughtUp()
        return true
    }

    /// How many trades a client that is closed on its way does not get of those that were still to come.
    private func countRestOfCatchUp() -> UInt64 {
        guard let before = self.catchUp else { return 0 }
        _ = self.leaveOutRest()
        guard let after = self.catchUp else { return 0 }
        // What it has missed and not been told, and the trades of symbols that it would have been shown by their newest price.
        return after.missedInAll - before.missedInAll + before.missed + after.trades - before.trades
    }
}

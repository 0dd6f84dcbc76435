import Market
import NIOCore
import Wire

/// The debounced prices of `/v1/stream`: who is shown what, and the timers that see to it.
extension RelayHub {
    /// Returns the row of a symbol, which appears by being asked for if it has not traded.
    func row(of symbol: String) -> Int {
        let before = self.desk.rowCount
        let row = self.desk.row(of: symbol)
        if self.desk.rowCount > before { self.appeared(row) }
        return row
    }

    func appeared(_ row: Int) {
        for client in self.streamClients.values { client.appeared(row) }
    }

    func show(_ showings: [PriceDesk.Showing]) {
        for showing in showings {
            var frames = PriceFrames(showing.update)
            for client in self.streamClients.values { client.show(showing, frames: &frames) }
            self.noteShown(showing.update)
        }
        self.armPriceTimer()
    }

    /// Sees to it that the timer fires no later than the desk's deadline. One that fires too early looks again.
    private func armPriceTimer() {
        guard let deadline = self.desk.deadline else { return }
        if let timer = self.priceTimer {
            if timer.at <= deadline { return }
            timer.task.cancel()
        }
        let task = self.loop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(UInt64(deadline))) {
            self.priceTimer = nil
            self.show(self.desk.fire(now: Int64(NIODeadline.now().uptimeNanoseconds)))
            self.flush()
        }
        self.priceTimer = (deadline, task)
    }

    /// A market whose price stands still is alive: its trades are told of, though no price is.
    func armActivityTimer() {
        guard self.activityTimer == nil, !self.streamClients.isEmpty else { return }
        self.activityTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.activityInterval) {
            self.activityTimer = nil
            for activity in self.desk.takeActivity() {
                let frame = Self.framed(StreamEncoder.trades(activity.summary))
                for client in self.streamClients.values { client.showActivity(activity.row, frame: frame) }
            }
            self.flush()
        }
    }

    /// Notes a price that the next flush shows to somebody.
    func noteShown(_ update: PriceUpdate) {
        guard !self.streamClients.isEmpty else { return }
        if update.skipped > 0 { self.skipped.stream.increment(by: Int64(clamping: update.skipped)) }
        guard let age = self.age(ofArrival: update.summary.received) else { return }
        self.shownArrivals.append(Int64(NIODeadline.now().uptimeNanoseconds) - age)
    }

    /// How long ago something arrived by our wall clock, ns; never negative.
    func age(ofArrival received: Int64) -> Int64? {
        guard let lastArrival else { return nil }
        let now = Int64(NIODeadline.now().uptimeNanoseconds)
        return max(0, now - lastArrival.monotonic + (lastArrival.received - received))
    }
}

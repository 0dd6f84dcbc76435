import Market

/// The watchlist of the person at the screen, and the log of events.
extension DisplayModel {
    /// Records that a symbol is being subscribed: its prices count from now on, even if it was removed before.
    mutating func symbolAwaited(_ symbol: String) {
        self.admission.request(symbol)
    }

    /// Records that a subscription failed; a symbol that was removed before is hidden again.
    mutating func symbolDenied(_ symbol: String) {
        if self.admission.refuse(symbol) { self.symbolRemoved(symbol) }
    }

    /// Adds a symbol to the end of the watchlist.
    mutating func symbolAdded(_ symbol: String) {
        self.admission.accept(symbol)
        guard self.rankOf[symbol] == nil else { return }
        self.rankOf[symbol] = (self.rankOf.values.max() ?? -1) + 1
        // A symbol that others subscribe to already keeps its row, at its new position.
        if let row = self.rowOf[symbol] {
            let known = self.state.rows.remove(at: row)
            self.state.rows.insert(known, at: self.placeOfNewRow(symbol))
            self.countRows()
        } else if !self.state.waiting.contains(symbol) {
            self.state.waiting.append(symbol)
        }
    }

    /// Takes the last known price of a symbol without a row. It counts as an old price, not as a new trade.
    ///
    /// - Parameter age: its age, ns.
    mutating func recalled(_ summary: SymbolSummary, age: Int64, now: Int64) {
        guard self.rowOf[summary.symbol] == nil else { return }
        self.take(PriceUpdate(summary: summary, skipped: 0), now: now, age: max(age, 1))
    }

    /// Removes a symbol from the watchlist and the screen, although its trades may still arrive for others.
    mutating func symbolRemoved(_ symbol: String) {
        self.rankOf[symbol] = nil
        self.state.waiting.removeAll { $0 == symbol }
        self.state.symbolStates[symbol] = nil
        self.removeRow(symbol)
        self.admission.remove(symbol)
    }

    /// Adds an entry to the event log: an action of the person, or one on their behalf.
    mutating func happened(_ text: String, isTrouble: Bool = false, at wall: Int64) {
        self.log.add(text, isTrouble: isTrouble, at: wall)
    }

    /// Takes the position of the replay; `now` in monotonic ns.
    mutating func replayMoved(_ position: ReplayPosition?, now: Int64) {
        let isNews = self.state.replay != nil
        if position?.isPaused == true {
            for index in self.state.rows.indices { self.state.rows[index].history.stoodStill() }
        }
        self.state.replay = position
        let isStill = position?.isPaused ?? false || self.state.status.phase == .ended
        self.state.pauses.took(isPaused: isStill, now: now, isNews: isNews)
    }

    /// Returns the index for a new row: in the order of the watchlist, with other symbols at the end.
    func placeOfNewRow(_ symbol: String) -> Int {
        let rank = self.rankOf[symbol] ?? .max
        return self.state.rows.firstIndex { (self.rankOf[$0.summary.symbol] ?? .max) > rank } ?? self.state.rows.count
    }

    /// Removes the row of a symbol, if there is one.
    mutating func removeRow(_ symbol: String) {
        guard let row = self.rowOf[symbol] else { return }
        self.state.rows.remove(at: row)
        self.countRows()
    }

    mutating func countRows() {
        self.rowOf = [:]
        for index in self.state.rows.indices { self.rowOf[self.state.rows[index].summary.symbol] = index }
    }
}

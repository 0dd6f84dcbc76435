import Market

/// Symbols that the person at the screen adds and removes, and the log of what befell the feed.
extension DisplayModel {
    /// Notes that a symbol is being asked for: what comes of it from now on counts, though it was removed before.
    mutating func symbolAwaited(_ symbol: String) {
        self.admission.request(symbol)
    }

    /// Notes that a symbol that was awaited cannot be had: one that was removed before is hidden again.
    mutating func symbolDenied(_ symbol: String) {
        if self.admission.refuse(symbol) { self.symbolRemoved(symbol) }
    }

    /// Takes a symbol that is wanted from now on, behind those that were before.
    mutating func symbolAdded(_ symbol: String) {
        self.admission.accept(symbol)
        guard self.rankOf[symbol] == nil else { return }
        self.rankOf[symbol] = (self.rankOf.values.max() ?? -1) + 1
        // One that somebody else's wish has brought already keeps its row, in its new place.
        if let row = self.rowOf[symbol] {
            let known = self.state.rows.remove(at: row)
            self.state.rows.insert(known, at: self.placeOfNewRow(symbol))
            self.countRows()
        } else if !self.state.waiting.contains(symbol) {
            self.state.waiting.append(symbol)
        }
    }

    /// Takes what was known of a symbol all the time, where nothing is shown of it: the price of then, and no trade of now.
    ///
    /// - Parameter age: how old it is, ns.
    mutating func recalled(_ summary: SymbolSummary, age: Int64, now: Int64) {
        guard self.rowOf[summary.symbol] == nil else { return }
        self.take(PriceUpdate(summary: summary, skipped: 0), now: now, age: max(age, 1))
    }

    /// Notes that a symbol is not wanted any more: it goes, though its trades may come for somebody else.
    mutating func symbolRemoved(_ symbol: String) {
        self.rankOf[symbol] = nil
        self.state.waiting.removeAll { $0 == symbol }
        self.state.symbolStates[symbol] = nil
        self.removeRow(symbol)
        self.admission.remove(symbol)
    }

    /// Takes something that the person did, or that was done for them, for the event log.
    mutating func happened(_ text: String, isTrouble: Bool = false, at wall: Int64) {
        self.log.add(text, isTrouble: isTrouble, at: wall)
    }

    /// Takes where the replay stands; `now` in monotonic ns.
    mutating func replayMoved(_ position: ReplayPosition?, now: Int64) {
        let isNews = self.state.replay != nil
        if position?.isPaused == true {
            for index in self.state.rows.indices { self.state.rows[index].history.stoodStill() }
        }
        self.state.replay = position
        let isStill = position?.isPaused ?? false || self.state.status.phase == .ended
        self.state.pauses.took(isPaused: isStill, now: now, isNews: isNews)
    }

    /// Where a row of a symbol belongs: in the order of the watchlist, and those that nobody named behind.
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

package import Market

// The symbols that the service does not send.
extension SymbolMonitor {
    /// Takes a refusal of the service; returns whether it concerns a subscribed symbol.
    ///
    /// A refusal without a name is assigned by the order of the subscriptions. The service gives its places to the first
    /// ones, so if there are too many it refuses the newest that has not traded yet, and a number of errors refuses the
    /// same number of symbols. Any other refusal answers the oldest request that may still be answered. Both are
    /// suspicions. The first trade of the symbol disproves one; then another symbol is suspected.
    @discardableResult
    package mutating func refusalArrived(_ refusal: SymbolRefusal, now: Moment) -> Bool {
        guard self.opened != nil else { return false }
        if let named = self.named(in: refusal) {
            self.refuse(named, refusal.kind, text: refusal.text, isGuess: false, now: now)
            return true
        }
        // The error names a symbol that is no longer wanted, or that another program subscribed to.
        if refusal.symbol != nil { return false }
        return self.suspect(refusal.kind, text: refusal.text, now: now)
    }

    private func named(in refusal: SymbolRefusal) -> Int? {
        if let symbol = refusal.symbol { return self.place(of: symbol) }
        return self.entries.indices
            .filter { refusal.text.contains(self.entries[$0].symbol) && self.entries[$0].order > 0 }
            .max { self.entries[$0].symbol.utf8.count < self.entries[$1].symbol.utf8.count }
    }

    /// Refuses the symbol that an error without a name most likely means.
    @discardableResult
    mutating func suspect(_ kind: SymbolStatus.Refusal, text: String, now: Moment) -> Bool {
        let open = self.entries.indices.filter { place in
            let entry = self.entries[place]
            return entry.order > 0 && !entry.isConfirmed && (entry.refusal == nil || entry.refusal?.isRetried == true)
        }
        let place: Int?
        switch kind {
        case .overLimit:
            place = open.max { self.entries[$0].order < self.entries[$1].order }
        case .noSuchSymbol, .notPermitted:
            place =
                open.filter { now.monotonic - self.entries[$0].askedAt < Self.answerTime }
                .min { self.entries[$0].order < self.entries[$1].order }
        }
        guard let place else { return false }
        self.refuse(place, kind, text: text, isGuess: true, now: now)
        return true
    }

    private mutating func refuse(
        _ place: Int,
        _ kind: SymbolStatus.Refusal,
        text: String,
        isGuess: Bool,
        now: Moment
    ) {
        if let known = self.entries[place].refusal, known.kind == kind, !known.isRetried, !known.isHeld {
            // A repeated error is not a second refusal. Otherwise a service that repeats itself would cost the symbol
            // an hour.
            self.entries[place].refusal?.isGuess = known.isGuess && isGuess
            return
        }
        let count = (self.entries[place].refusal?.count ?? 0) + 1
        let first = kind == .overLimit ? self.settings.retryOverLimit : self.settings.retryRefused
        let wait = first.doubled(times: count - 1, limit: max(self.settings.retryLimit, first))
        let retryAt = now.monotonic + wait
        self.entries[place].refusal = Refusal(kind: kind, count: count, retryAt: retryAt, isGuess: isGuess)
        self.entries[place].episode = nil
        self.clocks[place].isLive = false
        self.change(place, to: .refused(kind, retryAt: now.wall(at: retryAt)), reason: text, now: now)
        // The symbol has no place at the service, so another one may have it. If there are too many symbols, no place
        // is free.
        if kind != .overLimit { self.placeBecameFree(now: now) }
    }

    /// Holds a symbol beyond the limit back without a request to the service.
    mutating func hold(_ place: Int, now: Moment) {
        let retryAt = now.monotonic + self.settings.retryLimit
        self.entries[place].refusal = Refusal(kind: .overLimit, count: 1, retryAt: retryAt, isHeld: true)
        self.change(
            place,
            to: .refused(.overLimit, retryAt: now.wall(at: retryAt)),
            reason: "\(self.entries[place].symbol) is one more than the \(self.limit) symbols of "
                + (self.limitOwner.map { "one connection to \($0)" } ?? "upstream.max-symbols"),
            now: now
        )
    }

    /// Whether a connection has anything to request.
    var hasRequestable: Bool { self.entries.contains { $0.refusal?.isHeld != true } }

    /// Whether the service is known not to have a symbol.
    var hasUnlisted: Bool {
        self.entries.contains { $0.refusal?.isHeld == true && $0.refusal?.kind == .noSuchSymbol }
    }

    /// Whether requests wait to be sent.
    var hasWaitingRequests: Bool { self.pacer.deadline != nil }

    /// Refuses the symbols that the service is known not to have, without a request, and requests those that it has
    /// after all.
    ///
    /// - Parameter fault: the words about a symbol that the service does not have.
    mutating func check(_ fault: (String) -> String?, now: Moment) {
        for place in self.entries.indices {
            let symbol = self.entries[place].symbol
            let refusal = self.entries[place].refusal
            if let refusal {
                guard refusal.isHeld, refusal.kind == .noSuchSymbol, fault(symbol) == nil else { continue }
                self.retry(place, now: now)
            } else if let words = fault(symbol) {
                _ = self.pacer.remove(.subscribe(symbol))
                let retryAt = now.monotonic + self.settings.retryLimit
                self.entries[place].refusal = Refusal(kind: .noSuchSymbol, count: 1, retryAt: retryAt, isHeld: true)
                self.entries[place].episode = nil
                self.clocks[place].disconnected()
                self.change(
                    place,
                    to: .refused(.noSuchSymbol, retryAt: now.wall(at: retryAt)),
                    reason: words,
                    now: now
                )
                self.placeBecameFree(now: now)
            }
        }
    }

    /// Subscribes to the first symbol without a place, after another one was unsubscribed or refused.
    mutating func placeBecameFree(now: Moment) {
        guard self.acceptedCount < self.limit else { return }
        let place = self.entries.firstIndex { entry in
            entry.refusal?.kind == .overLimit && entry.refusal?.isRetried == false
        }
        if let place { self.retry(place, now: now) }
    }

    private mutating func retry(_ place: Int, now: Moment) {
        guard self.acceptedCount < self.limit else { return self.hold(place, now: now) }
        if self.entries[place].refusal?.isHeld == true {
            self.entries[place].refusal = nil
            self.change(place, to: .asked, reason: nil, now: now)
        } else {
            self.entries[place].refusal?.isRetried = true
            self.entries[place].askedAt = now.monotonic
        }
        self.ask(place)
    }

    private func retryDeadline(_ place: Int) -> Int64? {
        guard let refusal = self.entries[place].refusal, self.opened != nil else { return nil }
        return refusal.isRetried ? self.entries[place].askedAt + Self.answerTime : refusal.retryAt
    }

    /// When a refused symbol is due for a new request or a decision; monotonic ns.
    var refusalDeadline: Int64? { self.entries.indices.compactMap { self.retryDeadline($0) }.min() }

    /// Repeats the subscription to symbols that were refused long ago. A symbol without a new refusal in time counts as
    /// accepted.
    mutating func retryRefused(_ now: Moment) {
        for place in self.entries.indices {
            guard let due = self.retryDeadline(place), now.monotonic >= due else { continue }
            if self.entries[place].refusal?.isRetried == true {
                guard !self.pacer.holds(.subscribe(self.entries[place].symbol)) else {
                    self.entries[place].askedAt = now.monotonic
                    continue
                }
                self.entries[place].refusal = nil
                self.change(place, to: .asked, reason: nil, now: now)
            } else {
                self.retry(place, now: now)
            }
        }
    }
}

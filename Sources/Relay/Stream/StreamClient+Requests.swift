import Market
import NIOCore
import WebSocket
import Wire

/// The requests of a client of `/v1/stream`.
extension StreamClient {
    /// A request that waits for the end of the catch-up.
    struct Deferred {
        var request: StreamRequest
        /// The size of its message, bytes.
        var bytes: Int
    }

    /// The most requests that wait for the end of the catch-up. Their bytes are limited to the size of one message.
    private static let maximumDeferred = 64
    /// How many symbols in one request cost as much as another request.
    private static let symbolsPerRequest = 64

    /// - Parameter bytes: the size of the message.
    func requested(_ request: StreamRequest?, bytes: Int) {
        var cost = 1
        switch request {
        case .subscribe(let symbols, _, let since):
            cost += symbols.count / Self.symbolsPerRequest + (since == nil ? 0 : RequestAllowance.costOfResuming)
        case .unsubscribe(let symbols), .subscribeBars(let symbols, _), .unsubscribeBars(let symbols, _):
            cost += symbols.count / Self.symbolsPerRequest
        case .overflow, .ping, .replay, .faulty, .other, nil: break
        }
        switch self.allowance.requested(cost: cost, now: self.context.now) {
        case .allowed: self.take(request, bytes: bytes)
        case .refused: self.notify(.error("Too many requests; slow down", code: "rate-limited"))
        case .flood: self.close(.policy, reason: "too many requests")
        }
    }

    private func take(_ request: StreamRequest?, bytes: Int) {
        switch request {
        case .subscribe(let symbols, let delivery, let since):
            if self.isDeferred(request, bytes, always: since != nil || delivery != nil) { return }
            self.subscribe(symbols, delivery: delivery, since: since)
        case .unsubscribe(let symbols):
            if self.isDeferred(request, bytes, always: false) { return }
            self.unsubscribe(symbols)
        case .subscribeBars(let symbols, let width):
            self.subscribe(symbols, bars: width)
        case .unsubscribeBars(let symbols, let width):
            self.unsubscribe(symbols, bars: width)
        case .overflow(let policy):
            self.overflow = policy
            self.policyChanged()
        case .ping(let id):
            self.notify(.pong(id: id, time: self.context.wallClock()))
        case .replay(let text):
            self.askReplay(text)
        case .faulty(let fault):
            self.notify(.error(fault.message, code: fault.code))
        case .other(let type):
            let text =
                "Unknown type \(SymbolErrors.excerpt(of: type)); use subscribe, unsubscribe, overflow, ping or replay"
            self.notify(.error(text, code: "unknown-type"))
        case nil:
            let text = #"Invalid message; send {"type":"subscribe","symbol":"…"}"#
            self.notify(.error(text, code: "invalid-message"))
        }
    }

    /// Defers a request that needs the end of the catch-up, or that follows a deferred one; returns whether it did.
    private func isDeferred(_ request: StreamRequest?, _ bytes: Int, always: Bool) -> Bool {
        guard self.catchUp != nil, always || !self.deferred.isEmpty, let request else { return false }
        let waiting = self.deferred.reduce(0) { $0 + $1.bytes }
        if self.deferred.count < Self.maximumDeferred,
            waiting + bytes <= self.context.settings.webSocket.maximumMessageBytes
        {
            self.deferred.append(Deferred(request: request, bytes: bytes))
        } else {
            self.notify(.error("Too many requests while catching up; wait for resumed", code: "busy"))
        }
        return true
    }

    /// Reports a refused symbol of the last request, or executes a request that waited for the end of the catch-up.
    func takeDeferred() -> Bool {
        if let refusal = self.refusals.popFirst() {
            self.report(refusal)
            return true
        }
        guard self.catchUp == nil, !self.deferred.isEmpty else { return false }
        let next = self.deferred.removeFirst()
        self.take(next.request, bytes: next.bytes)
        return true
    }

    // MARK: Subscribing

    func subscribe(_ symbols: [String], delivery asked: StreamDelivery?, since: TapePosition?) {
        let symbols = self.beginRequest(symbols)
        let delivery = asked ?? self.query.delivery ?? .latest
        let next = self.context.ring.sequences.upperBound
        var new: [Int] = []
        var changed: [Int] = []
        // Rows that were followed before, and are requested again from a position.
        var again: Set<Int> = []
        // Rows that were reported as released, and are subscribed again.
        var recalled: [Int] = []
        if symbols.isEmpty {
            self.session.followAll(delivery)
            for row in self.context.liveRows {
                if self.session.follow(row, delivery: delivery, taken: self.context.taken(row: row), first: next) {
                    new.append(row)
                    continue
                }
                if asked != nil { changed.append(row) }
                again.insert(row)
            }
            self.notify(.subscribed(nil, delivery))
        } else {
            var accepted: [String] = []
            for symbol in symbols {
                if let row = self.context.knownRow(of: symbol), self.session.follows(row) {
                    // A client that follows all symbols has no upstream subscriptions; naming a symbol adds one. A
                    // change of the delivery adds none while the symbol is subscribed upstream: the page changes it
                    // whenever the user selects a symbol.
                    if asked == nil || self.context.released(symbol) != nil {
                        guard self.takePlace(for: symbol) else { continue }
                    }
                    accepted.append(symbol)
                    if self.context.released(symbol) != nil { recalled.append(row) }
                    if asked != nil { changed.append(row) }
                    again.insert(row)
                } else if let row = self.begin(symbol, delivery: delivery, first: next) {
                    accepted.append(symbol)
                    new.append(row)
                }
            }
            self.notify(.subscribed(accepted, delivery))
        }
        self.policyChanged()
        let place = since.flatMap { self.context.ring.path(since: $0)?.start }
        for row in changed {
            self.change(row, to: delivery, next: next, reportsUnreported: !self.comesAgain(row, from: place))
        }
        self.wishesChanged()
        if let since {
            let again = again.subtracting(new).sorted()
            self.resume(new, again: again, since: since, isEverything: symbols.isEmpty)
        } else {
            for row in new { self.showNewest(row) }
        }
        for row in recalled { self.showAgain(row) }
        for row in new {
            let symbol = self.context.symbol(ofRow: row)
            self.showState(of: symbol)
            self.showDay(of: symbol)
        }
        self.context.noteSubscribed()
        self.reportRefused(symbols)
    }

    /// Takes the symbols of a request, each once.
    func beginRequest(_ symbols: [String]) -> [String] {
        self.refusals.requestBegan()
        var known: Set<String> = []
        return symbols.filter { known.insert($0).inserted }
    }

    /// Reports those of the symbols just subscribed to that the upstream refuses.
    func reportRefused(_ symbols: [String]) {
        for symbol in symbols where self.context.isRefused(symbol) { self.refuse(symbol, .upstream) }
    }

    /// Begins to follow one symbol; `nil` if that fails, which is reported to the client.
    private func begin(_ symbol: String, delivery: StreamDelivery, first: UInt64) -> Int? {
        guard self.session.followsAll || self.session.count < self.context.symbolLimit else {
            self.refuse(symbol, .tooMany)
            return nil
        }
        guard self.takePlace(for: symbol) else { return nil }
        let row = self.context.row(of: symbol)
        // A client that follows all symbols already follows a new row.
        if !self.session.follow(row, delivery: delivery, taken: self.context.taken(row: row), first: first) {
            self.session.change(row, to: delivery, newest: nil, first: first)
        }
        return row
    }

    /// Subscribes to a symbol; returns whether that succeeded, and reports a failure to the client.
    ///
    /// - Parameter limit: the most symbols to which the client may subscribe by their names.
    func takePlace(for symbol: String, limit: Int = .max) -> Bool {
        let index = self.context.index
        guard !index.isSubscribed(self, to: symbol) else { return true }
        switch index.symbolCount(of: self) < limit ? index.subscribe(self, to: symbol) : .full {
        case .invalid:
            self.refuse(symbol, .invalid)
            return false
        case .full:
            self.refuse(symbol, .tooMany)
            return false
        case .accepted:
            return true
        }
    }

    /// Reports a refused symbol of a request: now, or after the client has read the reports before it.
    func refuse(_ symbol: String, _ reason: SymbolRefusals.Reason) {
        if let refusal = self.refusals.add(symbol, reason) { self.report(refusal) }
    }

    private func report(_ refusal: SymbolRefusals.Refusal) {
        let symbol = refusal.symbol
        switch refusal.reason {
        case .invalid: self.notify(.error(self.context.invalid(symbol), code: "invalid-symbol"))
        case .tooMany: self.notify(.error(SymbolErrors.tooMany(symbol), code: "too-many-symbols"))
        case .upstream:
            // The upstream may have accepted it in the meantime.
            self.context.reportRefusal(of: symbol, to: self)
        }
    }

    /// Returns whether a resumption from a position sends or counts the symbol's newest trade again. Then the trades
    /// not yet reported are among the resumed ones, or the client knows them.
    private func comesAgain(_ row: Int, from place: TapePosition?) -> Bool {
        guard let place, let newest = self.context.newest(row: row) else { return false }
        return place.epoch != self.context.ring.epoch || newest.summary.sequence >= place.sequence
    }

    private func change(_ row: Int, to delivery: StreamDelivery, next: UInt64, reportsUnreported: Bool) {
        guard let before = self.session.delivery(of: row), before != delivery else { return }
        if before != .all, reportsUnreported { self.showUnreported(row) }
        let newest = self.context.newest(row: row)
        // A postponed price is sent in the new delivery, too.
        self.session.change(
            row,
            to: delivery,
            newest: newest.map { ($0.summary.price, $0.ordinal) },
            first: next
        )
    }

    private func unsubscribe(_ symbols: [String]) {
        if symbols.isEmpty {
            self.session.unfollowAll()
            self.wishesChanged()
            self.leaveBars()
            self.context.index.unsubscribeAll(self)
            return
        }
        for symbol in symbols {
            self.leaveBars(of: symbol)
            if let row = self.context.knownRow(of: symbol) { self.session.unfollow(row) }
            self.context.index.unsubscribe(self, from: symbol)
        }
        self.wishesChanged()
    }

    /// Applies the client's subscriptions to the index.
    func wishesChanged() {
        self.policyChanged()
        self.intervalsChanged()
        self.context.index.setFollowsAll(self, self.isOpen && self.session.followsAll)
        let takesTrades = self.isOpen && self.catchUp == nil
        self.context.index.setTrades(
            of: self,
            takesTrades ? self.session.tradeFilter(name: self.context.symbol(ofRow:)) : .nothing
        )
    }

    /// Joins the price timers of the subscribed intervals, and leaves the others.
    func intervalsChanged() {
        var wanted: Set<Int> = []
        for case .every(let milliseconds) in self.session.deliveries.keys { wanted.insert(milliseconds) }
        if case .every(let milliseconds)? = self.session.everything { wanted.insert(milliseconds) }
        guard wanted != self.priceIntervals else { return }
        for interval in self.priceIntervals.subtracting(wanted) { self.context.leaveInterval(self, every: interval) }
        for interval in wanted.subtracting(self.priceIntervals) { self.context.joinInterval(self, every: interval) }
        self.priceIntervals = wanted
    }
}

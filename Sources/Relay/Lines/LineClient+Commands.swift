import Market
import NIOCore
import Wire

// The commands of a client of lines.
extension LineClient {
    /// How many symbols in one command cost as much as another command.
    private static let symbolsPerRequest = 64

    func received(_ text: ByteBuffer) {
        let command = LineCommand.parse(String(buffer: text))
        var cost = 1
        switch command {
        case .follow(let symbols, _, let form):
            let showsAll = symbols.isEmpty || self.changes(form)
            cost += max(symbols.count, showsAll ? self.context.liveRows.count : 0) / Self.symbolsPerRequest
        case .stop(let symbols): cost += symbols.count / Self.symbolsPerRequest
        case .room(let name, let form):
            cost += self.context.rooms.cost(of: name)
            if self.changes(form) { cost += self.context.liveRows.count / Self.symbolsPerRequest }
        case .user, .message, .help, .quit, .faulty: break
        }
        guard self.isAllowed(cost) else { return }
        switch command {
        case .follow(let symbols, let delivery, let form): self.follow(symbols, delivery, in: form)
        case .stop(let symbols): self.stop(symbols)
        case .room(let name, let form): self.choose(room: name, in: form)
        case .user(let name): self.submit(user: name)
        case .message(let text): self.submit(message: text)
        case .help:
            let rooms = self.context.settings.rooms ? LineCommand.roomManual : []
            for line in LineCommand.manual + rooms { self.notify(.help(line)) }
        case .quit: self.close(.normal, reason: "")
        case .faulty(let reason): self.notify(.error(reason, code: "invalid-message"))
        }
    }

    /// Takes a line that is no text.
    func received(binary: ByteBuffer) {
        guard self.isAllowed(1) else { return }
        self.unreadable += 1
        let reason = "a line must be UTF-8 without control characters"
        guard self.unreadable >= Self.maximumUnreadable else {
            return self.notify(.error(reason, code: "invalid-message"))
        }
        self.close(.invalidText, reason: reason)
    }

    private func isAllowed(_ cost: Int) -> Bool {
        self.refusals.requestBegan()
        switch self.allowance.requested(cost: cost, now: self.context.now) {
        case .allowed: return true
        case .refused: self.notify(.error("too many commands; slow down", code: "rate-limited"))
        case .flood: self.close(.policy, reason: "too many commands")
        }
        return false
    }

    /// Reports a refused symbol of the last command.
    func takeDeferred() -> Bool {
        guard let refusal = self.refusals.popFirst() else { return false }
        self.report(refusal)
        return true
    }

    // MARK: Following

    private func follow(_ symbols: [String], _ delivery: StreamDelivery, in form: LineForm?) {
        let isFirst = !self.hasChosen
        self.hasChosen = true
        let isOtherForm = self.take(form, isFirst: isFirst)
        let next = self.context.ring.sequences.upperBound
        var accepted: [String] = []
        var new: [Int] = []
        if symbols.isEmpty {
            self.followed.followAll(delivery)
            for row in self.context.liveRows where self.begin(row, delivery, next: next) { new.append(row) }
        }
        var known: Set<String> = []
        for symbol in symbols where known.insert(symbol).inserted {
            guard self.subscribe(symbol) else { continue }
            accepted.append(symbol)
            let row = self.context.row(of: symbol)
            if self.begin(row, delivery, next: next) {
                new.append(row)
            } else if self.context.released(symbol) != nil {
                // It has followed the symbol as one of all, and has discarded the price.
                self.followed.forgetPrice(of: row)
                new.append(row)
            }
        }
        self.wishesChanged()
        self.notify(.subscribed(symbols.isEmpty ? nil : accepted, delivery))
        self.begun(new, isOtherForm: isOtherForm)
        self.context.noteSubscribed()
        for symbol in accepted where self.context.isRefused(symbol) { self.refuse(symbol, .upstream) }
    }

    private func changes(_ form: LineForm?) -> Bool { form.map { $0 != self.form } ?? false }

    /// Takes the form of all further lines, and shows the status to a new reader of it; returns whether it is another.
    ///
    /// - Parameter isFirst: whether the client has chosen something for the first time.
    func take(_ form: LineForm?, isFirst: Bool = false) -> Bool {
        let isOther = self.changes(form)
        self.form = form ?? self.form
        if isFirst || (isOther && self.hasChosen) {
            let status = self.context.status
            // A person sees by the prices that the feed is live.
            if self.form == .json || status.phase != .live { self.notify(.status(status)) }
        }
        return isOther
    }

    /// Shows rows that are followed anew. In another form these are all rows: a reader of it has had none of them.
    func begun(_ new: [Int], isOtherForm: Bool) {
        if isOtherForm { for row in self.followed.rows { self.followed.forgetPrice(of: row) } }
        for row in isOtherForm ? self.followed.rows : new { self.begun(row) }
    }

    /// Follows a row; returns whether it was not followed, or not with this delivery.
    private func begin(_ row: Int, _ delivery: StreamDelivery, next: UInt64) -> Bool {
        let taken = self.context.taken(row: row)
        if self.followed.follow(row, delivery: delivery, taken: taken, first: next) { return true }
        guard self.followed.delivery(of: row) != delivery else { return false }
        let newest = self.context.newest(row: row).map { ($0.summary.price, $0.ordinal) }
        self.followed.change(row, to: delivery, newest: newest, first: next)
        // The newest price is shown anew.
        self.followed.forgetPrice(of: row)
        return true
    }

    /// Shows the newest price of a row, or the state of a symbol that has none.
    private func begun(_ row: Int) {
        if self.followed.delivery(of: row) == .latest { self.showNewest(row) }
        let symbol = self.context.symbol(ofRow: row)
        guard let status = self.context.status(of: symbol) else { return self.showReleased(symbol) }
        if self.form == .json || status.state != .live { self.notify(.symbol(status)) }
    }

    private func subscribe(_ symbol: String) -> Bool {
        let index = self.context.index
        guard !index.isSubscribed(self, to: symbol) else { return true }
        switch index.symbolCount(of: self) < self.context.symbolLimit ? index.subscribe(self, to: symbol) : .full {
        case .accepted: return true
        case .invalid: self.refuse(symbol, .invalid)
        case .full: self.refuse(symbol, .tooMany)
        }
        return false
    }

    private func refuse(_ symbol: String, _ reason: SymbolRefusals.Reason) {
        if let refusal = self.refusals.add(symbol, reason) { self.report(refusal) }
    }

    private func report(_ refusal: SymbolRefusals.Refusal) {
        let symbol = refusal.symbol
        switch refusal.reason {
        case .invalid: self.notify(.error(self.context.invalid(symbol), code: "invalid-symbol"))
        case .tooMany: self.notify(.error(SymbolErrors.tooMany(symbol), code: "too-many-symbols"))
        case .upstream: self.context.reportRefusal(of: symbol, to: self)
        }
    }

    private func stop(_ symbols: [String]) {
        if symbols.isEmpty {
            self.followed.unfollowAll()
            self.context.index.unsubscribeAll(self)
        }
        for symbol in symbols {
            if let row = self.context.knownRow(of: symbol) { self.followed.unfollow(row) }
            self.context.index.unsubscribe(self, from: symbol)
        }
        self.wishesChanged()
    }

    /// Applies what the client follows to the index.
    func wishesChanged() {
        self.policyChanged()
        self.context.index.setFollowsAll(self, self.isOpen && self.followed.followsAll)
        let filter = self.followed.tradeFilter(in: self.form.message, name: self.context.symbol(ofRow:))
        self.context.index.setTrades(of: self, self.isOpen ? filter : .nothing)
    }
}

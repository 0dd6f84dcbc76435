import Market

/// The hours of one symbol: which of its trades are on the tape, and their hashes in the order of their ids.
///
/// A state machine without time. While ids are missing, later trades are held, so that the hash has them behind those
/// that still come.
struct SymbolCompleteness: Sendable {
    /// How many held trades a call digests, so that no read of the feed takes long.
    private static let portion = 64
    /// For how many later ids a hole stays open that no gap names. A replay divides the recorded reads into others, so
    /// that an id which came within the read may come after it.
    private static let unannouncedIDs: UInt64 = 256
    /// How many hours at the edge of which clocks may go back and forth.
    private static let openHours = 2

    let name: String
    /// Whether a recording says nothing about gaps, so that ids alone decide (``CompletenessBook/init(byIDsAlone:)``).
    let isByIDsAlone: Bool
    private(set) var totals = CompletenessTotals()
    /// By ascending beginning.
    private var hours: [HourTally] = []
    /// The place in ``hours`` of the newest trade.
    private var current = 0
    /// Those of ``hours`` whose hash is being computed, by their beginning.
    private var open: [Int64] = []
    private var isKnown = false
    /// Whether the next id needs nothing but its line.
    private var isContinuous = false
    /// The highest id that is known, of a trade or of a gap.
    private var newest: UInt64 = 0
    /// The lowest id on the tape.
    private var first: UInt64 = 0
    /// Lower ids are no longer waited for.
    private var frontier: UInt64 = 0
    private var holes = OpenHoles()
    /// The missing ids that are not waited for; their trades may come nevertheless.
    private var lost = OpenHoles()
    private var held = HeldTrades()
    /// The missing ids beyond the newest trade, which have no hour yet.
    private var unplaced: UInt64 = 0
    /// The most hours.
    var maximumHours: Int

    init(_ name: String, isByIDsAlone: Bool, maximumHours: Int) {
        self.name = name
        self.isByIDsAlone = isByIDsAlone
        self.maximumHours = maximumHours
    }

    var heldCount: Int { self.held.count }

    // MARK: Trades

    /// Takes a trade if its id simply continues; returns whether it does.
    @inline(__always)
    mutating func takeNext(_ trade: Trade, id: UInt64) -> Bool {
        guard self.isContinuous, id > self.newest, id &- self.newest == 1 else { return false }
        self.newest = id
        self.count(trade, id)
        self.digest(trade, id)
        return true
    }

    /// Takes a trade of any id; returns whether it leaves a hole that no gap names.
    ///
    /// - Parameters:
    ///   - isOnTape: `false` if its id has to show that.
    ///   - isAnswer: whether it is of a REST service's answer.
    mutating func take(_ trade: Trade, id: UInt64, isOnTape: Bool, isAnswer: Bool) -> Bool {
        defer { self.noteContinuity() }
        guard self.isKnown else {
            // Answers alone begin nothing: where the other trades have no ids, those of answers prove nothing.
            if trade.isFilled, !self.isByIDsAlone, isAnswer || !isOnTape { return false }
            (self.isKnown, self.newest, self.first) = (true, id, id)
            // If only ids show what is on the tape, a snapshot before the first live trade says where it begins.
            guard isOnTape || !trade.isFilled else {
                self.first = id &+ 1
                return false
            }
            self.count(trade, id)
            self.digest(trade, id)
            return false
        }
        if id > self.newest { return self.takeNewer(trade, id) }
        if let hole = self.holes.remove(id) {
            self.fill(hole)
            self.countEarlier(trade, id)
            guard id >= self.frontier else {
                self.giveUp(trade, .late)
                return false
            }
            self.held.insert(trade)
        } else if let hole = self.lost.remove(id) {
            self.fill(hole)
            self.countEarlier(trade, id)
            self.giveUp(trade, .late)
        } else if self.isByIDsAlone || !isOnTape {
            self.takeRepeated(trade, id: id)
        } else if trade.isFilled {
            self.first = min(self.first, id)
            self.countEarlier(trade, id)
            self.giveUp(trade, .late)
        } else {
            self.beganAnew()
            (self.newest, self.first) = (id, id)
            self.count(trade, id)
            self.digest(trade, id)
        }
        self.release(atMost: Self.portion)
        return false
    }

    private mutating func takeNewer(_ trade: Trade, _ id: UInt64) -> Bool {
        let isJump = id - self.newest > 1
        if isJump { self.open(self.newest + 1...id - 1, isAnnounced: self.isByIDsAlone) }
        self.newest = id
        if let place = self.count(trade, id) {
            self.hours[place].missing = self.hours[place].missing.addingCapped(self.unplaced)
            self.holes.place(self.hours[place].start)
            self.lost.place(self.hours[place].start)
        }
        self.unplaced = 0
        self.held.append(trade)
        self.release(atMost: Self.portion)
        return isJump && !self.isByIDsAlone
    }

    /// Takes a trade that was left out, because its id was seen.
    mutating func takeRepeated(_ trade: Trade, id: UInt64) {
        // A snapshot may go back beyond the beginning of the tape.
        guard self.isKnown, id <= self.newest, id >= self.first else { return }
        self.totals.repeated &+= 1
        if let place = self.place(of: trade.exchangeTime) { self.hours[place].repeated &+= 1 }
    }

    private mutating func noteContinuity() {
        self.isContinuous = self.isKnown && self.holes.isEmpty && self.held.isEmpty && self.unplaced == 0
    }

    // MARK: Missing ids

    /// Takes the ids that a gap names.
    mutating func gapFound(_ ids: ClosedRange<UInt64>) {
        defer { self.noteContinuity() }
        guard self.isKnown else {
            (self.isKnown, self.newest, self.first) = (true, ids.upperBound, ids.lowerBound)
            return self.open(ids, isAnnounced: true)
        }
        if ids.lowerBound > self.newest {
            if ids.lowerBound - self.newest > 1 {
                self.open(self.newest + 1...ids.lowerBound - 1, isAnnounced: self.isByIDsAlone)
            }
            self.open(ids, isAnnounced: true)
        } else {
            let isKnown = self.holes.announce(ids)
            if ids.upperBound > self.newest {
                self.open(self.newest + 1...ids.upperBound, isAnnounced: true)
            } else if !isKnown {
                // Only of new ids can some be missing that are not beyond the newest one.
                self.beganAnew()
                self.first = ids.lowerBound
                self.newest = ids.upperBound
                self.open(ids, isAnnounced: true)
            }
        }
        self.newest = max(self.newest, ids.upperBound)
    }

    /// Gives up the older holes that no gap names, as between two subscriptions to the symbol; returns whether some are
    /// left.
    mutating func readEnded() -> Bool {
        let limit = self.newest > Self.unannouncedIDs ? self.newest - Self.unannouncedIDs : 0
        let removed = self.holes.removeUnannounced(before: limit)
        for hole in removed { self.lost.insert(hole) }
        if !removed.isEmpty { self.release(atMost: Self.portion) }
        self.noteContinuity()
        return self.holes.hasUnannounced
    }

    /// Takes the end of the wait for the ids of a gap.
    mutating func settled(_ ids: ClosedRange<UInt64>) {
        for hole in self.holes.remove(ids) { self.lost.insert(hole) }
        self.release(atMost: Self.portion)
        self.noteContinuity()
    }

    /// Waits for nothing any more.
    mutating func finish() {
        self.holes.removeAll()
        self.release(atMost: .max)
        self.noteContinuity()
    }

    private mutating func open(_ ids: ClosedRange<UInt64>, isAnnounced: Bool) {
        let count = (ids.upperBound - ids.lowerBound).addingCapped(1)
        self.totals.missing = self.totals.missing.addingCapped(count)
        self.unplaced = self.unplaced.addingCapped(count)
        self.holes.append(ids, isAnnounced: isAnnounced)
    }

    private mutating func fill(_ hole: OpenHoles.Hole) {
        if self.totals.missing > 0 { self.totals.missing -= 1 }
        guard let hour = hole.hour else {
            if self.unplaced > 0 { self.unplaced -= 1 }
            return
        }
        guard let place = self.place(of: hour), self.hours[place].missing > 0 else { return }
        self.hours[place].missing -= 1
    }

    /// Notes that ids say nothing about those before.
    private mutating func beganAnew() {
        for trade in self.held.removeAll() { self.giveUp(trade, .newIDs) }
        for start in self.open { if let place = self.place(of: start) { self.hours[place].giveUp(.newIDs) } }
        self.open = []
        self.holes.removeAll()
        self.lost.removeAll()
        self.frontier = 0
    }

    // MARK: Held trades

    /// Digests held trades before which no id is waited for.
    mutating func release(atMost limit: Int) {
        guard !self.held.isEmpty else { return }
        let end = self.holes.first(from: self.frontier) ?? .max
        var left = limit
        while left > 0, let id = self.held.first, id < end, let trade = self.held.removeFirst() {
            self.digest(trade, id)
            left -= 1
        }
    }

    /// Gives up the hashes of the hours in which trades wait.
    mutating func giveUpHeld() {
        for trade in self.held.removeAll() { self.giveUp(trade, .tooMany) }
        self.frontier = self.newest
        self.noteContinuity()
    }

    private mutating func giveUp(_ trade: Trade, _ obstacle: HourTally.Obstacle) {
        guard let place = self.place(of: trade.exchangeTime) else { return }
        self.hours[place].giveUp(obstacle)
        self.open.removeAll { $0 == self.hours[place].start }
    }

    // MARK: Hours

    /// Counts a trade in its hour; returns the hour's place, `nil` if the hour is too old to be kept.
    @discardableResult
    @inline(__always)
    private mutating func count(_ trade: Trade, _ id: UInt64) -> Int? {
        self.totals.trades &+= 1
        if trade.isFilled { self.totals.filled &+= 1 }
        if self.current >= self.hours.count || !self.hours[self.current].contains(trade.exchangeTime) {
            guard let place = self.openedPlace(of: trade.exchangeTime) else { return nil }
            self.current = place
        }
        self.hours[self.current].count(id, isFilled: trade.isFilled)
        return self.current
    }

    /// Counts a trade that is not beyond all others: ``current`` stays the hour of the newest one.
    private mutating func countEarlier(_ trade: Trade, _ id: UInt64) {
        let newest = self.current < self.hours.count ? self.hours[self.current].start : nil
        self.count(trade, id)
        if let newest, let place = self.place(of: newest) { self.current = place }
    }

    /// Adds the line of the next trade to the hash of its hour.
    @inline(__always)
    private mutating func digest(_ trade: Trade, _ id: UInt64) {
        guard
            let place = self.current < self.hours.count && self.hours[self.current].contains(trade.exchangeTime)
                ? self.current : self.place(of: trade.exchangeTime)
        else { return }
        let begins = TradeLine.with(trade, id: id) { self.hours[place].digest($0) }
        if begins { self.closeOld(besides: self.hours[place].start) }
    }

    /// Closes the oldest hash if there are too many.
    @inline(never)
    private mutating func closeOld(besides start: Int64) {
        self.open.append(start)
        guard self.open.count > Self.openHours, let oldest = self.open.min() else { return }
        self.open.removeAll { $0 == oldest }
        if let place = self.place(of: oldest) { self.hours[place].close() }
    }

    /// Returns the place of the hour that contains a time.
    private func place(of time: Int64) -> Int? {
        let place = self.firstPlace(from: CompletenessHour.start(of: time))
        return place < self.hours.count && self.hours[place].contains(time) ? place : nil
    }

    /// Returns the place of the first hour that does not begin before a time.
    private func firstPlace(from start: Int64) -> Int { self.hours.firstPlace { $0.start < start } }

    @inline(never)
    private mutating func openedPlace(of time: Int64) -> Int? {
        let start = CompletenessHour.start(of: time)
        var place = self.firstPlace(from: start)
        if place < self.hours.count, self.hours[place].start == start { return place }
        guard place > 0 || self.hours.count < self.maximumHours else { return nil }
        self.hours.insert(HourTally(start: start, isBegun: place > 0), at: place)
        while self.hours.count > self.maximumHours {
            let oldest = self.hours.removeFirst()
            self.open.removeAll { $0 == oldest.start }
            self.current = max(0, self.current - 1)
            place -= 1
        }
        // After the limit has become smaller, the new hour may be among those removed.
        return place >= 0 ? place : nil
    }

    /// Adds the hours that are kept to a sum.
    func add(to summary: inout CompletenessSummary) {
        summary.symbols += 1
        summary.totals = summary.totals + self.totals
        let newest = self.hours.last { $0.count > 0 }?.start ?? .min
        for place in self.hours.indices {
            let missing = self.hours[place].missing.addingCapped(place == self.current ? self.unplaced : 0)
            if missing > 0 {
                summary.incomplete += 1
            } else if self.hours[place].isBegun, self.hours[place].start < newest {
                summary.complete += 1
            }
        }
    }

    /// The hours that are kept, the oldest first.
    var report: [CompletenessHour] {
        let newest = self.hours.last { $0.count > 0 }?.start ?? .min
        return self.hours.indices.map { place in
            self.hours[place].report(
                of: self.name,
                isOver: self.hours[place].start < newest,
                unplaced: place == self.current ? self.unplaced : 0
            )
        }
    }
}

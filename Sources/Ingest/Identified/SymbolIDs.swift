import Market
import Wire

/// The ids of one symbol's trades: the newest one, and those that are missing before it.
///
/// A state machine; times are arguments. An id up to the newest one that is not missing was seen, or is from before the
/// first trade.
struct SymbolIDs {
    enum Finding: Equatable {
        /// The trade stays on the tape.
        case kept
        /// Its id was seen.
        case repeated
        /// It is from before the subscription.
        case earlier
    }

    /// When and where trades came.
    struct Arrival {
        var now: Moment
        /// The index of the frame within the read.
        var frame: Int
        /// The number of the connection.
        var connection: Int
    }

    /// The id of the newest trade as the venue reported it.
    private struct Report {
        var id: UInt64
        var at: Moment
    }

    /// How long after a report the trades may come, ns. On one connection they come before it, but Coinbase may send
    /// out of order (reference of the venues, A2).
    static let patience: Int64 = 1_000_000_000
    /// The most reports that wait. The next ones repeat what is left out.
    private static let maximumReports = 4

    let name: String
    /// Whether the next id simply continues: no other property matters to it.
    private var isPlain = false
    private(set) var newest: UInt64 = 0
    /// When the newest id came; wall clock, ns since 1970.
    private var arrival: Int64 = 0
    /// The exchange's time of the newest trade, ns since 1970.
    private var time = Int64.min
    /// The id of that trade, if a report has moved ``newest`` beyond it.
    private var timedID: UInt64?

    private(set) var isKnown = false
    /// The smallest id on the tape to which the next ones are joined. The trades before it are not on the tape.
    private var first: UInt64 = 0
    private(set) var isWanted = true
    /// Whether the next id beyond the newest has no hole before it: the symbol is new, or was not subscribed meanwhile.
    private var isFresh = true
    /// The connection on which the symbol began, until its first live trade. Earlier trades only say where it begins.
    private var beginning: Int?
    private var interruption: IDInterruption?
    private var missing: MissingIDs
    private var reports: [Report] = []
    private var newIDs: NewIDs?

    init(_ name: String) {
        self.name = name
        self.missing = MissingIDs(of: name)
    }

    /// The ids that are missing, in ascending order.
    var holes: [MissingTrades.Hole] {
        self.missing.holes.map { MissingTrades.Hole(ids: $0.ids, after: $0.after) }
    }

    /// Whether some of these ids are missing.
    func lacks(_ ids: ClosedRange<UInt64>) -> Bool { self.missing.holes.contains { $0.ids.overlaps(ids) } }

    // MARK: Trades

    /// Takes a trade's id if it simply continues the symbol's ids; returns whether it does.
    @inline(__always)
    mutating func takeNext(_ id: UInt64, time: Int64, now: Int64) -> Bool {
        guard self.isPlain, id > self.newest, id &- self.newest == 1 else { return false }
        (self.newest, self.time, self.arrival) = (id, time, now)
        return true
    }

    /// Takes a trade of any id, and marks it if it was missing.
    mutating func take(_ trade: inout Trade, id: UInt64, at arrival: Arrival, into found: inout IDFindings) -> Finding {
        defer { self.isPlain = self.onlyContinues }
        let isLive = !trade.marks.contains(.filled)
        guard self.isKnown, id <= self.newest else {
            return self.takeNewer(trade, id: id, isLive: isLive, at: arrival, into: &found)
        }
        if self.missing.take(id, time: trade.exchangeTime, into: &found) {
            if isLive, self.isNew(trade, id: id, isLeftOut: false) {
                self.begin(anew: trade, id: id, at: arrival, into: &found)
            } else {
                trade.marks.insert(.filled)
            }
            return .kept
        }
        // A live trade directly before the first one came late. Its id was not seen.
        if isLive, self.first > 0, id == self.first - 1 {
            self.first = id
            trade.marks.insert(.filled)
            return .kept
        }
        guard isLive, self.isNew(trade, id: id, isLeftOut: true) else {
            return id < self.first && !isLive ? .earlier : .repeated
        }
        self.begin(anew: trade, id: id, at: arrival, into: &found)
        return .kept
    }

    /// Takes a trade beyond the newest id, or the symbol's first one.
    private mutating func takeNewer(
        _ trade: Trade,
        id: UInt64,
        isLive: Bool,
        at arrival: Arrival,
        into found: inout IDFindings
    ) -> Finding {
        let begins = self.isFresh || (!isLive && self.beginning == arrival.connection)
        if begins {
            self.begin(id, isOnTape: isLive, connection: arrival.connection)
        } else if id - self.newest > 1 {
            self.open(self.newest + 1...id - 1, to: arrival.now.wall, frame: arrival.frame, into: &found)
        }
        if isLive { self.beginning = nil }
        self.note(id, arrival: arrival.now.wall)
        self.time = trade.exchangeTime
        self.timedID = nil
        return begins && !isLive ? .earlier : .kept
    }

    /// Begins with an id beyond which nothing is missing.
    private mutating func begin(_ id: UInt64, isOnTape: Bool, connection: Int) {
        // Without a trade on the tape so far, all trades before this one are not there.
        if !self.isKnown || self.first > self.newest { self.first = isOnTape || id == .max ? id : id + 1 }
        self.isKnown = true
        self.isFresh = !self.isWanted
        self.beginning = isOnTape ? nil : connection
    }

    private mutating func note(_ id: UInt64, arrival: Int64) {
        self.newest = id
        self.arrival = arrival
        self.interruption = nil
        self.newIDs = nil
    }

    private var onlyContinues: Bool {
        self.isKnown && !self.isFresh && self.beginning == nil && self.interruption == nil && self.newIDs == nil
            && self.timedID == nil
    }

    /// Begins behind a trade of another program: all earlier ones are on the tape, or its gaps have named them.
    mutating func continued(after trade: TapeCompleteness.Newest) {
        (self.newest, self.time, self.arrival) = (trade.id, trade.time, trade.arrival)
        self.isKnown = true
        self.isFresh = !self.isWanted
        self.isPlain = self.onlyContinues
    }

    // MARK: Holes

    private mutating func open(
        _ ids: ClosedRange<UInt64>,
        to: Int64,
        frame: Int,
        reason: String? = nil,
        into found: inout IDFindings
    ) {
        let opening = found.open(
            IDFindings.Opening(
                frame: frame,
                from: self.interruption.map { max(self.arrival, $0.from) } ?? self.arrival,
                to: to,
                reason: reason ?? self.interruption?.text,
                cause: self.interruption?.cause
            )
        )
        self.missing.append(ids, after: self.time == .min ? nil : self.time, opening: opening, into: &found)
    }

    /// Publishes the holes that have no gap yet: at the end of a read.
    mutating func publish(into found: inout IDFindings) { self.missing.publish(into: &found) }

    /// Notes that those ids of a range that are missing are lost for good.
    mutating func giveUp(_ ids: ClosedRange<UInt64>, reason: String, into found: inout IDFindings) {
        self.missing.giveUp(ids, reason: reason, into: &found)
    }

    /// Takes a trade that was asked for, and marks it; returns whether it was missing.
    ///
    /// One beyond the newest id comes live, or opens a hole of its own.
    mutating func fill(_ trade: inout Trade, id: UInt64, into found: inout IDFindings) -> Bool {
        guard self.isWanted, self.missing.take(id, time: trade.exchangeTime, into: &found) else { return false }
        trade.marks.insert(.filled)
        return true
    }

    // MARK: Ids that begin anew

    /// Takes a live trade up to the newest id. Returns whether it proves that the ids began anew.
    private mutating func isNew(_ trade: Trade, id: UInt64, isLeftOut: Bool) -> Bool {
        // A trade that was reported and comes late is later than the newest one that came.
        guard id <= self.timedID ?? self.newest, trade.exchangeTime > self.time else {
            self.newIDs = nil
            return false
        }
        if self.newIDs?.take(id, isLeftOut: isLeftOut) != true { self.newIDs = NewIDs(id, isLeftOut: isLeftOut) }
        return self.newIDs?.isProven ?? false
    }

    /// Begins anew with the id of a trade. Those of its row that were left out are missing.
    private mutating func begin(anew trade: Trade, id: UInt64, at arrival: Arrival, into found: inout IDFindings) {
        guard let row = self.newIDs else { return }
        let reason = "the venue began its ids anew at \(row.first)"
        self.missing.removeAll(reason: reason, into: &found)
        let (to, frame) = (arrival.now.wall, arrival.frame)
        if row.areLeftOut {
            self.open(row.first...id - 1, to: to, frame: frame, reason: reason, into: &found)
        } else {
            let opening = IDFindings.Opening(frame: frame, from: self.arrival, to: to, reason: reason)
            found.add(nil, of: found.open(opening), symbol: self.name)
        }
        self.first = 0
        self.beginning = nil
        self.isFresh = !self.isWanted
        self.reports = []
        self.note(id, arrival: to)
        self.time = trade.exchangeTime
        self.timedID = nil
    }

    // MARK: Reports of the newest id

    /// Takes the id of the symbol's newest trade as the venue reports it.
    ///
    /// - Returns: whether ``reportDeadline`` may have changed.
    mutating func reported(_ id: UInt64, now: Moment, connection: Int) -> Bool {
        defer { self.isPlain = self.onlyContinues }
        guard self.isKnown, !self.isFresh || id <= self.newest else {
            self.timedID = self.isKnown ? self.timedID ?? self.newest : 0
            self.begin(id, isOnTape: false, connection: connection)
            self.note(id, arrival: now.wall)
            return false
        }
        guard id > self.newest else {
            // Nothing came since the newest trade, so nothing was missed since.
            if id == self.newest {
                self.interruption = nil
                self.isFresh = !self.isWanted
            }
            return false
        }
        self.reports.removeAll { $0.id <= self.newest }
        guard self.reports.count < Self.maximumReports, id > self.reports.last?.id ?? 0 else { return false }
        self.reports.append(Report(id: id, at: now))
        return true
    }

    /// When ``reportsDue(now:into:)`` is due, monotonic ns; `nil` if all reported trades have come.
    var reportDeadline: Int64? {
        self.reports.first { $0.id > self.newest }.map { $0.at.monotonic.addingCapped(Self.patience) }
    }

    /// Opens a hole for the reported trades that have not come in time.
    mutating func reportsDue(now: Int64, into found: inout IDFindings) {
        defer { self.isPlain = self.onlyContinues }
        while let report = self.reports.first {
            if report.id > self.newest {
                guard now >= report.at.monotonic.addingCapped(Self.patience) else { return }
                self.open(self.newest + 1...report.id, to: report.at.wall, frame: 0, into: &found)
                self.timedID = self.timedID ?? self.newest
                self.note(report.id, arrival: report.at.wall)
            }
            self.reports.removeFirst()
        }
    }

    // MARK: The feed

    /// Notes that trades may be missing from now on, for this reason.
    mutating func interrupted(_ interruption: IDInterruption) {
        guard self.isKnown, self.interruption == nil else { return }
        self.interruption = interruption
        self.isPlain = false
    }

    /// Notes an attempt to connect.
    mutating func attempted() { self.interruption?.attempts += 1 }

    /// Notes whether the feed subscribes to the symbol. What comes while it does not is not missing, and what was
    /// missing before is not waited for any more.
    mutating func subscribed(_ isWanted: Bool, into found: inout IDFindings) {
        if self.isWanted, !isWanted {
            self.isFresh = true
            self.reports = []
            self.missing.giveUp(0 ... .max, reason: "the symbol was unsubscribed", into: &found)
        }
        self.isWanted = isWanted
        self.isPlain = self.onlyContinues
    }
}

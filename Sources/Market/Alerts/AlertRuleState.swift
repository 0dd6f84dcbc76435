/// The evaluation of one rule for one symbol.
///
/// Prices come in the order of the tape, each with the exchange's time. A price that is older than the newest by up to
/// ``Board/reorderWindow`` is late, and counts only for highs and lows. A price that is still older means that the
/// clock was set back. After a known jump of the clock (``clockMoved()``) no price is late.
struct AlertRuleState: Sendable {
    /// The defaults for rules that leave an option out, and the choice of the clock.
    typealias Settings = AlertEvaluator.Settings

    /// An alert without the names of its rule and its symbol.
    struct Firing: Sendable, Equatable {
        var price: ExactDecimal?
        var time: Int64
        var reason: String
    }

    /// The rule's number.
    let rule: Int
    var symbol: String
    let condition: AlertRule.Condition
    private let band: AlertRule.Band
    private(set) var gate: AlertThrottle
    /// Whether the price has come back far enough for the rule to fire again.
    private(set) var isArmed = true
    /// The side of the level on which a crossing begins: -1 or 1, or 0 while unknown.
    private(set) var side = 0
    /// Whether a state that a person can see has changed since the owner last reset this.
    var hasChanged = false

    private var newest = Int64.min
    /// Whether the tape's time has jumped since the newest trade.
    private var isMoved = false
    var lastPrice: ExactDecimal?
    private var lows: PriceWindow
    private var highs: PriceWindow
    /// The highest or lowest price so far, and the one at the last alert.
    private var extreme: ExactDecimal?
    private var firedExtreme: ExactDecimal?
    var silence: Silence?
    private let offset: @Sendable (Int64) -> Int64

    init(
        rule: Int,
        text: AlertRule,
        symbol: String,
        settings: Settings,
        offset: @escaping @Sendable (Int64) -> Int64
    ) {
        self.rule = rule
        self.symbol = symbol
        self.condition = text.condition
        self.band = text.hysteresis ?? .percent(settings.hysteresis)
        let quiet: QuietHours? =
            switch text.quiet {
            case .never: nil
            case .hours(let hours): hours
            case nil: settings.quiet
            }
        self.gate = AlertThrottle(cooldown: text.cooldown ?? settings.cooldown, quiet: quiet, isOnce: text.isOnce)
        self.offset = offset
        var span: Int64 = 0
        switch text.condition {
        case .moves(_, _, let within): span = within
        case .stale(let limit), .back(let limit): self.silence = Silence(limit: limit ?? settings.staleAfter)
        case .above, .below, .crosses, .newHigh, .newLow: break
        }
        self.lows = PriceWindow(isLowest: true, span: span)
        self.highs = PriceWindow(isLowest: false, span: span)
    }

    // MARK: Prices

    /// Takes the price of a trade, with the exchange's time, ns since 1970.
    mutating func traded(_ price: ExactDecimal, time: Int64) -> Firing? {
        let age = self.newest &- time
        let isLate = self.newest != .min && !self.isMoved && age > 0 && age <= Board.reorderWindow
        self.isMoved = false
        if !isLate {
            if self.newest != .min, age > 0 { self.clockWasSetBack() }
            self.newest = time
            self.lastPrice = price
        }
        switch self.condition {
        case .above(let level): return isLate ? nil : self.passed(level, price, time: time, upwards: true)
        case .below(let level): return isLate ? nil : self.passed(level, price, time: time, upwards: false)
        case .crosses(let level): return isLate ? nil : self.crossed(level, price, time: time)
        case .moves(let direction, let percent, let span):
            return isLate ? nil : self.moved(direction, percent: percent, within: span, price, time: time)
        case .newHigh: return self.reached(price, time: time, isHigh: true)
        case .newLow: return self.reached(price, time: time, isHigh: false)
        case .stale, .back: return nil
        }
    }

    /// Notes that the tape's time jumps.
    mutating func clockMoved() { self.isMoved = true }

    private mutating func clockWasSetBack() {
        self.lows.removeAll()
        self.highs.removeAll()
    }

    private mutating func passed(_ level: ExactDecimal, _ price: ExactDecimal, time: Int64, upwards: Bool) -> Firing? {
        guard self.isArmed else {
            let side = self.edge(level, isUpper: !upwards)?.side(of: price) ?? 0
            if upwards ? side <= 0 : side >= 0 {
                self.isArmed = true
                self.hasChanged = true
            }
            return nil
        }
        guard upwards ? price > level : price < level else {
            self.conditionEnded()
            return nil
        }
        guard self.pass(time) else { return nil }
        self.isArmed = false
        return Firing(price: price, time: time, reason: "\(price) is \(upwards ? "above" : "below") \(level)")
    }

    private mutating func crossed(_ level: ExactDecimal, _ price: ExactDecimal, time: Int64) -> Firing? {
        let side = price == level ? 0 : price < level ? -1 : 1
        guard self.side != 0, side == -self.side else {
            if self.side == 0 { self.side = side }
            self.conditionEnded()
            // The price is far enough on its side of the level for the next crossing to count.
            if !self.isArmed, side != 0,
                self.edge(level, isUpper: side > 0).map({ $0.side(of: price) != -side }) ?? true
            {
                self.isArmed = true
                self.hasChanged = true
            }
            return nil
        }
        // A price that has not come far enough may still go straight through to the other edge.
        guard self.isArmed || (self.edge(level, isUpper: side > 0)?.side(of: price) ?? side) != -side else {
            return nil
        }
        self.side = side
        // A price that went through to the far edge is not oscillating around the level, so the next crossing counts.
        self.isArmed = (self.edge(level, isUpper: side > 0)?.side(of: price) ?? side) != -side
        guard self.pass(time) else { return nil }
        return Firing(
            price: price,
            time: time,
            reason: "\(price) has crossed \(level) \(side > 0 ? "upwards" : "downwards")"
        )
    }

    private mutating func moved(
        _ direction: AlertRule.Direction,
        percent: ExactDecimal,
        within span: Int64,
        _ price: ExactDecimal,
        time: Int64
    ) -> Firing? {
        self.lows.expire(now: time)
        self.highs.expire(now: time)
        var from: ExactDecimal?
        var word = "risen"
        if direction != .down, let low = self.lows.extreme?.price, low.significand > 0,
            PriceEdge(low, plusPercent: percent).side(of: price) >= 0
        {
            from = low
        } else if direction != .up, percent < PriceEdge.hundred, let high = self.highs.extreme?.price,
            high.significand > 0, PriceEdge(high, plusPercent: percent.negated).side(of: price) <= 0
        {
            from = high
            word = "fallen"
        } else {
            self.conditionEnded()
        }
        defer {
            if direction != .down { self.lows.add(price, time: time) }
            if direction != .up { self.highs.add(price, time: time) }
        }
        guard let from, self.pass(time) else { return nil }
        // The next move is measured from here.
        self.clockWasSetBack()
        return Firing(
            price: price,
            time: time,
            reason: "\(price) has \(word) by at least \(percent)% within \(AlertSpan.write(span)), from \(from)"
        )
    }

    private mutating func reached(_ price: ExactDecimal, time: Int64, isHigh: Bool) -> Firing? {
        guard let before = self.extreme else {
            self.extreme = price
            return nil
        }
        guard isHigh ? price > before : price < before else {
            return nil
        }
        self.extreme = price
        if let fired = self.firedExtreme, let edge = PriceEdge(fired, band: self.band, isUpper: isHigh) {
            let side = edge.side(of: price)
            guard isHigh ? side >= 0 : side <= 0 else { return nil }
        }
        guard self.pass(time) else { return nil }
        self.firedExtreme = price
        return Firing(
            price: price,
            time: time,
            reason: "\(price) is a new \(isHigh ? "high" : "low"), \(isHigh ? "above" : "below") \(before)"
        )
    }

    private func edge(_ level: ExactDecimal, isUpper: Bool) -> PriceEdge? {
        PriceEdge(level, band: self.band, isUpper: isUpper)
    }

    /// The price at which the rule is armed again, for display.
    var rearmsAt: ExactDecimal? {
        guard !self.isArmed else { return nil }
        switch self.condition {
        case .above(let level): return self.edge(level, isUpper: false)?.price
        case .below(let level): return self.edge(level, isUpper: true)?.price
        case .crosses, .moves, .newHigh, .newLow, .stale, .back: return nil
        }
    }

    /// Returns whether an alert may fire now, and notes a hold.
    mutating func pass(_ time: Int64) -> Bool {
        let before = self.gate.hold
        let passes = self.gate.pass(at: time, offset: self.offset)
        if passes || self.gate.hold != before { self.hasChanged = true }
        return passes
    }

    /// Notes that the condition of an alert held back is over.
    mutating func conditionEnded() {
        guard self.gate.hold != nil else { return }
        self.gate.conditionEnded()
        self.hasChanged = true
    }

    // MARK: Persistence

    /// The state that survives a restart.
    var memory: AlertState.State? {
        guard self.gate.count > 0 || !self.isArmed else { return nil }
        return AlertState.State(
            rule: "",
            symbol: self.symbol,
            isArmed: self.isArmed,
            side: self.side,
            count: self.gate.count,
            lastFired: self.gate.lastFired
        )
    }

    /// Restores the state that an earlier run left.
    mutating func restore(_ state: AlertState.State) {
        self.isArmed = state.isArmed
        self.side = state.side
        self.gate.count = state.count
        self.gate.lastFired = state.lastFired
    }
}

import Market

/// The members of one flat JSON object. Nested values are ignored, except for a status, a replay, bounds, ids and
/// symbols.
struct StreamFields {
    enum Value {
        case text(String)
        case number(ExactDecimal)
        case flag(Bool)
    }

    private(set) var values: [String: Value] = [:]
    /// The values nested in a message.
    private(set) var nestedStatus: FeedStatus?
    private(set) var nestedReplay: ReplayPosition?
    private var nestedBounds: OverlapBounds?
    private var nestedMissing: ClosedRange<UInt64>?
    /// Whether there is a range of missing ids that cannot be read.
    private var hasWrongMissing = false
    /// The ranges in a list of lost ids; `nil` without one, or if one of them cannot be read.
    private var nestedLost: [ClosedRange<UInt64>]?
    /// The names in a list of symbols, without released ones.
    private(set) var symbolNames: [String] = []

    init?(_ bytes: UnsafeRawBufferPointer, isNested: Bool = false) {
        guard JSONReader.wholeObject(bytes, { self.take($0.text, from: &$1, isNested: isNested) }) else { return nil }
    }

    private mutating func take(_ key: String, from reader: inout JSONReader, isNested: Bool) -> Bool {
        switch reader.kind() {
        case .string:
            guard let string = reader.string() else { return false }
            self.values[key] = .text(string.text)
        case .number:
            switch reader.number() {
            case .number(let number, _): self.values[key] = .number(number)
            case .unheld: self.values[key] = nil
            case .invalid: return false
            }
        case .literal:
            guard let letter = reader.literal() else { return false }
            self.values[key] = letter == UInt8(ascii: "n") ? nil : .flag(letter == UInt8(ascii: "t"))
        case .object, .array, .invalid:
            guard let raw = reader.rawValue() else { return false }
            self.values[key] = nil
            guard !isNested else { return true }
            switch key {
            case "status": self.nestedStatus = StreamFields(raw, isNested: true)?.status
            case "replay": self.nestedReplay = StreamFields(raw, isNested: true)?.replay
            case "overlapBounds": self.nestedBounds = StreamFields(raw, isNested: true)?.bounds
            case "missing":
                self.nestedMissing = StreamFields(raw, isNested: true)?.missing
                self.hasWrongMissing = self.nestedMissing == nil
            case "lost": self.nestedLost = Self.ranges(in: raw)
            case "symbols": self.symbolNames = Self.names(in: raw)
            default: break
            }
        }
        return true
    }

    /// Returns the names of the symbols in a list of objects, at most as many as a tape can have.
    private static func names(in list: UnsafeRawBufferPointer) -> [String] {
        var reader = JSONReader(list)
        guard reader.take(UInt8(ascii: "[")), !reader.take(UInt8(ascii: "]")) else { return [] }
        var names: [String] = []
        repeat {
            guard names.count < SymbolTable.capacity, let item = reader.rawValue() else { break }
            guard let fields = StreamFields(item, isNested: true), fields.releasedSymbol == nil else { continue }
            if let name = fields.text("symbol") { names.append(name) }
        } while reader.take(UInt8(ascii: ","))
        return names
    }

    /// Returns the ranges of ids in a list of objects, at most as many as a recording may have.
    private static func ranges(in list: UnsafeRawBufferPointer) -> [ClosedRange<UInt64>]? {
        var reader = JSONReader(list)
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        if reader.take(UInt8(ascii: "]")) { return [] }
        var ranges: [ClosedRange<UInt64>] = []
        repeat {
            guard ranges.count < RecordedNote.maximumLost, let item = reader.rawValue(),
                let range = StreamFields(item, isNested: true)?.missing
            else { return nil }
            ranges.append(range)
        } while reader.take(UInt8(ascii: ","))
        return ranges
    }

    var type: String? { self.text("type") }

    func text(_ key: String) -> String? {
        if case .text(let text) = self.values[key] { return text }
        return nil
    }

    private func price(_ key: String) -> ExactDecimal? {
        self.text(key).flatMap { ExactDecimal($0) }.flatMap { TradeBounds.canBePrice($0) ? $0 : nil }
    }

    private func size(_ key: String) -> ExactDecimal? {
        self.text(key).flatMap { ExactDecimal($0) }.flatMap { TradeBounds.canBeSize($0) ? $0 : nil }
    }

    /// Returns a sum of sizes; null gives a sum that lacks an addend.
    private func volume(_ key: String) -> ExactSum? {
        guard self.values[key] != nil else { return .unknown }
        return self.text(key).flatMap { ExactSum($0) }.flatMap { TradeBounds.canBeVolume($0) ? $0 : nil }
    }

    private func integer(_ key: String) -> Int64? {
        guard case .number(let number) = self.values[key] else { return nil }
        return Int64(exactly: number)
    }

    func count(_ key: String) -> UInt64? { self.integer(key).flatMap { UInt64(exactly: $0) } }

    /// Returns a wall-clock time, as ``time(_:unit:)``, between 1970 and 2116. No difference or sum of two such times
    /// overflows, whatever a relay sends.
    func moment(_ key: String, unit: Int64) -> Int64? {
        self.time(key, unit: unit).flatMap { (0...StreamMessage.longestSpan).contains($0) ? $0 : nil }
    }

    /// Returns a time in ns that was sent in units of `unit` ns.
    func time(_ key: String, unit: Int64) -> Int64? {
        guard let value = self.integer(key) else { return nil }
        let (product, overflow) = value.multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }

    /// The `age` in ns, sent in ms; `nil` if it is out of range.
    var age: Int64? { self.moment("age", unit: 1_000_000) }

    var resumed: StreamResumed? {
        guard let epoch = self.count("epoch"), let to = self.count("to") else { return nil }
        // Without an explicit `complete`, trades count as missing.
        return StreamResumed(
            position: TapePosition(epoch: epoch, sequence: to),
            trades: self.count("trades") ?? 0,
            isComplete: self.isTrue("complete")
        )
    }

    var update: PriceUpdate? {
        guard
            let symbol = self.text("symbol"),
            let price = self.price("price"),
            let size = self.size("size"),
            let exchangeTime = self.time("time", unit: 1_000_000),
            let received = self.moment("received", unit: 1_000),
            let sequence = self.count("seq"),
            let open = self.price("open"),
            let high = self.price("high"),
            let low = self.price("low"),
            let volume = self.volume("volume"),
            let trades = self.count("trades")
        else { return nil }
        let summary = SymbolSummary(
            symbol: symbol,
            price: price,
            size: size,
            exchangeTime: exchangeTime,
            received: received,
            sequence: sequence,
            open: open,
            high: high,
            low: low,
            volume: volume,
            trades: trades,
            isAhead: self.isTrue("ahead")
        )
        return PriceUpdate(summary: summary, skipped: self.count("skipped") ?? 0)
    }

    var trade: StreamTrade? {
        guard
            let symbol = self.text("symbol"),
            let sequence = self.count("seq"),
            let price = self.price("price"),
            let size = self.size("size"),
            let exchangeTime = self.time("time", unit: 1_000_000),
            let received = self.moment("received", unit: 1_000)
        else { return nil }
        return StreamTrade(
            symbol: symbol,
            sequence: sequence,
            price: price,
            size: size,
            exchangeTime: exchangeTime,
            received: received,
            isAhead: self.isTrue("ahead"),
            isPossibleRepeat: self.isTrue("possibleRepeat"),
            id: self.id("id"),
            isFilled: self.isTrue("filled")
        )
    }

    private func isTrue(_ key: String) -> Bool {
        if case .flag(true) = self.values[key] { return true }
        return false
    }

    var gap: Gap? {
        guard
            let to = self.moment("to", unit: 1_000_000),
            // If the start of a gap is unknown, the gap is as short as its end.
            let from = self.values["from"] == nil ? to : self.moment("from", unit: 1_000_000),
            let next = self.count("nextSeq")
        else { return nil }
        return Gap(
            from: from,
            to: to,
            reason: self.text("reason") ?? "",
            nextSequence: next,
            epoch: self.count("epoch") ?? 0,
            overlap: self.integer("overlap").flatMap { Int(exactly: $0) },
            overlapBounds: self.nestedBounds,
            cause: self.cause,
            symbol: self.text("symbol"),
            missing: self.nestedMissing
        )
    }

    private var bounds: OverlapBounds? {
        guard let least = self.count("least").flatMap(Int.init(exactly:)),
            let most = self.count("most").flatMap(Int.init(exactly:)), least <= most
        else { return nil }
        return OverlapBounds(least: least, most: most)
    }

    var outcome: GapOutcome? {
        guard let symbol = self.text("symbol"),
            let from = self.moment("from", unit: 1_000_000),
            let to = self.moment("to", unit: 1_000_000),
            let lost = self.nestedLost,
            !self.hasWrongMissing,
            lost.allSatisfy({ lost in self.nestedMissing.map { lost.clamped(to: $0) == lost } ?? false })
        else { return nil }
        return GapOutcome(
            symbol: symbol,
            missing: self.nestedMissing,
            from: from,
            to: to,
            lost: lost,
            reason: self.text("reason")
        )
    }

    var venueDay: VenueDay? {
        guard let symbol = self.text("symbol"),
            let high = self.price("high"),
            let low = self.price("low"),
            let last = self.price("last"),
            let volume = self.text("volume").flatMap({ ExactDecimal($0) }), volume >= .zero,
            let received = self.moment("received", unit: 1_000)
        else { return nil }
        return VenueDay(
            symbol: symbol,
            open: self.price("open"),
            high: high,
            low: low,
            last: last,
            volume: volume,
            received: received
        )
    }

    private var missing: ClosedRange<UInt64>? { TradeID.range(first: self.id("first"), last: self.id("last")) }

    /// Returns a trade's number, sent as a string of digits; anything else counts as absent.
    private func id(_ key: String) -> UInt64? { self.text(key).flatMap { TradeID.parse($0) } }

    /// The cause; `other` for a word that this program does not know.
    private var cause: FeedStatus.Cause? {
        self.text("cause").map { FeedStatus.Cause(rawValue: $0) ?? .other }
    }

    /// The symbol that this message reports as released.
    var releasedSymbol: String? {
        self.text("state") == StreamEncoder.releasedState ? self.text("symbol") : nil
    }

    /// The start of a state, ns since 1970.
    var since: Int64? { self.moment("since", unit: 1_000_000) }

    var symbolStatus: SymbolStatus? {
        guard let symbol = self.text("symbol"), let since = self.since else { return nil }
        let retryAt = self.moment("retryAt", unit: 1_000_000) ?? 0
        let state: SymbolStatus.State
        switch self.text("state") {
        case "asked": state = .asked
        case "live": state = .live
        case "quiet": state = .quiet
        case "no-such-symbol": state = .refused(.noSuchSymbol, retryAt: retryAt)
        case "not-permitted": state = .refused(.notPermitted, retryAt: retryAt)
        case "over-limit": state = .refused(.overLimit, retryAt: retryAt)
        case .some, nil: return nil
        }
        return SymbolStatus(symbol: symbol, state: state, since: since, reason: self.text("reason"))
    }

    var status: FeedStatus? {
        guard let phase = self.phase, let source = self.source, let since = self.moment("since", unit: 1_000_000) else {
            return nil
        }
        // Without an explicit `certificateChecked`, certificates count as unchecked.
        var isChecked = false
        if case .flag(true) = self.values["certificateChecked"] { isChecked = true }
        var status = FeedStatus(
            source: source,
            phase: phase,
            since: since,
            reason: self.text("reason"),
            cause: self.cause,
            certificateChecked: isChecked,
            via: self.text("via")
        )
        if case .flag(true) = self.values["paused"] { status.isPaused = true }
        return status
    }

    private var phase: FeedStatus.Phase? {
        let retryAt = self.moment("retryAt", unit: 1_000_000) ?? 0
        switch self.text("state") {
        case "connecting": return .connecting
        case "waiting": return .waiting
        case "live": return .live
        case "late": return .late
        case "stale": return .stale
        case "reconnecting":
            return .reconnecting(attempt: self.integer("attempt").flatMap { Int(exactly: $0) } ?? 0, retryAt: retryAt)
        case "rate-limited": return .rateLimited(until: retryAt)
        case "key-rejected": return .keyRejected(retryAt: self.moment("retryAt", unit: 1_000_000))
        case "key-in-use": return .keyInUse(retryAt: self.moment("retryAt", unit: 1_000_000))
        case "no-such-symbol": return .noSuchSymbol
        case "not-permitted": return .notPermitted
        case "ended": return .ended
        case "stopped": return .stopped
        case .some, nil: return nil
        }
    }

    /// The speed of a replay; `nil` if it goes as fast as possible.
    private var speed: Double? {
        guard case .number(let number) = self.values["speed"] else { return nil }
        return Double(number.description)
    }

    private var source: FeedStatus.Source? {
        switch self.text("source") {
        case "live": return .live
        case "demo": return .demo
        case "replay": return .replay(file: self.text("file") ?? "", speed: self.speed)
        case "simulated":
            return self.text("seed").flatMap { UInt64($0) }.map { .simulated(seed: $0, speed: self.speed) }
        case .some, nil: return nil
        }
    }
}

import Market
import TickertapeTesting
import Wire
@testable import Measurements

/// An audit that follows a script, one line for each event: its arrival in ms and what happens.
///
/// `80 v 7 1000 61837.6 0.02` is the venue's trade 7 of the time 1000 ms, `130 f 1000 61837.6 0.02` Finnhub's;
/// `v+` is a filled trade, `gap f`, `gap v` and `absent f` interrupt a stream, and `end` ends both. `gap v 5 7` names the
/// ids that the venue's connection lacked, and `settled v 5 7 6 7` says that of these 6 and 7 are lost.
struct AuditScript {
    static let symbol = "BINANCE:BTCUSDT"

    var machine: AuditMachine
    private var symbols = SymbolTable()
    /// The identified gaps, each with the arrival in ms at which the script looked.
    private(set) var identified: [String] = []

    init(limits: AuditLimits = AuditLimits(), measuresDelays: Bool = true) {
        self.machine = AuditMachine(limits: limits, measuresDelays: measuresDelays)
    }

    static func run(_ lines: String, limits: AuditLimits = AuditLimits()) -> String {
        var script = Self(limits: limits)
        for line in lines.split(separator: "\n") { script.obey(line.split(separator: " ").map(String.init)) }
        return script.text
    }

    /// Runs a script that fills Finnhub's gaps 10 s after their ends; returns the gaps that were identified.
    static func identified(_ lines: String, limits: AuditLimits = AuditLimits()) -> [String] {
        var limits = limits
        limits.gapWait = 10_000_000_000
        var script = Self(limits: limits)
        for line in lines.split(separator: "\n") { script.obey(line.split(separator: " ").map(String.init)) }
        return script.identified
    }

    private static func ids(_ words: ArraySlice<String>) -> ClosedRange<UInt64>? {
        let ends = words.prefix(2).compactMap { UInt64($0) }
        return ends.count == 2 ? ends[0]...ends[1] : nil
    }

    private mutating func obey(_ words: [String]) {
        guard words.count > 1 else { return self.machine.finish() }
        let arrival = (Int64(words[0]) ?? 0) * 1_000_000
        let side = words.contains("f") ? AuditSide.finnhub : .venue
        switch words[1] {
        case "gap":
            var gap = Gap(from: arrival - 1_000_000_000, to: arrival, reason: "cut", nextSequence: 0)
            gap.missing = Self.ids(words[3...])
            gap.symbol = side == .venue ? Self.symbol : nil
            self.machine.interrupted(side, .gap, symbol: gap.symbol, gap: gap)
        case "settled":
            guard let missing = Self.ids(words[3...]) else { return }
            let lost = Self.ids(words[5...]).map { [$0] } ?? []
            self.machine.venueSettled(
                GapOutcome(
                    symbol: Self.symbol,
                    missing: missing,
                    from: 0,
                    to: 1,
                    lost: lost,
                    reason: lost.isEmpty ? nil : "too old"
                )
            )
        case "absent": self.machine.interrupted(side, .absence, symbol: Self.symbol)
        case "f": self.trade(nil, words[2...], side, arrival)
        case "v", "v+": self.trade(UInt64(words[2]), words[3...], .venue, arrival, isFilled: words[1] == "v+")
        default:
            self.machine.timePassed(now: arrival)
            self.identified += self.machine.takeIdentifiedGaps(now: arrival).map { gap in
                let text = { (ids: ClosedRange<UInt64>) in "\(ids.lowerBound)-\(ids.upperBound)" }
                let all = gap.missing.map(text) + gap.lost.map { "lost \(text($0))" }
                let times = "\(gap.from / 1_000_000)...\(gap.to / 1_000_000) after \(gap.after / 1_000_000)"
                let ids = all.isEmpty ? "nothing" : all.joined(separator: " ")
                return "\(words[0]): \(ids)\(gap.reason.map { ": \($0)" } ?? "") (\(times))"
            }
        }
    }

    private mutating func trade(
        _ id: UInt64?,
        _ words: ArraySlice<String>,
        _ side: AuditSide,
        _ arrival: Int64,
        isFilled: Bool = false
    ) {
        let words = Array(words)
        self.take(
            id: id,
            time: Int64(words[0]) ?? 0,
            price: words[1],
            size: words[2],
            from: side,
            arrival: arrival,
            isFilled: isFilled
        )
    }

    /// - Parameter time: ms since 1970.
    mutating func take(
        id: UInt64?,
        time: Int64,
        price: String,
        size: String,
        from side: AuditSide,
        arrival: Int64,
        symbol: String = Self.symbol,
        isFilled: Bool = false,
        marks: TradeMarks = []
    ) {
        guard let number = self.symbols.intern(symbol) else { return }
        let trade = Trade(
            price: ExactDecimal(price) ?? .zero,
            size: ExactDecimal(size) ?? .zero,
            // A venue's time may have microseconds, which Finnhub cuts.
            exchangeTime: time * 1_000_000 + (side == .venue ? 999_999 : 0),
            symbol: number,
            id: id,
            marks: isFilled ? .filled : marks
        )
        self.machine.take(
            TapeBatch(
                epoch: 1,
                firstSequence: 1,
                received: arrival,
                receivedMonotonic: arrival,
                trades: [trade],
                frames: [],
                symbols: self.symbols
            ),
            from: side
        )
    }

    /// Takes all trades of a market in the order of their arrival, and ends both streams.
    mutating func play(_ market: AuditedMarket) {
        for item in market.all {
            self.take(
                id: item.id,
                time: item.time,
                price: item.priceText,
                size: item.sizeText,
                from: item.id == nil ? .finnhub : .venue,
                arrival: item.arrival
            )
        }
        self.machine.finish()
    }

    /// The counts that are not 0, in one line.
    var text: String { self.machine.report.symbols.map(Self.text).joined(separator: "; ") }

    static func text(_ report: AuditedSymbol) -> String {
        let counts: [(String, Int)] = [
            ("delivered", report.delivered), ("missing", report.missing), ("gaps", report.gaps),
            ("in gaps", report.missingInGaps), ("repeated", report.repeated), ("unknown", report.unknown),
            ("late", report.late), ("reordered", report.reordered), ("unproven", report.unproven),
            ("waiting", report.waiting),
        ]
        let ids = report.missingIDs.map { "\($0.lowerBound)-\($0.upperBound)" }
        return (counts.filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" } + ids).joined(separator: ", ")
    }
}

import Completeness
package import Market
package import NIOCore
package import Wire

/// The comparison of one hour of a recording with the trades that the venue's REST service has today.
///
/// A state machine: ``request`` is sent, and ``take(_:)`` gets its answer, until there is no request. It asks for the ids
/// from the hour's first one to its last one; how often is the caller's business.
package struct VenueComparison: Sendable {
    /// What the venue's service has of the hour.
    package struct Result: Sendable, Equatable {
        package var count: UInt64 = 0
        /// `nil` if it has no trade of the hour.
        package var sha256: String?
        /// The first id of which recording and venue have different trades, or only one of them has a trade, with words;
        /// `nil` if there is none.
        package var difference: String?
        /// Whether the recording's single trades are known.
        package var comparesTrades = false
    }

    /// Why the venue cannot be compared with.
    package enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// The answer is no list of trades.
        case unreadable
        /// The answer is full of trades of one time, and no later one can be requested.
        case stuck

        package var description: String {
            switch self {
            case .unreadable: "the answer is no list of trades"
            case .stuck: "more than 1,000 trades have the same time"
            }
        }
    }

    private let venue: Venue
    private let hour: CompletenessHour
    private let lines: RecordedTradeLines
    private let last: UInt64
    /// The next id to come; `nil` at the end.
    private var next: UInt64?
    /// The last id of the next request, if an answer was short; `nil` for as many as a request may have.
    private var end: UInt64?
    /// The time from which Kraken is asked, ns since 1970.
    private var since: Int64
    private var symbols = SymbolTable()
    private var trades: [Trade] = []
    private var tally: HourTally
    private var found = Result()
    /// How many answers in a row brought nothing.
    private var emptyAnswers = 0
    /// After how many such answers the venue does not have the trades: its service may be some seconds behind.
    private static let patience = 3

    /// - Parameters:
    ///   - hour: an hour with trades.
    ///   - lines: the recording's trades.
    package init(_ hour: CompletenessHour, of venue: Venue, lines: RecordedTradeLines) {
        self.venue = venue
        self.hour = hour
        self.lines = lines
        self.next = hour.first
        self.last = hour.last ?? 0
        self.since = hour.start &- 1
        self.tally = HourTally(start: hour.start, isBegun: true)
        self.found.comparesTrades = lines.ofHour(hour) != nil
    }

    /// Whether the last answer brought nothing, so that ``request`` repeats it. The caller waits for some seconds first.
    package var isInDoubt: Bool { self.emptyAnswers > 0 && self.next != nil }

    /// The request that is due; `nil` once everything has been compared.
    package var request: VenueTradesRequest? {
        guard let next else { return nil }
        let rest = (min(self.last, self.end ?? self.last) - next).addingCapped(1)
        let count = Int(min(rest, UInt64(VenueTradesRequest.maximumCount)))
        let trades: VenueTradesRequest.Trades =
            switch self.venue {
            case .binance, .coinbase: .ids(first: next, count: count)
            case .kraken: .since(self.since)
            }
        return VenueTradesRequest(self.venue, symbol: self.hour.symbol, trades)
    }

    /// Takes the answer to ``request``, as the frame of the exchange.
    package mutating func take(_ frame: ByteBuffer) throws(Fault) {
        guard let first = self.next else { return }
        self.trades.removeAll(keepingCapacity: true)
        guard
            case .trades = VenueExchange.read(frame, of: self.venue, symbols: &self.symbols, into: &self.trades)
        else { throw .unreadable }
        // Coinbase's answers end with the last id of the request and may be short: those before are requested again.
        if self.venue == .coinbase, let early = self.trades.first?.id, early > first, early <= self.end ?? self.last {
            self.end = early - 1
            return
        }
        for trade in self.trades { self.take(trade) }
        guard let next = self.next else { return }
        switch self.venue {
        case .binance, .coinbase:
            // Ids that the venue does not have any more end an answer earlier, and the next begins behind them.
            guard self.isEmpty(next == first) else { return }
            let end = first + min(self.last - first, UInt64(VenueTradesRequest.maximumCount - 1))
            self.advance(to: min(end, self.end ?? end))
        case .kraken:
            // Trades of the same time may continue in the next answer.
            let newest = self.trades.last.map { $0.exchangeTime &- 1 } ?? .min
            let broughtNothing = newest <= self.since
            if broughtNothing, self.trades.count >= VenueTradesRequest.maximumCount { throw .stuck }
            self.since = max(self.since, newest)
            if self.isEmpty(broughtNothing) { self.advance(to: self.last) }
        }
    }

    /// Takes whether an answer brought nothing; returns whether enough of them did.
    private mutating func isEmpty(_ broughtNothing: Bool) -> Bool {
        self.emptyAnswers = broughtNothing ? self.emptyAnswers + 1 : 0
        guard self.emptyAnswers >= Self.patience else { return false }
        self.emptyAnswers = 0
        return true
    }

    private mutating func take(_ trade: Trade) {
        guard let id = trade.id, let next = self.next, id >= next else { return }
        // A later trade shows that the venue has none of the rest.
        guard id <= self.last else { return self.advance(to: self.last) }
        if id > next { self.miss(next...id - 1) }
        if CompletenessHour.start(of: trade.exchangeTime) == self.hour.start {
            self.tally.count(id, isFilled: false)
            TradeLine.with(trade, id: id) { line in
                self.tally.digest(line)
                self.compare(id, line)
            }
        }
        self.step(behind: id)
    }

    private mutating func compare(_ id: UInt64, _ line: UnsafeRawBufferPointer) {
        guard self.found.difference == nil, let recorded = self.lines.ofHour(self.hour) else { return }
        if let known = recorded[id] {
            guard known != RecordedTradeLines.hash(line) else { return }
            let text = String(decoding: line.dropLast(), as: UTF8.self)
            self.found.difference = "id \(id): the venue has \(text), the recording another trade"
        } else {
            self.found.difference = "id \(id): the venue has this trade, the recording does not"
        }
    }

    /// Takes ids of which the venue has no trade.
    private mutating func miss(_ ids: ClosedRange<UInt64>) {
        guard self.found.difference == nil, let recorded = self.lines.ofHour(self.hour) else { return }
        // The fewer of both: ids are untrusted, and may be very many.
        let first =
            ids.upperBound - ids.lowerBound < UInt64(recorded.count)
            ? ids.first { recorded[$0] != nil } : recorded.keys.filter { ids.contains($0) }.min()
        if let first { self.found.difference = "id \(first): the recording has this trade, the venue does not" }
    }

    private mutating func advance(to id: UInt64) {
        if let next = self.next { self.miss(next...id) }
        self.step(behind: id)
    }

    private mutating func step(behind id: UInt64) {
        if let end, id >= end { self.end = nil }
        guard id >= self.last else {
            self.next = id + 1
            return
        }
        self.next = nil
        let report = self.tally.report(of: self.hour.symbol, isOver: true, unplaced: 0)
        (self.found.count, self.found.sha256) = (report.count, report.sha256)
    }

    /// What the venue has; `nil` before everything has been compared.
    package var result: Result? { self.next == nil && self.hour.first != nil ? self.found : nil }
}

import Ingest
import Wire

/// The requests for the missing trades of one venue, one at a time: those of the preferred symbol first, then those of
/// the symbols in the order in which they were found missing.
///
/// A state machine; times are arguments, monotonic ns unless stated otherwise. It keeps no limit of the venue.
struct Backfill {
    enum Step: Equatable {
        /// Sends a request to one of the addresses. The next event is its answer or its failure.
        case ask(VenueTradesRequest, address: Int)
        case wait(until: Int64)
        /// Nothing is missing, or a request is under way.
        case rest
    }

    /// What follows from a failed request.
    enum Consequence: Equatable {
        /// The next step may come at once.
        case nextStep
        /// The service is left alone for the next wait of the backoff.
        case backoff
        /// The service is left alone until then; wall clock, ns since 1970.
        case pause(until: Int64)
    }

    /// How long another address than the first is used, ns.
    private static let detourSpan: Int64 = 3_600_000_000_000
    /// How long an address may answer with status 403 before another one is used, ns.
    private static let pageTime: Int64 = 60_000_000_000

    private let venue: Venue
    private let addresses: [String]
    /// Whether each address has trades by their ids or times. Binance's host for market data has the newest only.
    private var findsIDs: [Bool]
    /// Since when the first one is believed to have none; monotonic ns.
    private var narrowSince: Int64?
    /// The address in use, and since when it is not the first, and why.
    private var address = 0
    private var detour: (since: Int64, reason: String)?
    /// Since when no address answers, and since when all refuse.
    private var unreachableSince: Int64?
    private var refusedSince: Int64?

    private var symbols: [SymbolBackfill] = []
    private var underWay: VenueTradesRequest?
    /// The symbol whose trades come first.
    var preferred: String?

    /// - Parameter addresses: the service's addresses (``VenueTradesSource/addresses``).
    init(_ venue: Venue, addresses: [String]) {
        precondition(!addresses.isEmpty)
        self.venue = venue
        self.addresses = addresses
        self.findsIDs = addresses.indices.map { $0 == 0 }
    }

    /// Why not all trades can be had now, for people; `nil` if they can.
    var limitation: String? {
        guard !self.findsIDs[self.address] else { return nil }
        return self.detour.map { "\(self.newestOnly), since \($0.reason)" } ?? self.newestOnly
    }

    /// The reason for a loss at an address that has the newest trades only.
    private var newestOnly: String {
        guard self.venue == .binance else {
            return "\(self.venue.name) finds trades by time only, and the time of the trade before these is unknown"
        }
        let count = TradeID.grouped(UInt64(VenueTradesRequest.maximumCount))
        return "\(self.addresses[self.address]) has the newest \(count) trades only; set venues.binance-service to an "
            + "address that has historicalTrades"
    }

    // MARK: Missing trades

    /// Takes what is missing now; returns what cannot be had.
    mutating func missingChanged(_ missing: [MissingTrades], now: Int64) -> [SymbolBackfill.Loss] {
        let holes = Dictionary(missing.map { ($0.symbol, $0.holes) }) { first, _ in first }
        self.symbols.removeAll { holes[$0.name]?.isEmpty != false }
        let known = Set(self.symbols.map(\.name))
        for one in missing where !known.contains(one.symbol) && !one.holes.isEmpty {
            self.symbols.append(SymbolBackfill(self.venue, one.symbol, now: now))
        }
        var losses: [SymbolBackfill.Loss] = []
        for index in self.symbols.indices {
            losses += self.symbols[index].missingChanged(holes[self.symbols[index].name] ?? [])
        }
        return losses
    }

    // MARK: Steps

    /// Returns the next step.
    mutating func next(now: Int64) -> Step {
        guard self.underWay == nil else { return .rest }
        if let detour, now - detour.since >= Self.detourSpan { self.returnToFirst() }
        if let narrowSince, now - narrowSince >= Self.detourSpan {
            self.narrowSince = nil
            self.findsIDs[0] = true
        }
        guard let symbol = self.due(now), let trades = symbol.request(findsIDs: self.findsIDs[self.address]) else {
            return self.symbols.map(\.notBefore).min().map { .wait(until: $0) } ?? .rest
        }
        let request = VenueTradesRequest(self.venue, symbol: symbol.name, trades)
        self.underWay = request
        return .ask(request, address: self.address)
    }

    private func due(_ now: Int64) -> SymbolBackfill? {
        let due = self.symbols.filter { $0.notBefore <= now }
        return due.first { $0.name == self.preferred } ?? due.first
    }

    // MARK: Answers

    /// Takes the answer to the request under way, after its trades went onto the tape; returns what cannot be had.
    ///
    /// - Parameter missing: what is missing now.
    mutating func answered(
        _ answer: EarlierTrades,
        missing: [MissingTrades],
        now: Int64
    ) -> [SymbolBackfill.Loss] {
        let request = self.takeRequest()
        self.unreachableSince = nil
        self.refusedSince = nil
        guard let index = self.symbols.firstIndex(where: { $0.name == request.symbol }) else { return [] }
        return self.symbols[index].answered(
            answer,
            to: request.trades,
            missing: missing.first { $0.symbol == request.symbol }?.holes ?? [],
            newestOnly: self.newestOnly,
            now: now
        )
    }

    /// Takes the failure of the request under way; returns what cannot be had, and how to go on.
    mutating func failed(_ failure: ServiceFailure, now: Int64) -> (Consequence, [SymbolBackfill.Loss]) {
        let request = self.takeRequest()
        switch (failure.kind, failure.status) {
        case (.rateLimited(let until), _): return (.pause(until: until), [])
        case (_, 403), (_, 451): return self.refused(failure, now: now)
        case (_, 404) where self.venue == .binance && self.findsIDs[self.address]:
            self.findsIDs[self.address] = false
            self.narrowSince = now
            return (.nextStep, [])
        case (.unreachable, _): return self.unreachable(failure, now: now)
        case (.noKey, _), (.keyRejected, _), (.notPermitted, _), (.unreadableAnswer, _), (.unknownExchange, _):
            self.unreachableSince = nil
            self.refusedSince = nil
            guard let index = self.symbols.firstIndex(where: { $0.name == request.symbol }) else {
                return (.nextStep, [])
            }
            return (.nextStep, self.symbols[index].answerWasUnusable(failure.description, now: now))
        }
    }

    private mutating func takeRequest() -> VenueTradesRequest {
        guard let request = self.underWay else { preconditionFailure("an answer, but no request is under way") }
        self.underWay = nil
        return request
    }

    /// Takes the refusal of an address: another one is used, or everything is given up after a time.
    private mutating func refused(
        _ failure: ServiceFailure,
        now: Int64
    ) -> (Consequence, [SymbolBackfill.Loss]) {
        self.unreachableSince = nil
        let since = self.refusedSince ?? now
        self.refusedSince = since
        // A page with status 403 may be that of a filter for a moment; 451 is about this place.
        guard failure.status == 451 || self.address > 0 || now - since >= Self.pageTime else { return (.backoff, []) }
        if self.takeNextAddress(failure, now: now) { return (.nextStep, []) }
        // The first address may be the first to answer again.
        self.returnToFirst()
        guard now - since >= SymbolBackfill.patience else { return (.backoff, []) }
        self.refusedSince = nil
        return (.backoff, self.symbols.flatMap { $0.giveUp(failure.description) })
    }

    /// Takes that an address does not answer. The other one has only some of the trades, so the wait for the first is
    /// longer.
    private mutating func unreachable(
        _ failure: ServiceFailure,
        now: Int64
    ) -> (Consequence, [SymbolBackfill.Loss]) {
        self.refusedSince = nil
        let since = self.unreachableSince ?? now
        self.unreachableSince = since
        // No address answers, so the network is down, and nothing is known of the first address.
        guard self.address == 0 else {
            self.returnToFirst()
            return (.backoff, [])
        }
        guard now - since >= SymbolBackfill.patience else { return (.backoff, []) }
        self.unreachableSince = nil
        return (self.takeNextAddress(failure, now: now) ? .nextStep : .backoff, [])
    }

    private mutating func takeNextAddress(_ failure: ServiceFailure, now: Int64) -> Bool {
        guard self.address + 1 < self.addresses.count else { return false }
        self.address += 1
        self.detour = (now, failure.description)
        return true
    }

    private mutating func returnToFirst() {
        self.address = 0
        self.detour = nil
    }
}

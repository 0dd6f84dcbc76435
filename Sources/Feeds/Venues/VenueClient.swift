package import Ingest
package import Market
import NIOCore
package import Wire

/// The client of a venue's own protocol.
///
/// A symbol has the tape's name here (`KRAKEN:XXBTZUSD`), and one that is written in the venue's own way
/// (`KRAKEN:BTC/USD`) is the same symbol.
package final class VenueClient: FeedClient {
    /// How many unknown names at a time get the name that was probably meant.
    private static let suggestions = 8
    /// The age from which the end of a connection to Binance counts as its planned one, after 24 hours; ns.
    private static let plannedEnd: Int64 = 86_000_000_000_000

    let venue: Venue
    /// The venue's list of symbols, once there is one.
    private var names: VenueNames?
    /// The ways in which each symbol is written, where one is not the tape's name.
    private var written: [String: Set<String>]
    /// The connection whose end the venue has announced.
    private weak var announced: FeedHandler?
    /// The feed's remark, and what the venue says of its own service.
    private var remark: String?
    private var service = VenueServiceState()
    /// Requests what is missing; `nil` if nothing may be requested.
    weak var backfill: VenueBackfill?

    /// Creates the client and its input on a tape.
    package init(_ settings: VenueSettings, _ tape: TapeWriter, _ context: FeedContext) {
        self.venue = settings.venue
        var client = settings.client
        var written: [String: Set<String>] = [:]
        client.symbols = settings.symbols.map { symbol in
            let name = settings.venue.tapeName(of: symbol)
            written[name, default: []].insert(symbol)
            return name
        }
        self.written = written
        super.init(
            client,
            name: settings.venue.name,
            repeats: .identified,
            tape,
            context
        )
    }

    // MARK: Names

    /// Takes the subscriptions under the tape's names.
    package override func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        super.subscriptionsChanged(changes.compactMap(self.named))
    }

    /// Returns a change under the tape's name; `nil` if the symbol is still wanted under another name.
    private func named(_ change: SubscriptionChange) -> SubscriptionChange? {
        switch change {
        case .subscribe(let symbol):
            let name = self.venue.tapeName(of: symbol)
            self.written[name, default: []].insert(symbol)
            return .subscribe(name)
        case .unsubscribe(let symbol):
            let name = self.venue.tapeName(of: symbol)
            self.written[name]?.remove(symbol)
            guard self.written[name]?.isEmpty != false else { return nil }
            self.written[name] = nil
            return .unsubscribe(name)
        }
    }

    /// Returns the name for a request: as the venue's list has it, or as a person wrote it.
    func requestName(of symbol: String) -> String {
        if let name = self.names?.name(of: symbol) { return "\(self.venue.prefix)\(name)" }
        return self.written[symbol]?.first { $0 != symbol } ?? symbol
    }

    /// Takes the venue's list of symbols.
    func namesArrived(_ names: VenueNames, now: Moment) {
        self.names = names
        self.checkNames(now)
        if let handler {
            self.look(handler, now)
            handler.requestsWait()
            self.second?.handler?.requestsWait()
        }
    }

    /// Refuses the symbols that the venue does not list: Binance acknowledges a wrong name, and stays silent.
    private func checkNames(_ now: Moment) {
        guard let names else { return }
        var suggestions = Self.suggestions
        self.watch.check(
            { symbol in
                let fault = names.fault(of: symbol, suggests: suggestions > 0)
                if fault != nil { suggestions -= 1 }
                return fault
            },
            now: now
        )
        self.watch.remark(names.halt, now: now)
        self.publishChanges()
    }

    /// The wanted symbols that the venue lists, or all of them while its list is not known.
    var listedSymbols: [String] {
        guard let names else { return self.input.symbols }
        return self.input.symbols.filter { names.name(of: $0) != nil }
    }

    /// Whether a connection has anything to request.
    var hasRequestable: Bool { self.watch.hasRequestable }

    /// Whether the venue's list lacks a wanted symbol.
    var hasUnlisted: Bool { self.watch.hasUnlisted }

    /// Takes the feed's remark, which belongs to every status of an open connection.
    func noteChanged(_ remark: String?) {
        self.remark = remark
        self.remarkChanged()
    }

    private func remarkChanged() {
        let remarks = [self.service.text, self.remark].compactMap(\.self)
        let note = remarks.isEmpty ? nil : remarks.joined(separator: "; ")
        guard self.note != note else { return }
        self.note = note
        guard let handler else { return }
        self.report(
            self.condition,
            lastError: handler.monitor.error(isLive: self.condition == .live, now: self.now.monotonic)
        )
    }

    override func takeRequests(_ now: Moment) -> [SubscriptionChange] {
        if self.watch.hasWaitingRequests { self.checkNames(now) }
        return self.watch.takeRequests(now)
    }

    package override func holesFound(now: Moment) { self.backfill?.holesFound() }

    // MARK: Connections

    override func makeDialect() -> any ConnectionDialect {
        VenueDialect(self.venue, batch: self.settings.watch.subscribeBatch, client: self)
    }

    override func take(_ event: FeedEvent, on handler: FeedHandler, now: Moment) {
        switch event {
        case .newest(let newest, let symbol):
            super.take(.heartbeats(areExpected: true), on: handler, now: now)
            guard let newest else { return }
            self.input.newestReported(newest, of: symbol, now: now)
        case .closing:
            self.announced = handler
            self.rotation?.closingAnnounced()
        case .service(let state): self.serviceChanged(state)
        case .error, .heartbeats, .trades: super.take(event, on: handler, now: now)
        }
    }

    /// Takes what the venue says of its service. It is said in the status, and in the log.
    private func serviceChanged(_ state: VenueServiceState) {
        guard state != self.service else { return }
        self.service = state
        if let text = state.text {
            self.context.logger.warning("The service announces", metadata: ["text": "\(text)"])
        }
        self.remarkChanged()
        self.rotation?.conditionChanged(self.condition)
    }

    override var isHalted: Bool { self.service.isHalted }

    override func failure(of ending: ConnectionEnding, _ now: Moment) -> UpstreamFailure {
        var failure = UpstreamFailure(ending)
        guard !failure.isOurEnd else { return failure }
        if let handler, self.announced === handler {
            failure.description = "\(self.venue.name) has announced to close its connections: \(failure.description)"
        } else if self.venue == .binance, let handler, now.monotonic - handler.monitor.opened >= Self.plannedEnd {
            failure.description = "Binance ends each connection after 24 hours: \(failure.description)"
        }
        if self.venue == .kraken, let code = ending.closeCode, [1_001, 1_012, 1_013].contains(code) {
            // Kraken asks for this pause after its maintenance.
            failure.retryAfter = UpstreamFailure.repair
        }
        if let text = self.service.text { failure.description += "; \(text)" }
        return failure
    }

    // MARK: Words

    override var wordsForNoSymbol: String {
        "\(self.venue.name) has none of the symbols: write them as \(self.venue.name) does, such as "
            + "\(self.venue.example)"
    }
}

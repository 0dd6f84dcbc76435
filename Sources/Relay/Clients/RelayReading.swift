import Market
import NIOCore
import Wire

/// The state of a relay at one moment, copied on its loop to be encoded elsewhere.
struct RelayReading: Sendable {
    /// One symbol that is subscribed upstream.
    struct Symbol: Sendable {
        var name: String
        /// The feed's status of the symbol; `nil` before its first report.
        var status: SymbolStatus?
        /// The time since the symbol's newest trade arrived, without pauses of a replay; ns.
        var age: Int64?
        var trades: UInt64
        /// The venue's own figures of the last 24 hours; `nil` where it gives none.
        var day: VenueDay?
    }

    /// The effective status of the feed, which takes the age of its data into account.
    var status: FeedStatus
    /// The position of the replay.
    var replay: ReplayPosition?
    /// At most as many as the relay's limit of symbols.
    var symbols: [Symbol]
    /// The time since the newest trade of all symbols arrived, without pauses of a replay; ns.
    var newestAge: Int64?
    /// The number of clients of each protocol, by its name.
    var clients: [(name: String, count: Int)]
    /// The bytes that wait for clients in this program, and those in the queue from the feed.
    var waitingBytes: Int
    var outboxBytes: Int
    var epoch: UInt64?
    /// The numbers of the trades that the ring holds; the next trade gets `upperBound`.
    var sequences: Range<UInt64>
}

/// Some trades of one symbol out of the ring, copied on the relay's loop.
struct TradeExcerpt: Sendable {
    struct Item: Sendable {
        /// The epoch, if it is an earlier one than the excerpt's.
        var epoch: UInt64?
        var sequence: UInt64
        var trade: Trade
        var received: Int64
    }

    var symbol: String
    var epoch: UInt64
    /// The oldest first.
    var items: [Item]
    /// The sequence numbers of all trades in the ring.
    var sequences: Range<UInt64>
}

/// The state that HTTP requests read, on the relay's loop.
extension RelayHub {
    /// - Parameters:
    ///   - outboxBytes: the bytes that wait between the feed and the relay.
    ///   - answerBytes: the bytes of HTTP answers that wait.
    func reading(outboxBytes: Int, answerBytes: Int) -> RelayReading {
        let symbols = self.subscriptions.ordered.prefix(self.subscriptions.limit).map { name in
            let newest = self.prices.knownRow(of: name).flatMap { self.prices.newest(row: $0) }
            return RelayReading.Symbol(
                name: name,
                status: self.symbolStates[name],
                age: newest.flatMap { self.silence(since: $0.summary.received) },
                trades: newest?.summary.trades ?? 0,
                day: self.day(of: name)
            )
        }
        var waiting = answerBytes
        var counts: [ObjectIdentifier: Int] = [:]
        for session in self.sessions.values {
            waiting += session.output.waitingBytes
            counts[ObjectIdentifier(type(of: session)), default: 0] += 1
        }
        return RelayReading(
            status: self.effectiveStatus,
            replay: self.replay?.position(),
            symbols: symbols,
            newestAge: self.newestAge,
            clients: self.protocols.all.map { ($0.name, counts[ObjectIdentifier($0)] ?? 0) },
            waitingBytes: waiting,
            outboxBytes: outboxBytes,
            epoch: self.ring.epoch,
            sequences: self.ring.sequences
        )
    }

    /// Returns the venue's own figures of a symbol's last 24 hours; `nil` without any, and if they are too old.
    func day(of symbol: String) -> VenueDay? {
        self.days[symbol].flatMap { self.wallClock() - $0.received < VenueDay.goodFor ? $0 : nil }
    }

    /// Returns the status and the newest price of every symbol, as one JSON object.
    func snapshot() -> ByteBuffer {
        JSONWriter.line { out in
            out.field("status", json: StreamEncoder.status(self.effectiveStatus))
            out.array("symbols") { out in
                for summary in self.prices.summaries { out.element(json: StreamEncoder.snapshot(summary)) }
            }
        }
    }

    /// Returns the newest price of one symbol, in the form of ``snapshot()``; `nil` if it has not traded.
    func snapshot(of symbol: String) -> ByteBuffer? {
        guard let row = self.prices.knownRow(of: symbol), let newest = self.prices.newest(row: row) else { return nil }
        var json = StreamEncoder.snapshot(newest.summary)
        json.writeStaticString("\n")
        return json
    }

    /// Returns the newest trades of a symbol, including those of earlier runs; `nil` if there are none.
    func trades(of symbol: String, limit: Int) -> TradeExcerpt? {
        guard let epoch = self.ring.epoch else { return nil }
        var items: [TradeExcerpt.Item] = []
        var isKnown = false
        for run in [self.ring] + self.ring.earlier.reversed().map(\.ring) {
            guard let numbers = run.newest(limit - items.count, of: symbol) else { continue }
            isKnown = true
            let found = numbers.map { number in
                let entry = run[number]
                return TradeExcerpt.Item(
                    epoch: run.epoch == epoch ? nil : run.epoch,
                    sequence: number,
                    trade: entry.trade,
                    received: entry.received
                )
            }
            items = found + items
            if items.count >= limit { break }
        }
        guard isKnown else { return nil }
        return TradeExcerpt(symbol: symbol, epoch: epoch, items: items, sequences: self.ring.sequences)
    }
}

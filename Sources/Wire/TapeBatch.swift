package import Market
package import NIOCore

/// The result of one read of the feed: the numbered trades, and the frames that contained them.
///
/// It is the unit in which trades travel: one plain call a reader of the tape, and one hop to another event loop.
package struct TapeBatch: Sendable {
    /// A text frame as the upstream sent it, with the batch's trades that it contained.
    package struct Frame: Sendable {
        /// The frame's payload, verbatim; it shares the read's storage.
        package var bytes: ByteBuffer
        /// The dialect of the bytes.
        package var dialect: FrameDialect
        /// Indices into ``TapeBatch/trades``.
        package var trades: Range<Int>
        /// Whether `trades` are all trades of the frame: none was skipped as malformed or left out as a repeat.
        package var isWhole: Bool
        /// Whether a part of the frame could not be read.
        package var isMalformed: Bool
        /// The places, among the trades in the frame's text, of those missing from `trades` although others are there:
        /// they had already come before, or are from before the subscription.
        package var leftOut: [Int]

        package init(
            bytes: ByteBuffer,
            dialect: FrameDialect = .finnhub,
            trades: Range<Int>,
            isWhole: Bool,
            isMalformed: Bool = false,
            leftOut: [Int] = []
        ) {
            self.bytes = bytes
            self.dialect = dialect
            self.trades = trades
            self.isWhole = isWhole
            self.isMalformed = isMalformed
            self.leftOut = leftOut
        }
    }

    /// The parts of a read that are not among the trades, or may be on the tape a second time.
    package struct Losses: Sendable, Equatable {
        /// The frames with an unreadable part, and the unreadable elements.
        package var malformedFrames = 0
        package var malformedElements = 0
        /// The trades of symbols beyond the largest number of symbols.
        package var unnumberedTrades = 0
        /// The frames that repeated another one byte for byte within two seconds.
        package var repeatedFrames = 0
        /// The trades left out as repeats: likely ones, if the settings say so, and those whose ids had come.
        package var repeatedTrades = 0
        /// The trades of the batch that are marked ``TradeMarks/possibleRepeat``.
        package var possibleRepeats = 0

        package init() {}
    }

    /// Returns the places, among the trades in a frame's text, of those that may have come before.
    package func possibleRepeats(in frame: Frame) -> [Int] {
        // Nearly every read has no such trade.
        self.losses.possibleRepeats > 0 ? self.places(of: .possibleRepeat, in: frame) : []
    }

    /// Returns the places, counted in the same way, of the trades that are ahead.
    package func ahead(in frame: Frame) -> [Int] {
        self.aheadArrival == nil ? [] : self.places(of: .ahead, in: frame)
    }

    /// Returns the places, counted in the same way, of the filled trades.
    package func filled(in frame: Frame) -> [Int] {
        let places = frame.trades.clamped(to: self.trades.indices)
        return self.trades[places].contains(where: \.isFilled) ? self.places(of: .filled, in: frame) : []
    }

    /// Whether the batch has a trade that is not filled.
    package var hasLiveTrade: Bool { self.trades.contains { !$0.isFilled } }

    private func places(of mark: TradeMarks, in frame: Frame) -> [Int] {
        var leftOut = frame.leftOut[...]
        var places: [Int] = []
        var place = 0
        for index in frame.trades {
            while leftOut.first == place {
                leftOut.removeFirst()
                place += 1
            }
            if self.trades[index].marks.contains(mark) { places.append(place) }
            place += 1
        }
        return places
    }

    /// The identifier of the run of numbers. A new run begins when the program starts, and when a feed has used up its
    /// symbols' numbers. A ``SymbolID`` has a meaning within one epoch only.
    package var epoch: UInt64
    /// The number of `trades[0]`; the others follow without holes.
    package var firstSequence: UInt64
    /// Our wall clock at the read, ns since 1970.
    package var received: Int64
    /// The monotonic clock at the same moment, ns (`NIODeadline`). Latencies within the program are measured from here.
    package var receivedMonotonic: Int64
    package var trades: [Trade]
    package var frames: [Frame]
    /// The names of the symbols of `trades`.
    package var symbols: SymbolTable
    package var losses: Losses
    /// The trades that were left out because their ids were seen; a part of ``Losses/repeatedTrades``.
    package var repeated: [Trade] = []
    /// How far our clock is behind the exchange's according to the feed's last reads (``ArrivalCheck``), ns; 0 in a
    /// replay.
    package var clockOffset: Int64 = 0
    /// The arrival by the exchange's clock, ns since 1970, if some trades are ahead of it, otherwise `nil`; in a replay
    /// the recorded arrival.
    package var aheadArrival: Int64?

    /// The trades with the times that count in bars, charts and everything else that uses the exchange's clock. A trade
    /// that is ahead counts at the time of its arrival.
    package var countedTrades: [Trade] {
        self.aheadArrival == nil ? self.trades : self.trades.indices.map { self.countedTrade(at: $0) }
    }

    /// Returns one of ``countedTrades``, so that a reader of a part of the read does not create all of them.
    package func countedTrade(at index: Int) -> Trade {
        var trade = self.trades[index]
        if let aheadArrival, trade.marks.contains(.ahead) { trade.exchangeTime = aheadArrival }
        return trade
    }

    package init(
        epoch: UInt64,
        firstSequence: UInt64,
        received: Int64,
        receivedMonotonic: Int64,
        trades: [Trade],
        frames: [Frame],
        symbols: SymbolTable,
        losses: Losses = Losses()
    ) {
        self.epoch = epoch
        self.firstSequence = firstSequence
        self.received = received
        self.receivedMonotonic = receivedMonotonic
        self.trades = trades
        self.frames = frames
        self.symbols = symbols
        self.losses = losses
    }
}

/// A consumer of the tape, such as a relay, a display or a recorder.
///
/// Every method is called on the feed's event loop, in order, and must return at once. Longer work belongs on the
/// reader's own loop or thread.
package protocol TapeReader: AnyObject, Sendable {
    /// Notes that a new run of numbers begins. This call precedes the first batch of every run, including the very
    /// first, and the gaps in it. Each ``SymbolID`` has a new meaning.
    ///
    /// - Parameters:
    ///   - first: the number of the first trade: 1, or that at which this program has joined another one's tape.
    ///   - symbols: the names of the symbols of the first batch, if it is known; later batches may add more.
    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable)
    /// Takes the trades of one read.
    func read(_ batch: TapeBatch)
    /// Takes a change of the feed's status.
    func statusChanged(_ status: FeedStatus)
    /// Takes a change of one symbol's status.
    func symbolChanged(_ status: SymbolStatus)
    /// Notes that no subscription to a symbol remains, so that it has no status.
    func symbolUnsubscribed(_ symbol: String)
    /// Takes a gap, which lies between the batches before and after this call.
    func gapFound(_ gap: Gap)
    /// Takes the outcome of a gap with ids, after the batch with its last trade.
    func gapSettled(_ outcome: GapOutcome)
    /// Takes the venue's own figures of a symbol's last 24 hours.
    func dayChanged(_ day: VenueDay)
    /// Takes an event of the connection other than a message, at a monotonic time in ns (`NIODeadline`).
    func connectionChanged(_ event: ConnectionEvent, monotonic: Int64)
}

extension TapeReader {
    /// Does nothing: most readers do not keep symbols' numbers.
    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {}

    /// Does nothing: most readers do not report single symbols.
    package func symbolChanged(_ status: SymbolStatus) {}

    package func symbolUnsubscribed(_ symbol: String) {}

    /// Does nothing: most readers do not keep gaps.
    package func gapSettled(_ outcome: GapOutcome) {}

    /// Does nothing: most readers show no figures of the venue's own.
    package func dayChanged(_ day: VenueDay) {}

    /// Does nothing: most readers need only the feed's status.
    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {}
}

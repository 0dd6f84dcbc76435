package import Market
package import NIOCore

/// What one read of the feed brought: the trades, numbered, and the frames they came in.
///
/// The unit in which trades travel: handed to every reader of the tape by one plain call, and over a loop's edge by one
/// hop.
package struct TapeBatch: Sendable {
    /// A text frame as the upstream sent it, and which of the batch's trades it held.
    package struct Frame: Sendable {
        /// The frame's payload, verbatim; shares the read's storage.
        package var bytes: ByteBuffer
        /// Whose words the bytes are.
        package var dialect: FrameDialect
        /// Indices into ``TapeBatch/trades``.
        package var trades: Range<Int>
        /// Whether the trades in `trades` are all that the frame held: nothing in it was skipped as malformed or
        /// left out as a repeat.
        package var isWhole: Bool
        /// Whether something in it could not be read.
        package var isMalformed: Bool
        /// The places, among the trades that the frame's text holds, of those that are not in `trades` although others
        /// are: they had come before an interruption already.
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

    /// What the read brought and is not among the trades, or may be there a second time.
    package struct Losses: Sendable, Equatable {
        /// Frames of which something could not be read, and elements that could not.
        package var malformedFrames = 0
        package var malformedElements = 0
        /// Trades of more symbols than there are numbers for.
        package var unnumberedTrades = 0
        /// Frames that came again byte for byte, within two seconds.
        package var repeatedFrames = 0
        /// Trades that were left out as repeats.
        package var repeatedTrades = 0
        /// Trades that are among them, and are marked ``TradeMarks/possibleRepeat``.
        package var possibleRepeats = 0

        package init() {}
    }

    /// The places, among the trades that a frame's text holds, of those that may have come before.
    package func possibleRepeats(in frame: Frame) -> [Int] {
        // Nearly always there is not one in the whole read.
        self.losses.possibleRepeats > 0 ? self.places(of: .possibleRepeat, in: frame) : []
    }

    /// The places, counted in the same way, of those that are ahead.
    package func ahead(in frame: Frame) -> [Int] {
        self.aheadArrival == nil ? [] : self.places(of: .ahead, in: frame)
    }

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

    /// Names the run of numbers; a new one begins when the program starts, and when a feed has used up its symbols' numbers:
    /// a ``SymbolID`` means a symbol within one epoch only.
    package var epoch: UInt64
    /// The number of `trades[0]`; the others follow without a hole.
    package var firstSequence: UInt64
    /// Our wall clock when the read was made, ns since 1970.
    package var received: Int64
    /// The monotonic clock at the same moment, ns (`NIODeadline`); intervals inside the program begin here.
    package var receivedMonotonic: Int64
    package var trades: [Trade]
    package var frames: [Frame]
    /// Names for the symbols of `trades`.
    package var symbols: SymbolTable
    package var losses: Losses
    /// How far our clock is behind the exchange's, as the feed's last reads agree (``ArrivalCheck``), ns; 0 in a replay.
    package var clockOffset: Int64 = 0
    /// The arrival by the exchange's clock, ns since 1970, where some of the trades are ahead of it; in a replay the recorded
    /// one.
    package var aheadArrival: Int64?

    /// The trades with the times by which they count in bars, charts and what else goes by the exchange's clock: those that
    /// are ahead count as made when they arrived.
    package var countedTrades: [Trade] {
        self.aheadArrival == nil ? self.trades : self.trades.indices.map { self.countedTrade(at: $0) }
    }

    /// One of ``countedTrades``, for who looks at the read in parts: all of them are not made for each part.
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

/// Somebody who follows the tape: a relay, a display, a recorder.
///
/// Every method is called on the feed's event loop, in order, and must return at once: work goes to the reader's own
/// loop or thread.
package protocol TapeReader: AnyObject, Sendable {
    /// Notes that another run of numbers begins, in front of its first batch, the first one included: the numbers of trades
    /// begin at 1, and each ``SymbolID`` means another symbol than before.
    ///
    /// - Parameter symbols: names for the symbols of the first batch; more come with the others.
    func epochBegan(_ epoch: UInt64, symbols: SymbolTable)
    /// Takes the trades of one read.
    func read(_ batch: TapeBatch)
    /// Takes a change of the feed's state.
    func statusChanged(_ status: FeedStatus)
    /// Takes a change of one symbol's state.
    func symbolChanged(_ status: SymbolStatus)
    /// Notes that nobody asks for a symbol any more, so that it has no state.
    func symbolUnwished(_ symbol: String)
    /// Takes a gap; it stands between the batches before and after this call.
    func gapFound(_ gap: Gap)
    /// Takes what happened on the connection beside its messages; at a monotonic time in ns (`NIODeadline`).
    func connectionChanged(_ event: ConnectionEvent, monotonic: Int64)
}

extension TapeReader {
    /// Most readers keep no number of a symbol.
    package func epochBegan(_ epoch: UInt64, symbols: SymbolTable) {}

    /// Most readers tell nothing of single symbols.
    package func symbolChanged(_ status: SymbolStatus) {}

    package func symbolUnwished(_ symbol: String) {}

    /// Most readers need to know no more than the feed's state.
    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {}
}

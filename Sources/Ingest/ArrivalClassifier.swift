import Market

/// The judgement of one feed's input which trades are ahead: later than their arrival allows. Live, the arrival is our
/// clock's; in a replay the player states the recorded arrivals.
struct ArrivalClassifier {
    private let isLive: Bool
    private var check = ArrivalCheck()
    /// When the next frame arrived in the recording, by the exchange's clock; ns since 1970. `nil` for an unmarked
    /// frame.
    private var marked: Int64?
    /// The marked arrival of the newest frame of the current read that holds a trade ahead; ns since 1970.
    private var found: Int64?

    init(isLive: Bool) { self.isLive = isLive }

    /// How far our clock is behind the exchange's according to most of the last reads, ns.
    var clockOffset: Int64 { self.check.offset }

    /// Takes the arrival of the next frame, by the exchange's clock, ns since 1970.
    mutating func marked(_ arrival: Int64) { self.marked = arrival }

    /// Takes the trades of one frame of the current read; they begin at `first`.
    @inline(__always)
    mutating func frameTaken(_ trades: inout [Trade], from first: Int) {
        guard self.marked != nil else { return }
        self.takeMarked(&trades, from: first)
    }

    private mutating func takeMarked(_ trades: inout [Trade], from first: Int) {
        guard let arrival = self.marked else { return }
        self.marked = nil
        guard first < trades.count else { return }
        if ArrivalCheck.mark(&trades, from: first, arrival: arrival).found { self.found = arrival }
    }

    /// Marks the trades of a whole read that are ahead.
    ///
    /// - Parameter received: the arrival by our clock, ns since 1970.
    /// - Returns: the arrival by the exchange's clock, ns since 1970; `nil` if no trade is ahead.
    mutating func readEnded(_ trades: inout [Trade], received: Int64) -> Int64? {
        if self.isLive { return self.check.judge(&trades, received: received) }
        defer { self.found = nil }
        return self.found
    }

    /// Marks the trades that were asked for and are ahead.
    ///
    /// - Returns: as ``readEnded(_:received:)``.
    mutating func judgeEarlier(_ trades: inout [Trade], received: Int64) -> Int64? {
        self.isLive
            ? self.check.judgeEarlier(&trades, received: received) : self.readEnded(&trades, received: received)
    }
}

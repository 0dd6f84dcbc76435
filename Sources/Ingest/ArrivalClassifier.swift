import Market

/// The tape's judgement of which trades are ahead: of the market's by our clock, in a replay by what the player says of the
/// recorded arrivals.
struct ArrivalClassifier {
    private let isLive: Bool
    private var check = ArrivalCheck()
    /// When the next frame arrived in the recording, by the exchange's clock; ns since 1970.
    private var marked: Int64?
    /// The same of a frame of the current read of which trades are ahead.
    private var found: Int64?

    init(isLive: Bool) { self.isLive = isLive }

    /// How far our clock is behind the exchange's by what the last reads agree on, ns.
    var clockOffset: Int64 { self.check.offset }

    /// Takes the arrival of the next frame, by the exchange's clock, ns since 1970.
    mutating func marked(_ arrival: Int64) { self.marked = arrival }

    /// Takes the trades of one frame of the current read, which begin at a place.
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

    /// Marks the trades of a whole read that came at a time by our clock, ns since 1970.
    ///
    /// - Returns: the arrival by the exchange's clock, ns since 1970; `nil` where no trade is ahead.
    mutating func readEnded(_ trades: inout [Trade], received: Int64) -> Int64? {
        if self.isLive { return self.check.judge(&trades, received: received) }
        defer { self.found = nil }
        return self.found
    }
}

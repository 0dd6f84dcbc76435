import Market
import NIOCore
package import Wire

/// The newest trades of a recording, collected from its end backwards, line by line, up to the first hole.
///
/// The trades behind a hole are complete; a reader could not distinguish them from those before it. So the search ends
/// at the first hole on the way back, or at the limits of number and age.
package struct RecordedTail {
    private let epoch: UInt64
    private let limit: Int
    private let notBefore: Int64
    private var symbols = SymbolTable()
    private var reader = FrameReader()
    /// The trades of each frame that had any, the newest frame first, and the frame's arrival, wall clock, ns since
    /// 1970.
    private var frames: [(trades: [Trade], received: Int64)] = []
    private var count = 0
    /// The number of the oldest trade.
    private var first: UInt64?
    /// Whether earlier lines would add nothing.
    package private(set) var isComplete = false

    /// - Parameters:
    ///   - header: the recording's header; without an epoch there are no numbers, and no trades are found.
    ///   - limit: how many trades are enough.
    ///   - notBefore: the earliest arrival, wall clock, ns since 1970.
    package init(header: RecordingHeader, limit: Int, notBefore: Int64) {
        self.epoch = header.epoch ?? 0
        self.limit = limit
        self.notBefore = notBefore
        self.isComplete = header.epoch == nil || limit <= 0
    }

    /// Takes the line before those taken so far; the first call takes the file's last line.
    package mutating func take(_ line: RecordedLine) {
        // The numbers behind an unreadable line show whether it held trades.
        guard !self.isComplete, let frame = line.frame, let numbers = frame.numbers else { return }
        guard let (time, isOut) = frame.wall?.multipliedReportingOverflow(by: 1_000), !isOut, time >= self.notBefore,
            let trades = self.trades(of: frame, numbers),
            self.first ?? numbers.first &+ UInt64(trades.count) == numbers.first &+ UInt64(trades.count)
        else {
            self.isComplete = true
            return
        }
        self.first = numbers.first
        guard !trades.isEmpty else { return }
        self.frames.append((trades, time))
        self.count += trades.count
        if self.count >= self.limit { self.isComplete = true }
    }

    /// Returns the frame's trades that are on the tape; `nil` where its numbers do not match its text.
    private mutating func trades(of frame: RecordedFrame, _ numbers: RecordedNumbers) -> [Trade]? {
        var trades: [Trade] = []
        _ = self.reader.read(frame.frame, of: frame.dialect, symbols: &self.symbols, into: &trades)
        return numbers.apply(to: &trades) ? trades : nil
    }

    /// Returns the trades found, the oldest first; `nil` without any.
    package consuming func found() -> RecordedTrades? {
        guard let first, self.count > 0 else { return nil }
        var trades: [Trade] = []
        var received: [Int64] = []
        trades.reserveCapacity(self.count)
        received.reserveCapacity(self.count)
        for frame in self.frames.reversed() {
            trades += frame.trades
            received += repeatElement(frame.received, count: frame.trades.count)
        }
        let surplus = max(0, trades.count - self.limit)
        trades.removeFirst(surplus)
        received.removeFirst(surplus)
        return RecordedTrades(
            epoch: self.epoch,
            first: first + UInt64(surplus),
            trades: trades,
            received: received,
            symbols: self.symbols
        )
    }
}

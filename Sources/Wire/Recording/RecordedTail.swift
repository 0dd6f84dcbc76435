import Market
package import NIOCore

/// The newest trades of a recording, collected from its end backwards, block by block, up to the first hole.
///
/// The trades behind a hole are complete; a reader could not distinguish them from those before it. So the search ends
/// at the first hole on the way back, or at the limits of number and age.
package struct RecordedTail {
    private let header: RecordingHeader
    private let epoch: UInt64
    private let limit: Int
    private let notBefore: Int64
    private let lineLimit: Int
    private var symbols = SymbolTable()
    private var reader = FrameReader()
    /// The trades of each block that had any, the newest block first.
    private var blocks: [Block] = []
    private var count = 0
    /// The end of a line whose beginning is in an earlier block.
    private var carry = ByteBuffer()
    /// Whether earlier blocks would add nothing.
    package private(set) var isComplete = false

    private struct Block {
        var first: UInt64
        var trades: [Trade] = []
        var received: [Int64] = []

        var end: UInt64 { self.first + UInt64(self.trades.count) }
    }

    /// - Parameters:
    ///   - header: the recording's header; without an epoch there are no numbers, and no trades are found.
    ///   - limit: how many trades are enough.
    ///   - notBefore: the earliest arrival, wall clock, ns since 1970.
    package init(
        header: RecordingHeader,
        limit: Int,
        notBefore: Int64,
        maximumLineBytes: Int = RecordingReader.maximumLineBytes
    ) {
        self.header = header
        self.epoch = header.epoch ?? 0
        self.limit = limit
        self.notBefore = notBefore
        self.lineLimit = maximumLineBytes
        self.isComplete = header.epoch == nil || limit <= 0
    }

    /// Takes the bytes before those taken so far; the first call takes the file's end.
    ///
    /// - Parameter isFirst: whether the file begins with them.
    package mutating func take(_ bytes: ByteBuffer, isFirst: Bool) {
        guard !self.isComplete else { return }
        var whole = bytes
        if self.carry.readableBytes > 0 { whole.writeBuffer(&self.carry) }
        self.carry = ByteBuffer()
        if !isFirst {
            guard let end = whole.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
                // A line beyond the limit is a hole.
                if whole.readableBytes > self.lineLimit { self.isComplete = true } else { self.carry = whole }
                return
            }
            // Copied, so that it does not keep the block alive.
            self.carry = ByteBuffer(bytes: whole.readableBytesView[whole.readerIndex...end])
            whole.moveReaderIndex(to: end + 1)
        }
        self.read(whole)
        if isFirst { self.isComplete = true }
    }

    private mutating func read(_ bytes: ByteBuffer) {
        var reader = RecordingReader(header: self.header, offset: 0, maximumLineBytes: self.lineLimit)
        reader.feed(bytes)
        reader.finish()
        var block: Block?
        var hasHole = false
        while let event = reader.next() {
            // The numbers behind an unreadable line show whether it held trades.
            guard case .frame(let frame) = event, let numbers = frame.numbers else { continue }
            guard let (time, isOut) = frame.wall?.multipliedReportingOverflow(by: 1_000), !isOut,
                time >= self.notBefore, let trades = self.trades(of: frame, numbers)
            else {
                block = nil
                hasHole = true
                continue
            }
            if block?.end != numbers.first {
                hasHole = hasHole || block != nil
                block = Block(first: numbers.first)
            }
            block?.trades += trades
            block?.received += repeatElement(time, count: trades.count)
        }
        self.isComplete = hasHole
        guard let block, !block.trades.isEmpty else { return }
        if let later = self.blocks.last, block.end != later.first {
            self.isComplete = true
            return
        }
        self.blocks.append(block)
        self.count += block.trades.count
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
        guard let newest = self.blocks.first, let oldest = self.blocks.last else { return nil }
        var trades: [Trade] = []
        var received: [Int64] = []
        trades.reserveCapacity(self.count)
        received.reserveCapacity(self.count)
        for block in self.blocks.reversed() {
            trades += block.trades
            received += block.received
        }
        let surplus = max(0, trades.count - self.limit)
        trades.removeFirst(surplus)
        received.removeFirst(surplus)
        precondition(oldest.first + UInt64(self.count) == newest.end, "a hole between blocks")
        return RecordedTrades(
            epoch: self.epoch,
            first: oldest.first + UInt64(surplus),
            trades: trades,
            received: received,
            symbols: self.symbols
        )
    }
}

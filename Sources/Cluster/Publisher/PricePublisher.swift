package import Market
package import NIOCore
package import Wire

/// The newest prices of an ingest on NATS, by shards: self-contained frames with absolute values, so that a reader that
/// misses one has the same prices after the next (docs/cluster.md).
///
/// Each tick sends the prices that have changed, and each price that was sent long ago. Belongs to the feed's loop.
package final class PricePublisher: TapeReader {
    /// One symbol, in the order of the board.
    private struct Row {
        var shard: Int
        /// When its price was sent; `nil` if it must be sent with the next tick.
        var sentAt: NIODeadline?
        /// The trades that were left out since then.
        var skipped: UInt64 = 0
        /// Whether no subscription to the symbol remains.
        var isOver = false
    }

    /// What belongs to the loop.
    private struct State {
        var link: any ClusterLink
        var isPublishing: () -> Bool
        var pipeline = PricePipeline(settings: PricePublisher.held)
        var rows: [Row] = []
        var rowOfSymbol: [String: Int] = [:]
        var epoch: UInt64 = 0
        /// The number of the newest trade.
        var sequence: UInt64 = 0
        /// The feed's status as one word.
        var word: String
    }

    /// The time between two ticks.
    package static let interval: TimeAmount = .milliseconds(100)
    /// The time after which a price is sent anew.
    package static let refresh: TimeAmount = .seconds(5)
    /// The most bytes of a frame.
    package static let frameBytes = 32 << 10
    /// The room for the head line, bytes.
    private static let headBytes = 512
    /// Changes are held until the tick flushes them, which is long before this time.
    private static let held = PricePipeline.Settings(quiet: 60_000_000_000, atMost: nil)

    private let subjects: ClusterSubjects
    private let member: String
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private let state: NIOLoopBoundBox<State>

    /// Makes the publisher on its loop.
    ///
    /// - Parameters:
    ///   - member: the ingest's name.
    ///   - status: the feed's status until it reports one.
    ///   - wallClock: ns since 1970.
    ///   - isPublishing: returns whether this ingest may publish; called on the loop with each tick.
    package init(
        _ subjects: ClusterSubjects,
        member: String,
        link: any ClusterLink,
        status: FeedStatus,
        on loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        isPublishing: @escaping () -> Bool
    ) {
        self.subjects = subjects
        self.member = member
        self.loop = loop
        self.wallClock = wallClock
        self.state = NIOLoopBoundBox(
            State(link: link, isPublishing: isPublishing, word: status.word),
            eventLoop: loop
        )
    }

    /// Publishes from now on; on the loop.
    package func start() { self.arm() }

    private func arm() {
        self.loop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
            self?.publish()
            self?.arm()
        }
    }

    // MARK: Tape

    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        guard epoch != self.state.value.epoch || self.state.value.sequence > 0 else { return }
        self.begin(epoch: epoch)
    }

    /// Forgets the prices of earlier epochs; on the loop.
    package func begin(epoch: UInt64) {
        self.state.value.epoch = epoch
        self.state.value.sequence = 0
        self.state.value.pipeline = PricePipeline(settings: Self.held)
        self.state.value.rows = []
        self.state.value.rowOfSymbol = [:]
    }

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        var updates: [PriceUpdate] = []
        self.state.value.pipeline.take(
            trades: batch.countedTrades,
            firstSequence: batch.firstSequence,
            received: batch.received,
            symbols: batch.symbols,
            now: Int64(self.loop.now.uptimeNanoseconds),
            emit: { updates.append($0) }
        )
        self.state.value.sequence = batch.firstSequence + UInt64(batch.trades.count) - 1
        let known = self.state.value.pipeline.board.rows
        for row in self.state.value.rows.count..<known.count {
            self.state.value.rows.append(Row(shard: ClusterShard.of(known[row].symbol)))
            self.state.value.rowOfSymbol[known[row].symbol] = row
        }
        self.take(updates)
    }

    package func statusChanged(_ status: FeedStatus) {
        guard status.word != self.state.value.word else { return }
        self.state.value.word = status.word
        // A reader must not take prices for live ones any longer than the next tick.
        self.sendAll()
    }

    package func symbolUnsubscribed(_ symbol: String) {
        if let row = self.state.value.rowOfSymbol[symbol] { self.state.value.rows[row].isOver = true }
    }

    package func gapFound(_ gap: Gap) {}

    /// Notes the prices that are due.
    private func take(_ updates: [PriceUpdate]) {
        for update in updates {
            guard let row = self.state.value.rowOfSymbol[update.summary.symbol] else { continue }
            self.state.value.rows[row].sentAt = nil
            self.state.value.rows[row].skipped += update.skipped
            self.state.value.rows[row].isOver = false
        }
    }

    /// Sends all prices with the next tick.
    private func sendAll() {
        for row in self.state.value.rows.indices { self.state.value.rows[row].sentAt = nil }
    }

    // MARK: Frames

    private func publish() {
        var updates: [PriceUpdate] = []
        self.state.value.pipeline.flush { updates.append($0) }
        self.take(updates)
        guard self.state.value.isPublishing(), let limit = self.state.value.link.maximumPayload else {
            return self.sendAll()
        }
        let now = self.loop.now
        var frames = [ByteBuffer](repeating: ByteBuffer(), count: ClusterShard.count)
        for index in self.state.value.rows.indices {
            let row = self.state.value.rows[index]
            if row.isOver { continue }
            // With the tick before the time would be over.
            if let sentAt = row.sentAt, now + Self.interval <= sentAt + Self.refresh { continue }
            self.state.value.rows[index].sentAt = now
            self.state.value.rows[index].skipped = 0
            let summary = self.state.value.pipeline.board.rows[index]
            let line = StreamEncoder.price(PriceUpdate(summary: summary, skipped: row.skipped))
            let room = min(Self.frameBytes, limit) - Self.headBytes
            if frames[row.shard].readableBytes + line.readableBytes >= room { self.send(&frames[row.shard], row.shard) }
            frames[row.shard].writeImmutableBuffer(line)
            frames[row.shard].writeStaticString("\n")
        }
        for shard in frames.indices { self.send(&frames[shard], shard) }
    }

    /// Sends the lines of a shard, and empties them.
    private func send(_ lines: inout ByteBuffer, _ shard: Int) {
        guard lines.readableBytes > 0 else { return }
        var head = JSONWriter(type: "prices")
        head.field("epoch", self.state.value.epoch)
        head.field("seq", self.state.value.sequence)
        head.field("shard", shard)
        head.field("state", self.state.value.word)
        head.field("sent", self.wallClock() / 1_000)
        head.field("member", self.member)
        var frame = head.finish()
        frame.writeStaticString("\n")
        frame.writeBuffer(&lines)
        lines = ByteBuffer()
        _ = self.state.value.link.publish(frame, to: self.subjects.prices(shard: shard))
    }
}

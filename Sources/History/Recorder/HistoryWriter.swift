import Market
import Recordings
import Wire

/// The writer of the history's thread: it collects trades in a batch and commits it.
///
/// Belongs to one thread at a time.
struct HistoryWriter {
    /// The most holes that may still touch later trades.
    private static let maximumHoles = 32
    /// The most holes that are waited for, and the most of these without ids.
    private static let maximumAwaited = (all: 1_024, withoutIDs: 8)

    private(set) var store: HistoryStore
    private(set) var report = HistoryRecorder.Report()
    private let waitingPieces: Int
    private let recording: @Sendable () -> String?
    /// The recording's newest file, once its first one is complete.
    private var newest: String?
    private let wallClock: @Sendable () -> Int64
    private let monotonic: @Sendable () -> Int64
    private var periods: RunPeriods
    private let notify: @Sendable (String) -> Void
    private var batch = HistoryBatch()
    /// The number of trades in the batch.
    private var waiting: UInt64 = 0
    private var holes: [HistoryBatch.Hole] = []
    /// The holes whose trades may still come.
    private var awaited: [HistoryBatch.Hole] = []
    /// The symbols that have traded in this run.
    private var seen: Set<String> = []
    /// The newest trade of the previous run, until the first trade of this one; ns since 1970.
    private var before: Int64?
    private let lock: HistoryLock
    private var holdsLock = false
    private var isFailing = false
    private var isClosed = false

    init(
        store: HistoryStore,
        lock: HistoryLock,
        waitingPieces: Int,
        recording: @escaping @Sendable () -> String?,
        wallClock: @escaping @Sendable () -> Int64,
        monotonic: @escaping @Sendable () -> Int64,
        notify: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.lock = lock
        self.waitingPieces = waitingPieces
        self.recording = recording
        self.wallClock = wallClock
        self.monotonic = monotonic
        self.periods = RunPeriods(start: wallClock())
        self.notify = notify
        if !self.mayWrite() {
            notify("another tickertape writes the history \(store.path); this one continues it when that one has ended")
        }
    }

    /// Returns whether this program may write. A program that replaces another one begins after the other's end. Trades
    /// before that are the other's, and a period that neither wrote is a hole.
    mutating func mayWrite() -> Bool {
        if self.holdsLock { return true }
        guard self.lock.take() else { return false }
        self.holdsLock = true
        self.before = try? self.store.newestTime()
        self.periods.tookOver(now: self.wallClock())
        return true
    }

    /// The period in which the feed is now, as far as this program writes it.
    var period: FeedPeriod? { self.holdsLock ? self.periods.current : nil }

    /// Notes the time, up to which the feed has its present state.
    mutating func timePassed() { self.periods.timePassed(wall: self.wallClock(), monotonic: self.monotonic()) }

    /// Takes a queued entry; a run takes its trades from `trades`.
    mutating func take(_ entry: HistoryRecorder.Entry, _ trades: inout WaitingTrades) {
        // While another program writes, the trades are only consumed.
        let mayWrite = self.mayWrite()
        switch entry {
        case .run(let run):
            if mayWrite, let before {
                self.before = nil
                let limit = run.begun &+ ArrivalCheck.tolerance
                let before = before <= limit ? before : (try? self.store.newestTime(notAfter: limit)) ?? run.begun
                self.take(
                    HistoryBatch.Hole(symbol: nil, from: before, to: run.begun, reason: "tickertape was restarted")
                )
            }
            var left = run.count
            while left > 0 {
                let next = trades.next(left)
                left -= next.count
                if mayWrite { self.take(next, run.symbols) }
            }
            guard mayWrite else { return }
            if let path = self.newest ?? self.recording() {
                self.batch.note(
                    HistoryBatch.Segment(
                        path: path,
                        epoch: run.epoch,
                        sequences: run.first..<run.first + UInt64(run.count),
                        firstTime: run.begun,
                        lastTime: run.ended
                    )
                )
            }
        case .status(let status):
            self.periods.statusChanged(status, now: self.wallClock())
        case _ where !mayWrite:
            return
        case .hole(let hole):
            self.take(hole)
        case .settled(let outcome):
            self.settle(outcome)
        case .completed(let path, let newest):
            self.completed(path, newest: newest)
        case .lost(let count, let from, let to):
            self.take(
                HistoryBatch.Hole(
                    symbol: nil,
                    from: from,
                    to: to,
                    reason: "\(count) trades were dropped because the queue was full"
                )
            )
        }
    }

    /// Takes what is kept of rooms. While another program writes, it waits in the batch.
    mutating func take(_ record: RoomRecord) {
        self.report.lostMessages += UInt64(self.batch.take(record))
    }

    /// Drops the pieces that the disk does not take, if there are too many.
    private mutating func keepWithinBounds() {
        guard self.batch.pieceCount > self.waitingPieces else { return }
        let now = self.wallClock()
        _ = self.batch.dropPieces()
        self.report.lost += self.waiting
        self.take(HistoryBatch.Hole(symbol: nil, from: now, to: now, reason: "\(self.waiting) trades were not written"))
        self.waiting = 0
    }

    private mutating func take(_ trades: ArraySlice<Trade>, _ symbols: SymbolTable) {
        for trade in trades {
            let symbol = symbols.name(of: trade.symbol)
            // A filled trade is older than the newest ones, so the trades before the next one stay unknown.
            let isFirst = trade.isFilled ? !self.seen.contains(symbol) : self.seen.insert(symbol).inserted
            self.batch.take(trade, of: symbol, isFirst: isFirst)
        }
        self.report.trades += UInt64(trades.count)
        self.waiting += UInt64(trades.count)
        self.keepWithinBounds()
    }

    /// Puts a complete file and the beginning of the next one into the index. The entries that were noted with the
    /// trades are not exact, since another thread writes the recording.
    private mutating func completed(_ path: String, newest: String) {
        self.newest = newest
        guard let entry = RecordingMap.ofHistory(path)?.entry(path: path) else { return }
        self.batch.note(entry)
        self.batch.note(
            HistoryBatch.Segment(
                path: newest,
                epoch: entry.epoch,
                sequences: entry.sequences.map { $0.upperBound..<$0.upperBound },
                firstTime: entry.lastTime,
                lastTime: entry.lastTime
            )
        )
    }

    private mutating func take(_ hole: HistoryBatch.Hole) {
        self.batch.take(hole)
        guard hole.isAwaited else { return self.keep(hole) }
        self.awaited.append(hole)
        if hole.missing == nil, self.awaited.count(where: { $0.missing == nil }) > Self.maximumAwaited.withoutIDs,
            let oldest = self.awaited.firstIndex(where: { $0.missing == nil })
        {
            self.giveUp(self.awaited.remove(at: oldest))
        } else if self.awaited.count > Self.maximumAwaited.all {
            self.giveUp(self.awaited.removeFirst())
        }
    }

    /// Notes that no further trade of a hole comes.
    private mutating func giveUp(_ hole: HistoryBatch.Hole) {
        self.batch.take(HistoryBatch.Settled(hole: hole, isComplete: false))
        var hole = hole
        hole.isAwaited = false
        self.keep(hole)
    }

    private mutating func settle(_ outcome: GapOutcome) {
        guard let missing = outcome.missing,
            let index = self.awaited.firstIndex(where: { $0.symbol == outcome.symbol && $0.missing == missing })
        else { return self.settleWithoutIDs(outcome) }
        self.settle(self.awaited.remove(at: index), outcome)
    }

    /// Takes the first outcome of the holes without ids within its times.
    private mutating func settleWithoutIDs(_ outcome: GapOutcome) {
        for index in self.awaited.indices where self.awaited[index].missing == nil {
            var hole = self.awaited[index]
            guard hole.isOf(outcome.symbol), outcome.times.contains(hole.from), outcome.times.contains(hole.to) else {
                continue
            }
            self.awaited[index].settled.insert(outcome.symbol)
            hole.symbol = outcome.symbol
            self.settle(hole, outcome)
        }
    }

    private mutating func settle(_ hole: HistoryBatch.Hole, _ outcome: GapOutcome) {
        guard outcome.isComplete else { return self.giveUp(hole) }
        self.batch.take(HistoryBatch.Settled(hole: hole, isComplete: true))
    }

    /// Keeps a hole that may touch later trades.
    private mutating func keep(_ hole: HistoryBatch.Hole) {
        self.holes.append(hole)
        if self.holes.count > Self.maximumHoles { self.holes.removeFirst() }
    }

    /// - Parameter isLast: whether no other call follows.
    mutating func commit(isLast: Bool = false) {
        if !self.isClosed, self.mayWrite() {
            for period in self.periods.take(isDue: isLast || !self.batch.isEmpty) { self.batch.take(period) }
        }
        guard !self.batch.isEmpty, !self.isClosed, self.mayWrite() else { return }
        do throws(HistoryFailure) {
            try self.store.commit(self.batch, holes: self.holes + self.awaited)
        } catch {
            guard error.kind == .damaged else { return self.failed(error) }
            guard self.setAside(error) else { return }
            do throws(HistoryFailure) {
                try self.store.commit(self.batch, holes: self.holes + self.awaited)
            } catch {
                return self.failed(error)
            }
        }
        self.batch = HistoryBatch()
        self.waiting = 0
        self.report.commits += 1
        if self.isFailing {
            self.isFailing = false
            self.notify("the history \(self.store.path) is written again")
        }
    }

    private mutating func failed(_ failure: HistoryFailure) {
        if !self.isFailing {
            self.isFailing = true
            self.notify("the history \(self.store.path) cannot be written: \(failure); it is tried again")
        }
    }

    /// Moves the damaged database aside and begins a new one; returns whether that was done. It fails while another
    /// program writes the history, which then has to do it.
    mutating func setAside(_ failure: HistoryFailure) -> Bool {
        guard !self.isClosed, self.mayWrite() else { return false }
        let path = self.store.path
        try? self.store.close()
        do throws(HistoryFailure) {
            self.notify(try HistoryStore.moveAside(path, now: self.wallClock(), because: failure.description))
            self.store = try HistoryStore(path: path)
            return true
        } catch {
            if !self.isFailing { self.notify("the history \(path) cannot be written: \(error)") }
            self.isFailing = true
            return false
        }
    }

    mutating func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.report.lost += self.waiting
        self.report.lostMessages += UInt64(self.batch.roomRecords.count(where: \.isMessage))
        try? self.store.close()
        if self.holdsLock { self.lock.release() }
    }
}

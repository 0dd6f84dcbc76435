import Market
import NIOCore
import WebSocket
import Wire

/// The catch-up of a client of `/v1/stream`, from the last trade it knows to now.
extension StreamClient {
    /// The bytes of one step of the cursor; the loop serves other clients between two steps.
    private var stepBytes: Int { min(32 << 10, self.context.settings.maximumWaitingBytes / 4) }

    /// Resumes symbols from a trade that the client knows, each with its own delivery.
    ///
    /// - Parameters:
    ///   - new: the rows just subscribed to.
    ///   - again: the rows followed before.
    func resume(_ new: [Int], again: [Int], since: TapePosition, isEverything: Bool) {
        self.context.expireRing()
        guard let path = self.context.ring.path(since: since) else {
            // No epoch has begun here.
            self.notify(
                .resumeGap(reason: TradeRing.Path.Shortage.unknown.reason, to: self.context.wallClock(), next: since)
            )
            for row in new { self.showNewest(row) }
            return self.notify(
                .resumed(since: since, epoch: since.epoch, to: since.sequence, trades: 0, isComplete: false)
            )
        }
        if let shortage = path.shortage {
            self.notify(.resumeGap(reason: shortage.reason, to: self.arrival(at: path.start), next: path.start))
        }
        let rows = new + again
        let single = rows.filter { self.session.delivery(of: $0) == .all }
        let others = rows.filter { self.session.delivery(of: $0) != .all }
        guard !single.isEmpty || (isEverything && self.session.everything == .all) else {
            return self.resumePrices(others, since: since, path: path)
        }
        self.session.resume(single, next: self.context.ring.sequences.upperBound)
        self.context.index.setTrades(of: self, .nothing)
        self.catchUp = CatchUp(since: since, isEverything: isEverything, path: path)
        self.catchUp?.priced = others.map { row in
            let symbol = self.context.symbol(ofRow: row)
            return CatchUp.Priced(
                symbol: symbol,
                missed: self.context.ring.count(of: symbol, from: path.start),
                taken: self.context.taken(row: row)
            )
        }
        self.context.setResuming(self, true)
        self.sendCatchUp()
    }

    /// Returns the arrival of a trade by our wall clock, or now if it is still to come.
    private func arrival(at place: TapePosition) -> Int64 {
        let (run, _) = self.context.ring.run(at: place)
        guard run.sequences.contains(place.sequence) else { return self.context.wallClock() }
        return run[place.sequence].received
    }

    /// Resumes symbols that are followed by their prices: sends the newest price of each, and how many of its trades
    /// came since.
    private func resumePrices(_ rows: [Int], since: TapePosition, path: TradeRing.Path) {
        // Trades are missing between two runs, and this is reported before the current prices.
        var (_, earlier) = self.context.ring.run(at: path.start)
        while let index = earlier {
            let (gap, next) = self.context.ring.behind(earlier: index)
            self.notify(.gap(gap))
            (_, earlier) = self.context.ring.run(at: next)
        }
        let trades = self.showResumed(rows, path)
        let next = self.context.ring.sequences.upperBound
        self.notify(
            .resumed(
                since: since,
                epoch: self.context.ring.epoch ?? since.epoch,
                to: next > 0 ? next - 1 : 0,
                trades: trades,
                isComplete: path.isComplete
            )
        )
    }

    /// Sends the newest price of each symbol and how many of its trades came since; returns the sum of those.
    private func showResumed(_ rows: [Int], _ path: TradeRing.Path) -> UInt64 {
        var trades: UInt64 = 0
        for row in rows {
            let missed = self.context.ring.count(of: self.context.symbol(ofRow: row), from: path.start)
            trades += missed
            if let frame = self.resumedFrame(row, missed: missed) { self.write(frame, messages: 1) }
        }
        return trades
    }

    /// Returns the newest price of a symbol and notes it as reported; `nil` if the symbol has not traded in this run.
    private func resumedFrame(_ row: Int, missed: UInt64) -> ByteBuffer? {
        guard let newest = self.context.newest(row: row) else { return nil }
        let snapshot = StreamEncoder.snapshot(
            newest.summary,
            skipped: missed,
            age: self.context.age(ofArrival: newest.summary.received),
            number: self.context.numbers.next()
        )
        self.session.reported(newest.summary.price, newest.ordinal, row)
        return SharedMessage.framed(snapshot)
    }

    // MARK: Single trades

    /// Sends one step of the missing trades, if the client reads.
    func sendCatchUp() {
        guard self.isOpen, self.catchUp != nil, self.isWritable, self.takesTrades else { return }
        var out = ByteBuffer()
        out.reserveCapacity(self.stepBytes + 512)
        var messages = 0
        var isDone = false
        while out.readableBytes < self.stepBytes, !isDone {
            if let missed = self.catchUp?.takeMissed() { self.add(missed, to: &out, &messages) }
            isDone = !self.advance(&out, &messages)
        }
        let before = self.writtenBytes
        if messages > 0 { self.write(out, messages: messages) }
        self.output.requests.wroteTrades(before..<self.writtenBytes)
        guard isDone else {
            self.output.requests.take()
            // If the channel is full now, its becoming writable triggers the next step.
            self.context.flush()
            if self.isWritable { self.pace.scheduleCatchUp() }
            return
        }
        self.caughtUp()
        self.showPostponed()
        self.output.requests.take()
    }

    func caughtUp() {
        self.context.setResuming(self, false)
        self.session.resumed()
        self.catchUp = nil
        self.wishesChanged()
    }

    private func add(_ control: StreamControl, to out: inout ByteBuffer, _ messages: inout Int) {
        out.writeImmutableBuffer(self.context.frame(control))
        messages += 1
    }

    /// Advances the cursor to the end of a run or of the step; returns whether there is more.
    ///
    /// - Parameters:
    ///   - end: the number in this run before which the cursor stops in any case; then there is more.
    ///   - leavesOut: whether the trades are left out and counted.
    func advance(
        _ out: inout ByteBuffer,
        _ messages: inout Int,
        before end: UInt64? = nil,
        leavesOut: Bool = false
    ) -> Bool {
        guard var catchUp = self.catchUp else { return false }
        let ring = self.context.ring
        let current = ring.epoch ?? 0
        var (run, earlier) = ring.run(at: catchUp.place)
        if catchUp.place.epoch != run.epoch || catchUp.place.sequence < run.sequences.lowerBound {
            // The rest of an earlier run has left the ring in the meantime.
            let oldest = ring.earlier.first?.ring ?? ring
            if catchUp.place.epoch != run.epoch { (run, earlier) = (oldest, ring.earlier.isEmpty ? nil : 0) }
            catchUp.place = TapePosition(epoch: run.epoch ?? 0, sequence: run.sequences.lowerBound)
            catchUp.isComplete = false
            let to = self.arrival(at: catchUp.place)
            let reason = TradeRing.Path.Shortage.tooOld.reason
            self.add(.resumeGap(reason: reason, to: to, next: catchUp.place), to: &out, &messages)
        }
        let firsts = self.firstWanted(in: run, catchUp)
        var scratch = ByteBuffer()
        let upper = min(run.sequences.upperBound, end ?? .max)
        while catchUp.place.sequence < upper, out.readableBytes < self.stepBytes {
            while let held = catchUp.nextHeld(epoch: current, isAtEnd: false) {
                if let missed = catchUp.takeMissed() { self.add(missed, to: &out, &messages) }
                self.add(held, to: &out, &messages)
            }
            let entry = run[catchUp.place.sequence]
            let wanted = firsts[Int(entry.trade.symbol.index)]
            if let first = wanted.first, catchUp.place.sequence >= first, leavesOut {
                catchUp.miss(1, in: catchUp.place.sequence...catchUp.place.sequence)
            } else if let first = wanted.first, catchUp.place.sequence >= first {
                scratch.clear()
                StreamEncoder.trade(
                    entry.trade,
                    symbol: wanted.name,
                    sequence: catchUp.place.sequence,
                    received: entry.received,
                    number: self.context.numbers.next(),
                    into: &scratch
                )
                WebSocketFraming.serverText(scratch.readableBytesView, into: &out)
                messages += 1
                if wanted.isResuming { catchUp.trades += 1 }
            }
            catchUp.place.sequence += 1
        }
        defer { self.catchUp = catchUp }
        guard end == nil, catchUp.place.sequence >= upper else { return true }
        if let missed = catchUp.takeMissed() { self.add(missed, to: &out, &messages) }
        if let earlier {
            let (gap, next) = ring.behind(earlier: earlier)
            self.add(.gap(gap), to: &out, &messages)
            catchUp.place = next
            return true
        }
        for priced in catchUp.priced {
            // It may have been unsubscribed or got another delivery in the meantime.
            guard let row = self.context.knownRow(of: priced.symbol), let delivery = self.session.delivery(of: row),
                delivery != .all
            else { continue }
            let missed = priced.missed + (self.context.taken(row: row) - priced.taken)
            catchUp.trades += missed
            guard let frame = self.resumedFrame(row, missed: missed) else { continue }
            out.writeImmutableBuffer(frame)
            messages += 1
        }
        let resumed = StreamControl.resumed(
            since: catchUp.since,
            epoch: current,
            to: max(catchUp.place.sequence, 1) - 1,
            trades: catchUp.trades,
            isComplete: catchUp.isComplete
        )
        while let held = catchUp.nextHeld(epoch: current, isAtEnd: true) { self.add(held, to: &out, &messages) }
        self.add(resumed, to: &out, &messages)
        return false
    }

    private struct Wanted {
        /// The number of the first wanted trade; `nil` if none is wanted.
        var first: UInt64?
        var isResuming = false
        /// The name as a JSON string.
        var name = ByteBuffer()
    }

    /// Returns the wanted trades of each symbol of a run.
    private func firstWanted(in run: TradeRing, _ catchUp: CatchUp) -> [Wanted] {
        let isCurrent = run.epoch == self.context.ring.epoch
        let resumed = run.epoch == catchUp.start.epoch ? catchUp.start.sequence : 0
        return run.symbols.names.map { name in
            var wanted = Wanted()
            if let row = self.context.knownRow(of: name) {
                guard self.session.delivery(of: row) == .all else { return wanted }
                wanted.isResuming = self.session.isResuming(row)
                if isCurrent { wanted.first = self.session.first(of: row) }
            } else {
                wanted.isResuming = catchUp.isEverything && self.session.everything == .all
            }
            if wanted.isResuming { wanted.first = resumed }
            if wanted.first != nil { JSONText.escape(name, into: &wanted.name) }
            return wanted
        }
    }

    /// Sends the trades before a number, although the client has not read the earlier ones, because the feed waits for
    /// it: only the trades under way still come. Returns whether they fit into what may wait.
    private func goAhead(to end: UInt64) -> Bool {
        let limit = self.context.settings.waitingLimit(feedWaits: true)
        while let place = self.catchUp?.place, place.sequence < end {
            guard self.waitingBytes <= limit else { return false }
            var out = ByteBuffer()
            var messages = 0
            _ = self.advance(&out, &messages, before: end)
            if messages > 0 { self.write(out, messages: messages) }
        }
        return true
    }

    /// Counts the evicted trades that were still to be sent as missed, or sends them at once.
    func tradesEvicted(below lower: UInt64, by batch: TapeBatch?) {
        guard let catchUp, let epoch = self.context.ring.epoch, catchUp.place.epoch == epoch else { return }
        // The trades of an earlier run may have the same epoch.
        guard self.context.ring.run(at: catchUp.place).earlier == nil else { return }
        let end = min(lower, self.context.ring.sequences.upperBound)
        guard catchUp.place.sequence < end else { return }
        if self.pace.feedWaits, self.goAhead(to: end) { return }
        guard !self.closesWhenBehind else {
            let arriving = batch.map { self.wanted(of: RelayLoss($0)) } ?? 0
            return self.closeTooSlow(missed: self.pace.missed + arriving)
        }
        let firsts = self.firstWanted(in: self.context.ring, catchUp)
        let ring = self.context.ring
        var missed: UInt64 = 0
        for sequence in catchUp.place.sequence..<end {
            let symbol = ring[sequence].trade.symbol
            if let first = firsts[Int(symbol.index)].first, sequence >= first { missed += 1 }
        }
        let range = catchUp.place.sequence...(end - 1)
        self.catchUp?.place.sequence = end
        guard missed > 0 else { return }
        self.context.noteSkipped(missed)
        self.catchUp?.miss(missed, in: range)
    }
}

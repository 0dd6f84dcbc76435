import NIOCore

/// The pace of one client: what waits for it, and how the relay treats it while it does not keep up.
///
/// It tells ``OutboundQueue`` what has left, makes the session obey its verdicts, and reports to the relay whether the
/// feed must wait for the client and whether its progress is to be checked.
final class ClientPace {
    private unowned let output: ClientOutput
    private var queue: OutboundQueue
    /// Whether a call of ``drained()`` is pending.
    private var awaitsDrain = false
    /// Whether the session's next step of a catch-up is scheduled on the loop.
    private var isCatchUpScheduled = false
    /// The last time at which the client was watched.
    private var lastWatched: NIODeadline?

    init(of output: ClientOutput) {
        self.output = output
        let settings = output.relay.settings
        self.queue = OutboundQueue(
            Backlog(limit: settings.maximumWaitingBytes, patience: settings.stallTimeout, feedWaits: false),
            maximumWaiting: 2 * settings.waitingLimit(feedWaits: output.relay.flow != nil)
        )
    }

    private var relay: RelayHub { self.output.relay }

    // MARK: What waits

    /// The total of bytes written to the channel.
    var writtenBytes: Int { self.queue.writtenBytes }

    /// The largest number of bytes that can ever wait.
    var maximumWaiting: Int { self.queue.maximumWaiting }

    /// Whether bytes wait for the client in this program while a limit applies to how long it may read none of them.
    var isWatched: Bool { self.queue.backlog.isWatched }

    /// Whether nothing more is queued for the client.
    var isBehind: Bool { self.queue.backlog.isBehind }

    /// Whether the feed can be asked to wait for the client.
    var feedWaits: Bool { self.queue.backlog.feedWaits }

    /// The trades that the client has missed and that were not reported to it.
    var missed: UInt64 { self.queue.backlog.missed }

    /// Whether the client's reading is timed, or was so until recently. In the second case its backlog may have moved
    /// from this program into the kernel's buffer, and a client that has just begun to read again cannot have reached
    /// the newest ping.
    var isGivenTime: Bool {
        if self.isWatched { return true }
        return self.lastWatched.map { self.relay.now - $0 < self.relay.settings.stallTimeout } ?? false
    }

    private var drainedBytes: Int { self.writtenBytes - self.output.waitingBytes }

    /// Returns how many messages the given number of waiting bytes makes up.
    func waitingMessages(_ waiting: Int) -> Int { self.queue.waitingMessages(waiting) }

    func wrote(bytes: Int) { self.queue.wrote(bytes: bytes) }

    /// Notes how many messages were in the bytes written last.
    func wrote(messages: Int) { self.queue.wrote(messages: messages) }

    // MARK: Decisions

    /// Returns whether trades may be written; trades that may not are counted as missed.
    func offered(trades: UInt64, bytes: Int, messages: Int) -> Backlog.Offer {
        let before = self.queue.pace
        // A few bytes can be many messages, so both are counted for a client that is watched.
        let waiting = self.output.isWritable && !before.isWatched ? 0 : self.output.waitingBytes
        let offer = self.queue.offered(
            trades: trades,
            bytes: bytes,
            messages: messages,
            waiting: waiting,
            now: self.relay.now
        )
        self.paceChanged(from: before)
        if offer == .leaveOut { self.goOnSoon() }
        return offer
    }

    /// Changes the limits of what may wait for the client, and the action beyond them.
    func setPolicy(feedWaits: Bool, limit: Int, messageLimit: Int, closes: Bool) {
        self.change { $0.change(feedWaits: feedWaits, limit: limit, messageLimit: messageLimit, closes: closes) }
    }

    /// Notes whether the session is catching up.
    func setCatchingUp(_ isCatchingUp: Bool) {
        let before = self.queue.pace
        self.queue.isCatchingUp = isCatchingUp
        self.paceChanged(from: before)
    }

    /// Notes that the trades missed so far were reported to the client.
    func reportedMissed() { self.change { $0.reported() } }

    /// Makes the session act as if nothing waited any more, since the relay ends.
    func endWaiting() { self.output.session?.obey(self.change { $0.becameWritable() }) }

    /// Notes that some written bytes could not leave at once.
    func leftWaiting() {
        guard !self.isWatched else { return }
        let (drained, now) = (self.drainedBytes, self.relay.now)
        self.change { $0.leftWaiting(drained: drained, now: now) }
    }

    /// Notes that the waiting bytes have passed the channel's high mark, or have sunk below its low mark.
    func writabilityChanged() {
        let (drained, now) = (self.drainedBytes, self.relay.now)
        guard self.output.isWritable else {
            return self.change { $0.becameUnwritable(drained: drained, now: now) }
        }
        self.output.session?.obey(self.change { $0.becameWritable() })
        self.output.session?.becameWritable()
    }

    /// Notes that the client has gone or is being closed.
    func ended() { self.change { $0.ended() } }

    // MARK: Progress

    /// Checks the progress of a client that the relay watches.
    func timePassed() {
        let (drained, waiting, now) = (self.drainedBytes, self.output.waitingBytes, self.relay.now)
        let wasBehind = self.isBehind
        self.output.session?.obey(self.change { $0.timePassed(drained: drained, waiting: waiting, now: now) })
        // If little waited, the channel stayed writable and reports no change when the client has read it.
        if wasBehind, !self.isBehind { self.output.session?.becameWritable() }
        self.goOnSoon()
    }

    /// Lets a client that is behind go on as soon as it has read its queue. While little waits for it, the channel
    /// stays writable and reports no change. Without this, the client would miss trades until the next check of all
    /// watched clients.
    private func goOnSoon() {
        if self.isWatched, self.isBehind, self.output.isWritable { self.awaitDrain() }
    }

    /// Schedules a call of ``drained()`` for when all bytes written so far have left this program.
    func awaitDrain() {
        guard !self.awaitsDrain else { return }
        self.awaitsDrain = true
        let loop = self.relay.loop.assumeIsolated()
        let output = self.output
        let isPending = output.whenDrained { isSent in
            self.awaitsDrain = false
            // In a later turn, because this may run in the middle of a write.
            if isSent { loop.execute { withExtendedLifetime(output) { self.drained() } } }
        }
        if !isPending { self.awaitsDrain = false }
    }

    private func drained() {
        guard self.output.isOpen else { return }
        if self.isBehind, self.output.waitingBytes == 0 { self.timePassed() }
        self.output.requests.take()
        self.relay.flush()
    }

    /// Lets the session send one step of its catch-up in a later turn of the loop, which serves other clients first.
    func scheduleCatchUp() {
        guard !self.isCatchUpScheduled else { return }
        self.isCatchUpScheduled = true
        let output = self.output
        self.relay.loop.assumeIsolated().execute {
            self.isCatchUpScheduled = false
            output.session?.sendCatchUp()
            self.relay.flush()
        }
    }

    private func change<Answer>(_ event: (inout Backlog) -> Answer) -> Answer {
        let before = self.queue.pace
        let answer = self.queue.change(event)
        self.paceChanged(from: before)
        return answer
    }

    private func paceChanged(from before: OutboundQueue.Pace) {
        let pace = self.queue.pace
        guard pace != before else { return }
        switch (before.holdsUpFeed, pace.holdsUpFeed) {
        case (false, true): self.relay.flow?.clientBecameSlow()
        case (true, false): self.relay.flow?.clientCaughtUp()
        case (true, true), (false, false): break
        }
        switch (before.isWatched, pace.isWatched) {
        case (false, true): self.relay.outputs.watch(self.output)
        case (true, false):
            self.lastWatched = self.relay.now
            self.relay.outputs.unwatch(self.output)
        case (true, true), (false, false): break
        }
    }
}

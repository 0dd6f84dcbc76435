package import Market
package import NIOCore
package import Wire

/// The tape of an ingest on NATS: numbered frames of everything that happens on it, heartbeats, and answers to edges
/// (docs/cluster.md).
///
/// Each read and each change between two reads is one frame, so that the order of the tape is that of the frames. What
/// cannot be sent stays in the log, and edges ask for it. Belongs to the feed's loop.
package final class ClusterPublisher: TapeReader {
    /// What belongs to the loop.
    private struct State {
        var link: any ClusterLink
        var position = ClusterPosition(epoch: 0, frame: 0, sequence: 0)
        /// The last position of the epoch before, until a frame has named it.
        var predecessor: ClusterPosition?
        var log = FrameLog()
        var names = SymbolTexts()
        var status: FeedStatus?
        var symbols: [String: SymbolStatus] = [:]
        var days: [String: VenueDay] = [:]
        /// The next heartbeat; `nil` while none is sent.
        var beats: Scheduled<Void>?
        /// The requests that have no answer yet.
        var requests: CircularBuffer<Request> = []
        /// The bytes of answers in this ``answerInterval``.
        var answered = 0
        /// The end of the ``answerInterval``; `nil` if there was no answer in it.
        var answers: Scheduled<Void>?
    }

    private struct Request {
        enum Content {
            case snapshot
            case history(after: ClusterPosition)
        }

        var content: Content
        /// The subject of the answer.
        var reply: String
    }

    /// The room for the head line in a payload, bytes.
    private static let headBytes = 512
    /// About how many bytes of trades one frame has at most, so that a burst is not one message.
    private static let frameBytes = 256 << 10
    /// The most bytes of one trade's message.
    private static let tradeBytes = 1_024
    /// How the subjects of answers begin. Other subjects are not answered to: who asks may not choose where this
    /// program publishes.
    private static let inbox = "_INBOX."
    /// About how many bytes of answers are sent in ``answerInterval``, so that the tape has room beside them.
    private static let answerBytes = 2 << 20
    private static let answerInterval: TimeAmount = .milliseconds(50)
    /// The most requests that wait for their answers; further ones are left out.
    private static let maximumRequests = 512

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
    ///   - epoch: the run of numbers; higher than that of every earlier ingest of the cluster.
    ///   - wallClock: ns since 1970.
    package init(
        _ subjects: ClusterSubjects,
        member: String,
        link: any ClusterLink,
        status: FeedStatus,
        epoch: UInt64,
        on loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.subjects = subjects
        self.member = member
        self.loop = loop
        self.wallClock = wallClock
        var state = State(link: link)
        state.position.epoch = epoch
        state.status = status
        self.state = NIOLoopBoundBox(state, eventLoop: loop)
    }

    /// Answers edges and sends heartbeats from now on; on the loop.
    package func start() {
        let link = self.state.value.link
        link.subscribe(to: self.subjects.snapshot) { [weak self] payload, reply in
            guard let self, let epoch = ClusterSnapshot.requestedEpoch(payload),
                epoch <= self.state.value.position.epoch
            else { return }
            self.take(.snapshot, reply)
        }
        link.subscribe(to: self.subjects.history) { [weak self] payload, reply in
            // Another ingest, which has replaced this one, answers for its epoch.
            guard let self, let request = ClusterHistoryRequest.parse(payload),
                request.position.epoch <= self.state.value.position.epoch
            else { return }
            self.take(.history(after: request.position), reply)
        }
        self.beat()
    }

    /// Sends nothing from now on; on the loop.
    package func stop() {
        self.state.value.beats?.cancel()
        self.state.value.beats = nil
        self.state.value.requests = []
        self.state.value.answers?.cancel()
        self.state.value.answers = nil
    }

    /// Sends a heartbeat, and the next one after the interval.
    private func beat() {
        let beat = ClusterBeat(position: self.state.value.position, sent: self.wallClock(), member: self.member)
        _ = self.state.value.link.publish(beat.text(), to: self.subjects.beat)
        let interval = TimeAmount.milliseconds(Int64(ClusterBeat.interval))
        self.state.value.beats = self.loop.assumeIsolated().scheduleTask(in: interval) { [weak self] in self?.beat() }
    }

    // MARK: Frames

    private func send(_ lines: ByteBuffer, trades: Int, sequence: UInt64) {
        self.state.value.position.frame += 1
        self.state.value.position.sequence = sequence
        let frame = ClusterFrame(
            position: self.state.value.position,
            trades: trades,
            sent: self.wallClock(),
            lines: lines,
            predecessor: self.state.value.predecessor
        )
        self.state.value.predecessor = nil
        self.state.value.log.append(frame, now: self.loop.now)
        _ = self.state.value.link.publish(frame.text(), to: self.subjects.tape)
    }

    /// Sends one message between the trades.
    private func send(_ message: ByteBuffer) {
        var line = message
        line.writeStaticString("\n")
        self.send(&line)
    }

    /// Sends the lines between the trades, and empties them.
    private func send(_ lines: inout ByteBuffer) {
        guard lines.readableBytes > 0 else { return }
        self.send(lines, trades: 0, sequence: self.state.value.position.sequence)
        lines = ByteBuffer()
    }

    /// About how many bytes of lines one frame has at most.
    private var frameLimit: Int {
        min(Self.frameBytes, (self.state.value.link.maximumPayload ?? .max) - Self.headBytes)
    }

    package func epochBegan(_ epoch: UInt64, symbols: SymbolTable) {
        self.state.value.names.epochBegan()
        guard epoch != self.state.value.position.epoch else { return }
        self.state.value.predecessor = self.state.value.position
        self.state.value.position = ClusterPosition(epoch: epoch, frame: 0, sequence: 0)
        // A reader that begins with this epoch needs no snapshot.
        var lines = ByteBuffer()
        for message in self.messages {
            if lines.readableBytes + message.readableBytes >= self.frameLimit { self.send(&lines) }
            lines.writeImmutableBuffer(message)
            lines.writeStaticString("\n")
        }
        self.send(&lines)
    }

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        var lines = ByteBuffer()
        lines.reserveCapacity(batch.trades.count * 192)
        let limit = self.frameLimit
        var count = 0
        var sequence = batch.firstSequence
        for trade in batch.trades {
            StreamEncoder.trade(
                trade,
                symbol: self.state.value.names.text(of: trade.symbol, in: batch.symbols),
                sequence: sequence,
                received: batch.received,
                number: nil,
                into: &lines
            )
            lines.writeStaticString("\n")
            count += 1
            if lines.readableBytes >= limit - Self.tradeBytes {
                self.send(lines, trades: count, sequence: sequence)
                lines = ByteBuffer()
                count = 0
            }
            sequence += 1
        }
        if count > 0 { self.send(lines, trades: count, sequence: sequence - 1) }
    }

    package func statusChanged(_ status: FeedStatus) {
        self.state.value.status = status
        self.send(StreamEncoder.status(status))
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.state.value.symbols[status.symbol] = status
        self.send(StreamEncoder.symbol(status))
    }

    package func symbolUnsubscribed(_ symbol: String) {
        self.state.value.symbols[symbol] = nil
        self.state.value.days[symbol] = nil
        self.send(StreamEncoder.released(symbol, since: self.wallClock()))
    }

    package func gapFound(_ gap: Gap) { self.send(StreamEncoder.gap(gap)) }

    package func gapSettled(_ outcome: GapOutcome) { self.send(StreamEncoder.settled(outcome)) }

    package func dayChanged(_ day: VenueDay) {
        self.state.value.days[day.symbol] = day
        self.send(StreamEncoder.venueDay(day))
    }

    // MARK: Answers

    /// Answers a request at once, or when the answers before it have left room.
    private func take(_ content: Request.Content, _ reply: String?) {
        guard let reply, reply.hasPrefix(Self.inbox), self.state.value.requests.count < Self.maximumRequests else {
            return
        }
        self.state.value.requests.append(Request(content: content, reply: reply))
        self.answer()
    }

    private func answer() {
        while self.state.value.answered < Self.answerBytes, let request = self.state.value.requests.popFirst() {
            let text =
                switch request.content {
                case .snapshot: self.snapshot().text()
                case .history(let position): self.history(after: position).text()
                }
            self.state.value.answered += text.readableBytes
            _ = self.state.value.link.publish(text, to: request.reply)
        }
        guard self.state.value.answers == nil, self.state.value.answered > 0 else { return }
        self.state.value.answers = self.loop.assumeIsolated().scheduleTask(in: Self.answerInterval) { [weak self] in
            self?.state.value.answers = nil
            self?.state.value.answered = 0
            self?.answer()
        }
    }

    /// The present state, as messages.
    private var messages: [ByteBuffer] {
        let state = self.state.value
        return (state.status.map { [StreamEncoder.status($0)] } ?? [])
            + state.symbols.values.sorted { $0.symbol < $1.symbol }.map { StreamEncoder.symbol($0) }
            + state.days.values.sorted { $0.symbol < $1.symbol }.map { StreamEncoder.venueDay($0) }
    }

    private func snapshot() -> ClusterSnapshot {
        var lines = ByteBuffer()
        for message in self.messages {
            lines.writeImmutableBuffer(message)
            lines.writeStaticString("\n")
        }
        return ClusterSnapshot(
            position: self.state.value.position,
            sent: self.wallClock(),
            member: self.member,
            lines: lines
        )
    }

    private func history(after position: ClusterPosition) -> ClusterHistoryAnswer {
        // Each frame is at most about half of it.
        let limit = min(2 * Self.frameBytes, self.state.value.link.maximumPayload ?? .max) - Self.headBytes
        return self.state.value.log.answer(
            after: position,
            newest: self.state.value.position,
            about: limit
        )
    }
}

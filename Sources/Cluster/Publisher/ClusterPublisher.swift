package import Logging
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
        /// Whether this program holds the cluster's lease.
        let isAllowed: () -> Bool
        /// Whether this program is the ingest.
        var isPublishing = false
        /// Up to when nothing is missing on the tape, as edges know it.
        var complete = TapeCompleteness(0)
        var position = ClusterPosition(epoch: 0, frame: 0, sequence: 0)
        /// The last position of the epoch before; `nil` in the first epoch.
        var predecessor: ClusterPosition?
        /// The newest limit of a payload that a server has named, bytes. Without one, every server takes frames of this
        /// size.
        var maximumPayload = 32 << 10
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
            case snapshot(after: String?)
            case history(after: ClusterPosition)
        }

        var content: Content
        /// The subject of the answer.
        var reply: String
    }

    /// The room for the head line in a payload, bytes.
    private static let headBytes = 1_024
    /// About how many bytes of trades one frame has at most, so that a burst is not one message.
    private static let frameBytes = 256 << 10
    /// About how many bytes of frames one answer to a history request has. An edge gives an answer to its clients in one
    /// turn, and they must have room for it.
    private static let historyBytes = 64 << 10
    /// The most bytes of one trade's message.
    private static let tradeBytes = 1_024
    private static let usualTradeBytes = 192
    /// About how many bytes of answers are sent in ``answerInterval``, so that the tape has room beside them.
    private static let answerBytes = 2 << 20
    private static let answerInterval: TimeAmount = .milliseconds(50)
    /// The most requests that wait for their answers; further ones are left out.
    private static let maximumRequests = 512

    private let subjects: ClusterSubjects
    private let member: String
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private let logger: Logger
    private let state: NIOLoopBoundBox<State>
    private let figures: ClusterStateBox

    /// Makes the publisher on its loop.
    ///
    /// - Parameters:
    ///   - member: the ingest's name.
    ///   - status: the feed's status until it reports one.
    ///   - isAllowed: whether this program may publish now; asked before each message.
    ///   - wallClock: ns since 1970.
    ///   - figures: the place for what people and programs see of this ingest.
    package init(
        _ subjects: ClusterSubjects,
        member: String,
        link: any ClusterLink,
        status: FeedStatus,
        on loop: any EventLoop,
        isAllowed: @escaping () -> Bool,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger,
        figures: ClusterStateBox = ClusterStateBox()
    ) {
        self.figures = figures
        self.subjects = subjects
        self.member = member
        self.loop = loop
        self.wallClock = wallClock
        self.logger = logger
        var state = State(link: link, isAllowed: isAllowed)
        state.status = status
        self.state = NIOLoopBoundBox(state, eventLoop: loop)
    }

    /// Whether this program is the ingest, and may publish now.
    package var isPublishing: Bool { self.state.value.isPublishing && self.state.value.isAllowed() }

    /// Listens to edges from now on; on the loop.
    package func start() {
        let link = self.state.value.link
        link.subscribe(to: self.subjects.snapshot) { [weak self] payload, _, reply in
            guard let self, let request = ClusterSnapshotRequest.parse(payload),
                request.epoch <= self.state.value.position.epoch
            else { return }
            self.take(.snapshot(after: request.after), reply)
        }
        link.subscribe(to: self.subjects.history) { [weak self] payload, _, reply in
            // Another ingest, which has replaced this one, answers for its epoch.
            guard let self, let request = ClusterHistoryRequest.parse(payload),
                request.position.epoch <= self.state.value.position.epoch
            else { return }
            self.take(.history(after: request.position), reply)
        }
    }

    /// Publishes the tape from now on; on the loop.
    ///
    /// - Parameters:
    ///   - epoch: the run of numbers; higher than that of every earlier ingest of the cluster.
    ///   - complete: up to when nothing is missing on the tape before.
    package func begin(epoch: UInt64, complete: TapeCompleteness) {
        self.figures.change { $0.isPublishing = true }
        self.state.value.isPublishing = true
        self.state.value.position = ClusterPosition(epoch: epoch, frame: 0, sequence: 0)
        self.state.value.predecessor = nil
        self.state.value.complete = complete
        self.state.value.complete.changed(to: nil, at: self.wallClock())
        self.state.value.complete.changed(to: self.state.value.status?.phase, at: self.wallClock())
        self.state.value.log = FrameLog()
        self.state.value.names.epochBegan()
        // Another program's feeds had these states.
        self.state.value.symbols = [:]
        self.state.value.days = [:]
        self.sendState()
        self.beat()
    }

    /// Publishes nothing from now on; on the loop.
    ///
    /// - Returns: the position of the newest frame, up to when nothing is missing on the tape, and the symbols with a
    ///   state.
    package func end() -> (position: ClusterPosition, complete: TapeCompleteness, symbols: Set<String>) {
        self.figures.change { $0.isPublishing = false }
        self.state.value.isPublishing = false
        self.state.value.beats?.cancel()
        self.state.value.beats = nil
        self.state.value.requests = []
        self.state.value.answers?.cancel()
        self.state.value.answers = nil
        return (self.state.value.position, self.state.value.complete, Set(self.state.value.symbols.keys))
    }

    /// Sends a heartbeat, and the next one after the interval.
    private func beat() {
        let beat = ClusterBeat(
            position: self.state.value.position,
            sent: self.wallClock(),
            member: self.member,
            predecessor: self.state.value.predecessor
        )
        guard self.publish(beat.text(), to: self.subjects.beat) != .forbidden else { return }
        self.state.value.beats = self.loop.assumeIsolated().scheduleTask(in: ClusterBeat.interval) { [weak self] in
            self?.beat()
        }
    }

    private enum Sending {
        case sent
        /// NATS does not take it: there is no connection, or it is too large.
        case lost
        /// This program is not the ingest.
        case forbidden
    }

    @discardableResult
    private func publish(_ text: ByteBuffer, to subject: String) -> Sending {
        // The program can have stood still since it made the message.
        guard self.isPublishing else { return .forbidden }
        self.state.value.complete.passed(self.wallClock())
        return self.state.value.link.publish(text, to: subject) ? .sent : .lost
    }

    // MARK: Frames

    private func send(_ lines: ByteBuffer, trades: Int, sequence: UInt64) {
        guard self.state.value.isPublishing else { return }
        self.state.value.position.frame += 1
        self.state.value.position.sequence = sequence
        let frame = ClusterFrame(
            position: self.state.value.position,
            trades: trades,
            sent: self.wallClock(),
            lines: lines,
            predecessor: self.state.value.predecessor
        )
        self.figures.change { $0.position = frame.position }
        self.state.value.log.append(frame, now: self.loop.now)
        self.publish(frame.text(), to: self.subjects.tape)
    }

    /// Sends one message between the trades.
    private func send(_ message: ByteBuffer) {
        var line = ByteBuffer()
        Self.append(message, to: &line)
        self.send(&line)
    }

    /// Sends the lines between the trades, and empties them.
    private func send(_ lines: inout ByteBuffer) {
        guard lines.readableBytes > 0 else { return }
        self.send(lines, trades: 0, sequence: self.state.value.position.sequence)
        lines = ByteBuffer()
    }

    /// Returns about how many bytes of lines a payload has at most.
    private func limit(_ most: Int) -> Int {
        if let limit = self.state.value.link.maximumPayload { self.state.value.maximumPayload = limit }
        return min(most, self.state.value.maximumPayload - Self.headBytes)
    }

    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.state.value.names.epochBegan()
        guard self.state.value.isPublishing, epoch != self.state.value.position.epoch else { return }
        self.state.value.predecessor = self.state.value.position
        self.state.value.position = ClusterPosition(epoch: epoch, frame: 0, sequence: 0)
        self.sendState()
    }

    /// Sends the present state as frames: a reader that begins with an epoch needs no snapshot.
    private func sendState() {
        let limit = self.limit(Self.frameBytes)
        var lines = self.status
        for symbol in self.symbols(after: nil) {
            let own = self.lines(of: symbol)
            if lines.readableBytes + own.readableBytes > limit { self.send(&lines) }
            lines.writeImmutableBuffer(own)
        }
        self.send(&lines)
    }

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty, self.state.value.isPublishing else { return }
        let limit = self.limit(Self.frameBytes)
        var lines = ByteBuffer()
        var left = batch.trades.count
        var count = 0
        var sequence = batch.firstSequence
        for trade in batch.trades {
            // The log keeps the memory that is reserved here.
            if count == 0 { lines.reserveCapacity(max(0, min(left * Self.usualTradeBytes, limit))) }
            left -= 1
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
        self.state.value.complete.read(batch, at: batch.received)
    }

    package func statusChanged(_ status: FeedStatus) {
        self.state.value.status = status
        self.state.value.complete.changed(to: status.phase, at: self.wallClock())
        if status.phase == .live { self.state.value.complete.keep(Set(self.state.value.symbols.keys)) }
        self.send(StreamEncoder.status(status))
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.state.value.symbols[status.symbol] = status
        self.state.value.complete.subscribed(status.symbol, at: self.wallClock())
        self.send(StreamEncoder.symbol(status))
    }

    package func symbolUnsubscribed(_ symbol: String) {
        self.state.value.symbols[symbol] = nil
        self.state.value.days[symbol] = nil
        self.state.value.complete.released(symbol)
        self.send(StreamEncoder.released(symbol, since: self.wallClock()))
    }

    package func gapFound(_ gap: Gap) {
        self.state.value.complete.gapFound(gap)
        self.send(StreamEncoder.gap(gap))
    }

    package func gapSettled(_ outcome: GapOutcome) { self.send(StreamEncoder.settled(outcome)) }

    package func dayChanged(_ day: VenueDay) {
        self.state.value.days[day.symbol] = day
        self.send(StreamEncoder.venueDay(day))
    }

    // MARK: Answers

    /// Whether an answer may be sent to a subject. Who asks may not choose where this program publishes.
    package static func isInbox(_ subject: String) -> Bool { subject.hasPrefix("_INBOX.") }

    /// Answers a request at once, or when the answers before it have left room.
    private func take(_ content: Request.Content, _ reply: String?) {
        guard self.state.value.isPublishing, let reply, Self.isInbox(reply),
            self.state.value.requests.count < Self.maximumRequests
        else { return }
        self.state.value.requests.append(Request(content: content, reply: reply))
        self.answer()
    }

    private func answer() {
        while self.state.value.answered < Self.answerBytes, let request = self.state.value.requests.popFirst() {
            let text =
                switch request.content {
                case .snapshot(let symbol): self.snapshot(after: symbol).text()
                case .history(let position): self.history(after: position).text()
                }
            self.state.value.answered += text.readableBytes
            if self.publish(text, to: request.reply) == .lost {
                self.logger.warning(
                    "An answer to an edge could not be sent",
                    metadata: ["bytes": "\(text.readableBytes)", "max_payload": "\(self.state.value.maximumPayload)"]
                )
            }
        }
        guard self.state.value.answers == nil, self.state.value.answered > 0 else { return }
        self.state.value.answers = self.loop.assumeIsolated().scheduleTask(in: Self.answerInterval) { [weak self] in
            self?.state.value.answers = nil
            self?.state.value.answered = 0
            self?.answer()
        }
    }

    /// The feed's status, as a line.
    private var status: ByteBuffer {
        var lines = ByteBuffer()
        if let status = self.state.value.status { Self.append(StreamEncoder.status(status), to: &lines) }
        return lines
    }

    /// Returns the symbols with a state behind a name, sorted.
    private func symbols(after name: String?) -> [String] {
        let state = self.state.value
        let all = Set(state.symbols.keys).union(state.days.keys)
        return (name.map { name in all.filter { $0 > name } } ?? all).sorted()
    }

    /// Returns the present state of a symbol.
    private func lines(of symbol: String) -> ByteBuffer {
        let state = self.state.value
        var lines = ByteBuffer()
        if let status = state.symbols[symbol] { Self.append(StreamEncoder.symbol(status), to: &lines) }
        if let day = state.days[symbol] { Self.append(StreamEncoder.venueDay(day), to: &lines) }
        return lines
    }

    private static func append(_ message: ByteBuffer, to lines: inout ByteBuffer) {
        lines.writeImmutableBuffer(message)
        lines.writeStaticString("\n")
    }

    /// Returns as much of the present state as one payload holds.
    ///
    /// - Parameter name: the last symbol of the part before; `nil` for the first part.
    private func snapshot(after name: String?) -> ClusterSnapshot {
        let limit = self.limit(2 * Self.frameBytes)
        var part = ClusterSnapshot(
            position: self.state.value.position,
            sent: self.wallClock(),
            member: self.member,
            after: name,
            lines: name == nil ? self.status : ByteBuffer()
        )
        var last: String?
        for symbol in self.symbols(after: name) {
            let own = self.lines(of: symbol)
            if let last, part.lines.readableBytes + own.readableBytes > limit {
                part.upTo = last
                break
            }
            part.lines.writeImmutableBuffer(own)
            last = symbol
        }
        return part
    }

    private func history(after position: ClusterPosition) -> ClusterHistoryAnswer {
        let limit = self.limit(Self.historyBytes)
        return self.state.value.log.answer(
            after: position,
            newest: self.state.value.position,
            about: limit
        )
    }
}

import MockUpstream
import NIOCore
import NIOEmbedded
import Simulation
import WebSocket
import Wire

/// The venue's end of one connection: the mock server's session, without a socket.
///
/// It belongs to the loop of the program that it is connected to.
final class VenueLine {
    private let market: any VenueFrames
    private let loop: EmbeddedEventLoop
    private let socket: VirtualSocket
    private let recent: RecentTrades
    private var session: any MockSession
    private var input = ClientFrames()
    private var timer: Scheduled<Void>?
    private var ageTimer: Scheduled<Void>?
    /// Whether each symbol is subscribed, and whether all are.
    private var subscribed: [Bool]
    private var hasAll = false
    private(set) var isEnded = false
    /// The first event that happened after the connection opened.
    var firstEvent = 0
    /// Whether nothing passes any more, although nobody has closed the connection.
    private var isFrozen = false
    /// What waits for the end of a stall, with the events that it brings; `nil` without one.
    private var stalled: (bytes: ByteBuffer, events: [Int])?
    private var closeSent = false
    /// Called when the program has broken a limit of the venue.
    var broke: (String) -> Void = { _ in }
    /// Called with each event that the program has received as a whole.
    var gave: (Int) -> Void = { _ in }
    var subscriptionsChanged: () -> Void = {}
    /// Called when the program's end has closed it.
    var closedByClient: () -> Void = {}
    /// Called when the program begins the closing handshake.
    var beganClosing: () -> Void = {}

    init(
        _ market: any VenueFrames,
        _ session: any MockSession,
        _ socket: VirtualSocket,
        recent: RecentTrades,
        loop: EmbeddedEventLoop
    ) {
        self.market = market
        self.session = session
        self.socket = socket
        self.recent = recent
        self.loop = loop
        self.subscribed = market.symbols.map { _ in false }
        socket.sent = { [weak self] in self?.received($0) }
        socket.ended = { [weak self] in self?.clientEnded() }
        socket.endedSending = { [weak self] in self?.clientEnded() }
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Whether the program receives trades of all symbols now.
    var isLive: Bool { self.hasAll && !self.isEnded && !self.isFrozen && self.stalled == nil && !self.closeSent }

    func opened() { self.apply(self.session.opened(now: self.now)) }

    // MARK: Trades

    /// Sends the frames of some events as one read.
    func send(_ events: ArraySlice<Int>, reads: Schedule.Reads) {
        guard !self.isEnded, !self.isFrozen, !self.closeSent else { return }
        guard let first = events.first, let last = events.last else { return }
        var bytes: ByteBuffer
        var sent = events
        if self.hasAll, last - first == events.count - 1, events.count == 1 || Self.isRow(events) {
            bytes = self.market.frames(first..<last + 1)
        } else {
            sent = events.filter { self.subscribed[self.market.symbol(of: $0)] }[...]
            bytes = ByteBuffer()
            for event in sent { bytes.writeImmutableBuffer(self.market.frames(event..<event + 1)) }
        }
        guard !sent.isEmpty else { return }
        if self.stalled != nil {
            self.stalled?.bytes.writeImmutableBuffer(bytes)
            self.stalled?.events += sent
            return
        }
        if case .pieces(let size) = reads {
            while bytes.readableBytes > size, let piece = bytes.readSlice(length: size) { self.socket.deliver(piece) }
        }
        self.socket.deliver(bytes)
        guard !self.isEnded else { return }
        for event in sent { self.gave(event) }
    }

    private static func isRow(_ events: ArraySlice<Int>) -> Bool {
        zip(events, events.dropFirst()).allSatisfy { $1 == $0 + 1 }
    }

    /// Sends a text of the venue beside the trades.
    func send(text: ByteBuffer) {
        var bytes = ByteBuffer()
        WebSocketFraming.serverText(text, into: &bytes)
        self.deliver(bytes)
    }

    private func deliver(_ bytes: ByteBuffer) {
        guard !self.isEnded, !self.isFrozen, !self.closeSent else { return }
        if self.stalled != nil {
            self.stalled?.bytes.writeImmutableBuffer(bytes)
        } else {
            self.socket.deliver(bytes)
        }
    }

    // MARK: Faults

    /// Ends the connection, perhaps in the middle of a frame.
    func cut(_ cut: Fault.Cut, next event: Int) {
        guard !self.isEnded else { return }
        switch cut {
        case .fin: self.end()
        case .reset: self.end(isReset: true)
        case .close(let code): self.close(code)
        case .midFrame:
            if self.isLive, event < self.market.eventCount {
                let frame = self.market.frames(event..<event + 1)
                self.socket.deliver(frame.getSlice(at: frame.readerIndex, length: frame.readableBytes / 2) ?? frame)
            }
            self.end(isReset: true)
        }
    }

    func close(_ code: UInt16) {
        guard !self.isEnded, !self.isFrozen else { return }
        // 1006 stands for no close frame at all.
        guard code != 1_006 else { return self.end() }
        self.deliver(ClientFrames.server(0x8, ByteBuffer(integer: code)))
        self.closeSent = true
    }

    /// Ends the connection after a time, unless it has ended.
    func close(after time: Int64, _ closed: @escaping () -> Void) {
        let bound = NIOLoopBound((line: self, closed: closed), eventLoop: self.loop)
        self.ageTimer = self.loop.scheduleTask(in: .nanoseconds(time)) {
            guard !bound.value.line.isEnded else { return }
            bound.value.closed()
            bound.value.line.close(1_008)
        }
    }

    func freeze() { self.isFrozen = true }

    func stall(for time: Int64) {
        guard self.isLive else { return }
        self.stalled = (ByteBuffer(), [])
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(time)) { bound.value.goOn() }
    }

    private func goOn() {
        guard let stalled else { return }
        self.stalled = nil
        guard !self.isEnded, !self.isFrozen, stalled.bytes.readableBytes > 0 else { return }
        self.socket.deliver(stalled.bytes)
        guard !self.isEnded else { return }
        for event in stalled.events { self.gave(event) }
    }

    func end(isReset: Bool = false) {
        guard !self.isEnded else { return }
        self.leave()
        self.socket.end(isReset: isReset)
    }

    /// Forgets the program, which is dead.
    func abandon() { self.leave() }

    private func leave() {
        self.isEnded = true
        self.timer?.cancel()
        self.timer = nil
        self.ageTimer?.cancel()
        self.ageTimer = nil
    }

    private func clientEnded() {
        guard !self.isEnded else { return }
        self.closedByClient()
        self.leave()
        let bound = NIOLoopBound(self.socket, eventLoop: self.loop)
        self.loop.execute { bound.value.end() }
    }

    // MARK: The session

    private func received(_ bytes: ByteBuffer) {
        guard !self.isEnded, !self.isFrozen else { return }
        self.input.take(bytes)
        while !self.isEnded, let frame = self.input.next() {
            switch frame {
            case .text(let text):
                self.apply(self.session.received(text, recent: self.recent, now: self.now))
                self.subscribed = self.market.symbols.map { self.session.isSubscribed(to: $0) }
                self.hasAll = !self.subscribed.contains(false)
                self.subscriptionsChanged()
            case .ping(let payload):
                self.apply(self.session.pingReceived(now: self.now))
                self.deliver(ClientFrames.server(0xA, payload))
            case .pong(let payload): self.apply(self.session.pongReceived(payload, now: self.now))
            case .close:
                if !self.closeSent {
                    self.beganClosing()
                    self.deliver(ClientFrames.server(0x8, ByteBuffer(integer: UInt16(1_000))))
                }
                self.closeSent = true
                let bound = NIOLoopBound(self, eventLoop: self.loop)
                self.loop.execute { bound.value.end() }
            }
        }
    }

    private func apply(_ outputs: [MockOutput]) {
        for output in outputs {
            switch output {
            case .text(let text): self.send(text: text)
            case .ping(let payload): self.deliver(ClientFrames.server(0x9, payload))
            case .close(let code, _): self.close(code.rawValue)
            case .disconnect(let reason):
                self.broke(reason)
                self.end(isReset: true)
            }
        }
        self.arm()
    }

    private func arm() {
        self.timer?.cancel()
        self.timer = nil
        guard !self.isEnded, let deadline = self.session.deadline else { return }
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, self.now + 1)))) {
            let line = bound.value
            line.apply(line.session.timeReached(recent: line.recent, now: line.now))
        }
    }
}

import Market
import NIOCore
package import NIOHTTP1
import WebSocket
import Wire

/// A session of `/v1/stream`: gets prices and the newest of each when it was too slow for some, or every trade.
///
/// Three kinds of messages share its way out. What must not be missed (``StreamControl``) is always written, in order.
/// Single trades are written as long as the backlog allows. Prices are written only while the channel is writable, and
/// merged while it is not. This file is the way out; `+Requests`, `+Prices`, `+Trades` and `+Resume` decide
/// what takes it.
package final class StreamClient: RelayProtocol {
    static let path = "/v1/stream"
    static let name = "stream"
    static let showsPrices = true

    package let output: ClientOutput
    let hub: RelayHub
    let fanout: StreamFanout
    let query: StreamQuery
    var session = StreamSession()
    /// The symbols for which it has a place in the ledger.
    var subscribedSymbols: Set<String> = []
    /// Those that the client has been told the upstream does not send.
    var reportedRefused: Set<String> = []
    /// What is to become of it when it is too slow, if it has said so.
    var overflow: StreamOverflow?
    var allowance: RequestAllowance
    /// Its way from where it left off to now.
    var catchUp: CatchUp? {
        didSet { if (oldValue == nil) != (self.catchUp == nil) { self.output.setCatchingUp(self.catchUp != nil) } }
    }
    /// Whether the next step of that way is on the loop's list.
    var isStepScheduled = false
    /// Requests that wait until it has caught up.
    var deferred: [Deferred] = []
    /// The bars that it is told.
    var barTopics: Set<BarTopic> = []
    /// The intervals at whose beats it is told prices, in ms.
    var beats: Set<Int> = []

    /// How many trades it has missed and not been told of.
    var missedCount: UInt64 = 0
    /// The numbers of the first and the last trade that it has missed and not been told of.
    var missedRange: ClosedRange<UInt64>?
    /// The number of the first trade that it has missed, told of or not, since it was last shown the newest instead.
    var missedSince: UInt64?
    /// Of the messages that wait, those that must not be missed.
    private var waitingControls = PendingMessages()
    private var hasSaidHello = false
    /// Whether the relay ends, so that everything is written, whatever waits.
    var isLast = false

    package init(hub: RelayHub, query: StreamQuery = StreamQuery()) {
        let settings = hub.settings
        self.hub = hub
        self.fanout = hub.fanout(of: StreamClient.self)
        self.query = query
        self.overflow = query.overflow
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        var webSocket = settings.webSocket
        if hub.flow == nil {
            // A close frame stands behind what waits, for one that reads again in time.
            webSocket.closeTimeout = max(webSocket.closeTimeout, min(settings.stallTimeout, .seconds(5)))
        } else {
            // The close frame stands behind all that is queued for a reader whom the replay waits for.
            webSocket.closeTimeout = settings.stallTimeout
        }
        // Prices that wait are old prices: far below the limit they are replaced by the newest.
        let highMark = min(settings.maximumWaitingBytes / 4, 64 << 10)
        let marks = ClientOutput.Marks(low: highMark / 4, high: highMark)
        self.output = ClientOutput(relay: hub, webSocketSettings: webSocket, marks: marks)
        self.output.subprotocol = query.subprotocol
        self.output.session = self
        self.policyChanged()
    }

    package convenience init(request: HTTPRequestHead, relay: RelayHub) throws(HTTPRefusal) {
        self.init(hub: relay, query: try StreamQuery(request))
    }

    static func makeFanout(for relay: RelayHub) -> StreamFanout { StreamFanout(relay) }

    func opened() {
        self.write(RelayHub.framed(StreamEncoder.hello(self.hub.hello(), number: self.hub.number())), messages: 1)
        self.hasSaidHello = true
        if let symbols = self.query.symbols { self.subscribe(symbols, delivery: nil, since: self.query.since) }
    }

    func received(_ text: ByteBuffer) { self.requested(StreamRequest.parse(text), bytes: text.readableBytes) }

    func closed() {
        self.catchUp = nil
        self.hub.resuming[ObjectIdentifier(self)] = nil
        self.deferred = []
        self.fanout.remove(self)
        self.hub.index.setFollowsAll(self, false)
        self.session.unfollowAll()
        self.beatsChanged()
        self.leaveBars()
        self.giveUpAll()
    }

    // MARK: The way out

    /// Whether prices may be written: nothing that must come before them waits.
    var takesPrices: Bool {
        guard self.catchUp == nil else { return false }
        if self.isLast { return true }
        if self.overflow == .close { return !self.output.isBehind }
        return self.isWritable && !self.output.isBehind
    }

    /// Whether what a later message replaces may be written: little waits, or no later one comes.
    var mayWriteMergeable: Bool { self.isWritable || self.isLast }

    /// Whether single trades may be written.
    var takesTrades: Bool { !self.output.isBehind }

    /// Writes frames, and counts the messages in them.
    func write(_ frames: ByteBuffer, messages: Int) { self.write(asIs: self.compressed(frames), messages: messages) }

    /// Writes frames as this client gets them, and counts the messages in them.
    func write(asIs frames: ByteBuffer, messages: Int) {
        self.output.send(asIs: frames)
        self.output.wrote(messages: messages)
    }

    /// Tells what must not be missed.
    ///
    /// - Parameter message: what has the message as a frame, where it is the same for many.
    func notify(_ control: StreamControl, _ message: SharedMessage? = nil) {
        guard self.isOpen, self.hasSaidHello else { return }
        if self.catchUp != nil { return self.hold(control) }
        // Who is to be closed is told the count then.
        let missed = self.closesWhenBehind ? nil : self.takeMissed()
        if let missed { self.write(self.hub.frame(missed), messages: 1) }
        // With something in front, the number in the shared frame would be out of order.
        let shared = missed == nil ? message?.frame(for: StreamClient.self, encode: control.encoded) : nil
        let frame = shared ?? self.hub.frame(control)
        guard self.hasRoom(for: frame.readableBytes) else { return self.closeForControl() }
        self.write(frame, messages: 1)
        self.waitingControls.wrote(messages: 1, bytes: self.writtenBytes, atMost: self.output.maximumWaiting)
    }

    private func hold(_ control: StreamControl) {
        let waits = self.output.feedWaits
        guard let catchUp, catchUp.heldBytes + control.cost <= self.hub.settings.waitingLimit(feedWaits: waits),
            waits || catchUp.heldCount < self.hub.settings.maximumWaitingMessages
        else { return self.closeForControl() }
        self.catchUp?.hold(control, before: self.hub.ring.sequences.upperBound)
    }

    private func hasRoom(for bytes: Int) -> Bool {
        guard !self.isWritable, !self.isLast else { return true }
        let waiting = self.waitingBytes
        guard waiting > 0 else { return true }
        let feedWaits = self.output.feedWaits
        guard waiting + bytes <= self.hub.settings.waitingLimit(feedWaits: feedWaits) else { return false }
        // A feed that stops when asked to brings no more than what is under way, which may be many small messages.
        if feedWaits { return true }
        let most = self.hub.settings.maximumWaitingMessages
        // One read may bring more trades than may wait in messages; these alone leave no word of the feed without room.
        if self.output.waitingMessages(waiting) < most { return true }
        // Of what waits, that which was written up to the last of them.
        let behind = self.writtenBytes - self.waitingControls.bytes
        return self.waitingControls.count(waiting: waiting - behind) < most / 8
    }

    private func closeForControl() {
        self.hub.noteSlowClient(missed: 0)
        self.close(.tryAgainLater, reason: "too slow: messages of the feed's state wait")
    }

    /// Puts into words what was missed and has not been told; none where nothing was.
    private func takeMissed() -> StreamControl? {
        guard let range = self.missedRange, self.output.isBehind else { return nil }
        let missed = self.missedCount
        self.missedRange = nil
        self.missedCount = 0
        self.output.reportedMissed()
        self.hub.noteSkipped(missed)
        return .skipped(missed, range)
    }

    // MARK: Pace

    /// Whether it is closed when it is too slow: by its own choice, or because it wants every trade.
    var closesWhenBehind: Bool {
        switch self.overflow {
        case .close: true
        case .latest: false
        case nil: self.session.wantsTrades
        }
    }

    /// What it wants, or what is to become of it, has changed.
    func policyChanged() {
        let feedWaits = self.hub.feedWaits && self.session.wantsTrades && self.closesWhenBehind
        // An eighth of the room is for what must not be missed.
        self.output.setPolicy(
            feedWaits: feedWaits,
            limit: self.hub.settings.waitingLimit(feedWaits: feedWaits) / 8 * 7,
            messageLimit: self.hub.settings.maximumWaitingMessages / 8 * 7,
            closes: self.closesWhenBehind
        )
    }

    /// The feed waits for its clients from now on, or not any more.
    func feedWaitsChanged() { self.policyChanged() }

    /// Goes on with what had to wait while nothing more could be written.
    func becameWritable() {
        guard self.isOpen else { return }
        if self.catchUp != nil { return self.scheduleStep() }
        self.showPostponed()
        self.hub.flush()
    }

    func obey(_ verdict: Backlog.Verdict) {
        switch verdict {
        case .keep:
            break
        case .close(let missed):
            self.closeTooSlow(missed: missed)
        case .goOn:
            if let range = self.missedRange {
                let missed = self.missedCount
                self.missedRange = nil
                self.missedCount = 0
                self.hub.noteSkipped(missed)
                self.notify(.skipped(missed, range))
            }
            // Also where the count was told before, in front of a message that could not wait.
            if let since = self.missedSince {
                self.missedSince = nil
                self.showMissed(since: since)
            }
        }
    }
}

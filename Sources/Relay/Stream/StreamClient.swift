import Market
import NIOCore
package import NIOHTTP1
import WebSocket
import Wire

/// A session of `/v1/stream`.
///
/// It gets every trade, or prices. A client that was too slow for some prices gets the newest price of each symbol.
///
/// Three kinds of messages share its output. Messages that must not be missed (``StreamControl``) are always written,
/// in order. Single trades are written while the backlog allows. Prices are written only while the channel is writable,
/// and merged otherwise. This file is the output; `+Requests`, `+Prices`, `+Trades` and `+Resume` decide what is sent.
package final class StreamClient: RelayProtocol {
    static let path = "/v1/stream"
    static let name = "stream"
    static let showsPrices = true

    package let output: ClientOutput
    let context: RelayContext
    let query: StreamQuery
    var session = FollowedRows()
    /// The action for a client that is too slow, if it has chosen one.
    var overflow: StreamOverflow?
    var allowance: RequestAllowance
    /// The state of its catch-up; `nil` if it is up to date.
    var catchUp: CatchUp? {
        didSet { if (oldValue == nil) != (self.catchUp == nil) { self.pace.setCatchingUp(self.catchUp != nil) } }
    }
    /// The requests that wait for the end of the catch-up.
    var deferred: [Deferred] = []
    /// The refused symbols of one request that are still to be reported.
    var refusals = SymbolRefusals()
    /// The bars to which it is subscribed.
    var barTopics: Set<BarTopic> = []
    /// The symbols whose venue's own figures are still to be sent; each is followed, or was.
    var dueDays: Set<String> = []
    /// The intervals at which it gets prices, in ms.
    var priceIntervals: Set<Int> = []

    /// The number of missed trades that were not reported to it.
    var missedCount: UInt64 = 0
    /// The numbers of the first and the last missed trade that was not reported to it.
    var missedRange: ClosedRange<UInt64>?
    /// The number of the first missed trade, reported or not, since its last newest prices.
    var missedSince: UInt64?
    /// Counts the waiting messages that must not be missed.
    private var waitingControls = PendingMessages()
    private var hasSaidHello = false
    /// Whether the relay ends, so that everything is written, whatever waits.
    var isLast = false

    package init(context: RelayContext, query: StreamQuery = StreamQuery()) {
        let settings = context.settings
        self.context = context
        self.query = query
        self.overflow = query.overflow
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        // Queued prices grow old. Far below the limit they are replaced by the newest ones.
        let highMark = min(settings.maximumWaitingBytes / 4, 64 << 10)
        self.output = context.makeOutput(ClientOutput.Marks(low: highMark / 4, high: highMark))
        self.output.subprotocol = query.subprotocol
        self.policyChanged()
    }

    package convenience init(request: HTTPRequestHead, context: RelayContext) throws(HTTPRefusal) {
        self.init(context: context, query: try StreamQuery(request))
    }

    static func makeFanout(for context: RelayContext) -> StreamFanout {
        StreamFanout(context.numbers, slots: context.slots)
    }

    func opened() {
        let hello = StreamEncoder.hello(self.context.hello(), number: self.context.numbers.next())
        self.write(SharedMessage.framed(hello), messages: 1)
        self.hasSaidHello = true
        guard let symbols = self.query.symbols else { return }
        self.subscribe(symbols, delivery: nil, since: self.query.since)
        self.output.requests.take()
    }

    func received(_ text: ByteBuffer) { self.requested(StreamRequest.parse(text), bytes: text.readableBytes) }

    func closed() {
        self.catchUp = nil
        self.context.setResuming(self, false)
        self.deferred = []
        self.refusals = SymbolRefusals()
        self.session.unfollowAll()
        self.intervalsChanged()
        self.leaveBars()
    }

    // MARK: Writing

    /// Whether prices may be written: nothing waits that must precede them.
    var takesPrices: Bool {
        guard self.catchUp == nil else { return false }
        if self.isLast { return true }
        if self.overflow == .close { return !self.pace.isBehind }
        return self.isWritable && !self.pace.isBehind
    }

    /// Whether messages may be written that a later one replaces: little waits, or no later one comes.
    var mayWriteMergeable: Bool { self.isWritable || self.isLast }

    /// Whether single trades may be written.
    var takesTrades: Bool { !self.pace.isBehind }

    /// Writes frames, and counts the messages in them.
    func write(_ frames: ByteBuffer, messages: Int) { self.write(asIs: self.compressed(frames), messages: messages) }

    /// Writes frames that are already in this client's form, and counts the messages in them.
    func write(asIs frames: ByteBuffer, messages: Int) {
        self.output.send(asIs: frames)
        self.pace.wrote(messages: messages)
    }

    /// Sends a message that must not be missed.
    ///
    /// - Parameter message: the shared message with the frame, if it is the same for many clients.
    func notify(_ control: StreamControl, _ message: SharedMessage? = nil) {
        guard self.isOpen, self.hasSaidHello else { return }
        if self.catchUp != nil { return self.hold(control) }
        // A client that is to be closed gets the count with its close frame.
        let missed = self.closesWhenBehind ? nil : self.takeMissed()
        if let missed { self.write(self.context.frame(missed), messages: 1) }
        // After another message the number in the shared frame would be out of order.
        let shared = missed == nil ? message?.frame(for: StreamClient.self, encode: control.encoded) : nil
        let frame = shared ?? self.context.frame(control)
        guard self.hasRoom(for: frame.readableBytes) else { return self.closeForControl() }
        self.write(frame, messages: 1)
        self.waitingControls.wrote(messages: 1, bytes: self.writtenBytes, atMost: self.pace.maximumWaiting)
    }

    private func hold(_ control: StreamControl) {
        let waits = self.pace.feedWaits
        guard let catchUp, catchUp.heldBytes + control.cost <= self.context.settings.waitingLimit(feedWaits: waits),
            waits || catchUp.heldCount < self.context.settings.maximumWaitingMessages
        else { return self.closeForControl() }
        let ring = self.context.ring
        let (before, epoch) = (ring.sequences.upperBound, ring.epoch)
        self.catchUp?.hold(control, before: before, epoch: epoch, isAnswer: self.output.requests.isAnswering)
    }

    var heldAnswerBytes: Int { self.catchUp?.heldAnswerBytes ?? 0 }

    private func hasRoom(for bytes: Int) -> Bool {
        guard !self.isWritable, !self.isLast else { return true }
        let waiting = self.waitingBytes
        guard waiting > 0 else { return true }
        let feedWaits = self.pace.feedWaits
        guard waiting + bytes <= self.context.settings.waitingLimit(feedWaits: feedWaits) else { return false }
        // After a pause of the feed only the messages under way come; they may be many small ones.
        if feedWaits { return true }
        let most = self.context.settings.maximumWaitingMessages
        // One batch may have more trades than messages may wait. Trades alone must not use up the places for status
        // messages.
        if self.pace.waitingMessages(waiting) < most { return true }
        // The waiting bytes up to the last of the status messages.
        let behind = self.writtenBytes - self.waitingControls.bytes
        return self.waitingControls.count(waiting: waiting - behind) < most / 8
    }

    private func closeForControl() {
        self.closeSlow(missed: 0, reason: "too slow: messages of the feed's state wait")
    }

    /// Returns a report of the missed and unreported trades; `nil` if there are none.
    private func takeMissed() -> StreamControl? {
        guard let range = self.missedRange, self.pace.isBehind else { return nil }
        let missed = self.missedCount
        self.missedRange = nil
        self.missedCount = 0
        self.pace.reportedMissed()
        self.context.noteSkipped(missed)
        return .skipped(missed, range)
    }

    // MARK: Pace

    /// Whether the client is closed when it is too slow: by its own choice, or because it wants every trade.
    var closesWhenBehind: Bool {
        switch self.overflow {
        case .close: true
        case .latest: false
        case nil: self.session.wantsTrades
        }
    }

    /// Applies a change of the subscriptions or of the overflow policy.
    func policyChanged() {
        let feedWaits = self.context.feedWaits && self.session.wantsTrades && self.closesWhenBehind
        // An eighth of the buffer space is reserved for messages that must not be missed.
        self.pace.setPolicy(
            feedWaits: feedWaits,
            limit: self.context.settings.waitingLimit(feedWaits: feedWaits) / 8 * 7,
            messageLimit: self.context.settings.maximumWaitingMessages / 8 * 7,
            closes: self.closesWhenBehind
        )
    }

    /// Notes a change of whether the feed waits for its clients.
    func feedWaitsChanged() { self.policyChanged() }

    /// Continues with the messages that were held back while the channel was full.
    func becameWritable() {
        guard self.isOpen else { return }
        if self.catchUp != nil { return self.pace.scheduleCatchUp() }
        self.showPostponed()
        self.context.flush()
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
                self.context.noteSkipped(missed)
                self.notify(.skipped(missed, range))
            }
            // This applies also if the count was reported before, ahead of a message that could not wait.
            if let since = self.missedSince {
                self.missedSince = nil
                self.showMissed(since: since)
            }
        }
    }
}

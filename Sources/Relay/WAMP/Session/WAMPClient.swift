import NIOCore
import NIOHTTP1
import WebSocket
import Wire

/// A session of WAMP v2: the feed's topics and procedures and, where the settings allow it, those of other clients.
///
/// Prices are left out for a client that does not keep up, and the newest one follows. A client that gets every trade
/// is closed with the count of those it missed. Events of other clients are left out without a word (WAMP's publishing
/// is best effort). Results and invocations are never left out; a client for which too many of them wait is closed.
final class WAMPClient: RelayProtocol {
    static let path = "/wamp"
    static let name = "wamp"
    static let showsPrices = true
    static let takesBinary = true

    /// What the session waits for.
    enum State {
        /// The client's HELLO, until the timer fires.
        case opening(Scheduled<Void>?)
        /// Messages; the number is the session's.
        case joined(UInt64)
        /// The end of the connection.
        case ended
    }

    let output: ClientOutput
    let context: RelayContext
    let serialisation: WAMPSerialisation
    var state = State.opening(nil)
    var allowance: RequestAllowance
    var subscriptions: [UInt64: WAMPSubscription] = [:]
    /// The rows of the symbols whose prices it gets.
    var rows = FollowedRows()
    /// Whether the feed's status has changed since the one it got.
    var isStatusDue = false
    var roomRate = RequestAllowance.ofRooms
    /// Whether the relay ends, so that everything is written, whatever waits.
    private var isLast = false

    init(context: RelayContext, serialisation: WAMPSerialisation) {
        let settings = context.settings
        self.context = context
        self.serialisation = serialisation
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        // Queued prices grow old. Far below the limit they are replaced by the newest ones.
        let highMark = min(settings.maximumWaitingBytes / 4, 64 << 10)
        self.output = context.makeOutput(ClientOutput.Marks(low: highMark / 4, high: highMark))
        self.output.subprotocol = serialisation.subprotocol
        self.feedWaitsChanged()
    }

    convenience init(request: HTTPRequestHead, context: RelayContext) throws(HTTPRefusal) {
        self.init(context: context, serialisation: try WAMPHandshake.serialisation(request))
    }

    static func isOn(_ settings: RelaySettings) -> Bool { settings.wamp }

    static func makeFanout(for context: RelayContext) -> WAMPFanout {
        WAMPFanout(
            loop: context.loop,
            slots: context.slots,
            numbers: context.numbers,
            ids: WAMPIDs(SystemRandomNumberGenerator())
        )
    }

    var fanout: WAMPFanout { self.context.index.fanout(of: WAMPClient.self) }

    // MARK: The session

    func opened() {
        let timeout = self.context.settings.handshakeTimeout
        self.state = .opening(
            self.context.loop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in
                self?.abort(.protocolViolation, "no HELLO has come", code: .policy)
                self?.flush()
            }
        )
    }

    func closed() {
        let before = self.state
        self.state = .ended
        self.rows.unfollowAll()
        self.subscriptions = [:]
        self.context.rooms.leaveAll(self)
        switch before {
        case .opening(let timer): timer?.cancel()
        case .joined(let session): self.fanout.left(session)
        case .ended: break
        }
    }

    /// Ends the session for a message that the protocol does not allow, or because it cannot begin.
    func abort(_ reason: WAMPErrorURI, _ words: String, code: WebSocketCloseCode = .protocolError) {
        guard self.isOpen else { return }
        self.answer(.abort(reason, words))
        self.close(code, reason: reason.rawValue)
    }

    func willStop() {
        guard self.isOpen else { return }
        self.isLast = true
        self.pace.endWaiting()
    }

    func showLast() {
        guard self.isOpen else { return }
        self.showPostponed()
        switch self.state {
        case .joined: self.answer(.goodbye(.systemShutdown, "the relay ends"))
        case .opening, .ended: break
        }
    }

    // MARK: Writing

    /// Whether messages may be left out or replaced by later ones: nothing of them waits.
    var takesMergeable: Bool { self.isOpen && (self.isLast || self.keepsUp) }

    /// Whether little waits for the client.
    var keepsUp: Bool { self.isOpen && self.isWritable && !self.pace.isBehind }

    func flush() { self.context.flush() }

    /// Sends the answer to a request. The relay reads no further request while too many answers wait.
    func answer(_ message: WAMPMessage) { self.write(self.serialisation.frame(message), messages: 1) }

    /// Writes frames, and counts the messages in them.
    func write(_ frames: ByteBuffer, messages: Int) {
        self.output.send(framed: frames)
        self.pace.wrote(messages: messages)
    }

    /// Sends a message that must not be missed and that no request of this moment has caused.
    func deliver(_ message: WAMPMessage) { self.deliver(self.serialisation.frame(message)) }

    /// Sends a frame that must not be missed. A client for which too much waits is closed. A frame for which nothing
    /// else waits is sent whatever its size.
    func deliver(_ frame: ByteBuffer) {
        guard self.isOpen else { return }
        let waiting = self.isWritable || self.isLast ? 0 : self.waitingBytes
        guard self.unsentBytes == 0 || waiting + frame.readableBytes <= self.pace.maximumWaiting / 2 else {
            return self.closeSlow(missed: 0, reason: "too slow: messages wait that must not be missed")
        }
        self.write(frame, messages: 1)
    }

    /// The bytes written that have not left this program. Those that are not flushed yet are part of them.
    private var unsentBytes: Int { self.writtenBytes - self.output.sentBytes }

    /// Sends an event of another client, except to a client that does not keep up or for which this turn has written
    /// much already.
    func offer(_ frame: ByteBuffer) {
        let unsent = self.unsentBytes
        guard self.keepsUp, unsent == 0 || unsent + frame.readableBytes <= self.pace.maximumWaiting / 2 else { return }
        self.write(frame, messages: 1)
    }
}

import Market
import NIOCore
import NIOHTTP1
import WebSocket
import Wire

/// A session of plain lines over TCP, for `nc` and shells: settled prices, or every trade.
///
/// Three kinds of lines share its output, as in `/v1/stream`. Notices are always written, in order, within the limit of
/// what may wait. Trades are written while the backlog allows, and the client is closed with the count of those that it
/// missed. Prices are written while the channel is writable, and the newest one follows otherwise.
final class LineClient: RelayProtocol {
    static let path = ""
    static func serves(_ path: Substring) -> Bool { false }
    static func isOn(_ settings: RelaySettings) -> Bool { settings.lines != nil }
    static let name = "lines"
    static let showsPrices = true
    static let takesBinary = true
    /// How many lines that are no text a client may send.
    static let maximumUnreadable = 3

    let output: ClientOutput
    let context: RelayContext
    var form = LineForm.plain
    var followed = FollowedRows()
    var allowance: RequestAllowance
    var refusals = SymbolRefusals()
    var unreadable = 0
    /// The room that it is in.
    var room: String?
    var roomRate = RequestAllowance.ofRooms
    /// Whether the client has chosen something. Before, it gets no notice of the feed.
    var hasChosen = false
    /// Whether the relay ends, so that everything is written, whatever waits.
    var isLast = false

    init(context: RelayContext) {
        let settings = context.settings
        self.context = context
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        // Queued prices grow old. Far below the limit they are replaced by the newest ones.
        let high = min(settings.maximumWaitingBytes / 4, 64 << 10)
        self.output = context.makeOutput(ClientOutput.Marks(low: high / 4, high: high))
        self.policyChanged()
    }

    /// Lines have no request; ``LineHandler`` makes the sessions.
    convenience init(request: HTTPRequestHead, context: RelayContext) throws(HTTPRefusal) {
        throw .notFound(webSockets: [])
    }

    static func makeFanout(for context: RelayContext) -> LineFanout { LineFanout(slots: context.slots) }

    func closed() {
        self.followed.unfollowAll()
        self.refusals = SymbolRefusals()
        self.context.rooms.leaveAll(self)
    }

    // MARK: Writing

    var encoder: LineEncoder { LineEncoder(form: self.form, status: self.context.status) }

    /// Writes a notice.
    ///
    /// - Parameter message: the shared message, if it is the same for many clients.
    func notify(_ notice: LineNotice, _ message: SharedMessage? = nil) {
        guard self.isOpen else { return }
        var line: ByteBuffer?
        if let message {
            // An empty payload is a notice that this form does not have.
            line = message.frame(for: LineClient.self, in: self.form.message) { _ in
                self.encoder.notice(notice) ?? ByteBuffer()
            }
        } else {
            line = self.encoder.notice(notice).map(self.form.message.framed)
        }
        guard let line, line.readableBytes > 1 else { return }
        guard self.hasRoom(for: line.readableBytes) else {
            if self.pace.missed == 0, case .roomEvent = notice {
                return self.closeTooSlow("messages of the room missed")
            }
            return self.closeTooSlow(missed: self.pace.missed)
        }
        self.write(line)
    }

    func write(_ line: ByteBuffer) {
        self.output.send(asIs: line)
        self.pace.wrote(messages: 1)
    }

    private func hasRoom(for bytes: Int) -> Bool {
        guard !self.isWritable, !self.isLast else { return true }
        let waiting = self.waitingBytes
        return waiting == 0
            || waiting + bytes <= self.context.settings.waitingLimit(feedWaits: self.pace.feedWaits)
    }

    // MARK: End

    func willClose(_ code: WebSocketCloseCode, reason: String) {
        let kind =
            switch code {
            case .tryAgainLater: "too-slow"
            case .goingAway: "stopping"
            case .tooBig: "line-too-long"
            case .policy: "rate-limited"
            case .invalidText: "invalid-message"
            default: nil as String?
            }
        guard let kind, let line = self.encoder.notice(.error(reason, code: kind)) else { return }
        self.write(self.form.message.framed(line))
    }

    func closeTooSlow(missed: UInt64) { self.closeTooSlow("\(missed) trades missed", missed: missed) }

    /// - Parameter words: what the client has missed.
    private func closeTooSlow(_ words: String, missed: UInt64 = 0) {
        guard self.isOpen else { return }
        self.closeSlow(missed: missed, reason: "too slow: \(words)")
    }

    func willStop() {
        self.isLast = true
        self.pace.endWaiting()
    }

    func showLast() {
        guard self.isOpen else { return }
        self.showPostponed()
        self.showUnreported()
        self.pace.endWaiting()
    }

    // MARK: Pace

    /// Applies a change of what the client follows.
    func policyChanged() {
        let wantsTrades = self.followed.wantsTrades
        let feedWaits = self.context.feedWaits && wantsTrades
        // An eighth of the place is reserved for notices.
        self.pace.setPolicy(
            feedWaits: feedWaits,
            limit: self.context.settings.waitingLimit(feedWaits: feedWaits) / 8 * 7,
            messageLimit: self.context.settings.maximumWaitingMessages,
            closes: wantsTrades
        )
    }

    func feedWaitsChanged() { self.policyChanged() }

    func obey(_ verdict: Backlog.Verdict) {
        switch verdict {
        case .keep: break
        case .close(let missed): self.closeTooSlow(missed: missed)
        case .goOn(let missed):
            // The client has ended to follow single trades while it was behind.
            guard missed > 0 else { return }
            self.context.noteSkipped(missed)
            self.notify(.error("\(missed) trades missed", code: "too-slow"))
        }
    }

    func becameWritable() {
        guard self.isOpen else { return }
        self.showPostponed()
        self.context.flush()
    }
}

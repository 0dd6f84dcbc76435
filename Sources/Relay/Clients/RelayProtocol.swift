import Market
import NIOCore
import NIOHTTP1
import WebSocket
import Wire

/// One client's session in one protocol of the relay; it lives on the relay's loop.
///
/// It is made from the client's request, takes the client's messages and the relay's events, and writes to its
/// ``output``. This is all that the relay knows of a protocol. A session need not implement an event for which its
/// protocol has no message.
protocol RelayProtocol: AnyObject {
    associatedtype Fanout: TradeFanout where Fanout.Session == Self

    /// The path of the protocol's endpoint, as it is shown to people; empty for a protocol without WebSockets.
    static var path: String { get }
    /// Returns whether the endpoint has this path; by default only ``path`` itself.
    static func serves(_ path: Substring) -> Bool
    /// Returns whether the settings turn the protocol on; by default it is on.
    static func isOn(_ settings: RelaySettings) -> Bool
    /// The protocol's name in `/v1/status` and in `/metrics`.
    static var name: String { get }
    /// Whether its sessions show prices; the latency of shown prices is measured.
    static var showsPrices: Bool { get }
    /// Whether its sessions take binary messages; a client of another protocol that sends one is closed.
    static var takesBinary: Bool { get }
    /// Makes the fan-out of trades to all sessions of the protocol.
    static func makeFanout(for context: RelayContext) -> Fanout

    /// - Throws: ``HTTPRefusal`` for an invalid request.
    init(request: HTTPRequestHead, context: RelayContext) throws(HTTPRefusal)

    /// The output to the client.
    var output: ClientOutput { get }

    // MARK: From the client

    /// Begins the session: the connection is open.
    func opened()
    /// Takes a text message of the client.
    func received(_ text: ByteBuffer)
    /// Takes a binary message of the client; called only if the protocol takes them.
    func received(binary: ByteBuffer)
    /// Continues with an earlier request whose answer had to wait; returns whether there was one. It is called before
    /// each further message.
    func takeDeferred() -> Bool
    /// The bytes of answers that the session holds back. While they are too many, it gets no message.
    var heldAnswerBytes: Int { get }
    /// Closes a client that was too slow, or reports to it the trades that it has missed.
    func obey(_ verdict: Backlog.Verdict)
    /// Writes what was held back, since little waits for the client again.
    func becameWritable()
    /// Sends one step of a catch-up, if there is one and the client reads (``ClientPace/scheduleCatchUp()``).
    func sendCatchUp()
    /// Writes the last message before the relay closes the connection, in a protocol whose close frame is not enough.
    func willClose(_ code: WebSocketCloseCode, reason: String)
    /// Ends the session: the connection is closing or gone, and nothing more can be written.
    func closed()

    // MARK: From the relay, to all sessions

    /// Notes a change of whether the feed waits for its clients.
    func feedWaitsChanged()
    /// Sends a ping in the protocol's own form.
    func pingIsDue()
    func statusChanged(_ status: FeedStatus, _ message: SharedMessage)
    func gapFound(_ gap: Gap, _ message: SharedMessage)
    /// Reports the outcome of a gap.
    func gapSettled(_ outcome: GapOutcome, _ message: SharedMessage)
    /// Notes that the numbers of the trades begin anew in this run; `seam` names the new epoch.
    func epochChanged(_ seam: Gap, _ message: SharedMessage)
    func replayChanged(_ position: ReplayPosition, _ message: SharedMessage)
    /// Reports trades that the relay left out.
    func tradesLost(_ loss: RelayLoss)
    /// Prepares for the end of the relay: from now on all messages are written at once.
    func willStop()
    /// Shows the last prices: the relay ends, and the held-back prices have been shown.
    func showLast()

    // MARK: From the relay, about one symbol

    /// Shows a price to a session that follows the symbol.
    func priceShown(_ price: inout EncodedPrice, row: Int)
    /// Shows a price to a session that follows the symbol at an interval.
    func priceShown(_ price: inout EncodedPrice, row: Int, every milliseconds: Int)
    /// Reports trades that showed no new price.
    func tradesCounted(_ summary: SymbolSummary, row: Int, _ message: SharedMessage)
    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage)
    /// Reports the venue's own figures of the symbol's last 24 hours.
    func dayChanged(_ day: VenueDay, _ message: SharedMessage)
    /// Reports that the upstream refuses a symbol to which the session has subscribed; the subscription stays.
    func symbolRefused(_ symbol: String, reason: String)

    // MARK: From the relay, to sessions that follow all symbols

    func symbolAppeared(row: Int)
    /// Notes that the row is free and will be given to another symbol.
    func symbolVanished(row: Int)
    /// Reports that the symbol was unsubscribed upstream.
    func symbolReleased(_ symbol: String, since: Int64, _ message: SharedMessage)
    /// Reports that a released symbol was subscribed upstream again.
    func symbolRecalled(_ symbol: String)

    // MARK: From the relay, on request

    func barChanged(_ bar: PublishedBar, _ message: SharedMessage)
    /// Notes that trades are about to leave the ring.
    ///
    /// - Parameters:
    ///   - lower: the number of the oldest trade that stays.
    ///   - batch: the batch that displaces them and is not in the ring yet; `nil` if they are too old.
    func tradesEvicted(below lower: UInt64, by batch: TapeBatch?)
}

extension RelayProtocol {
    static func serves(_ path: Substring) -> Bool { path == Self.path }
    static func isOn(_ settings: RelaySettings) -> Bool { true }
    static var showsPrices: Bool { false }
    static var takesBinary: Bool { false }
    func received(binary: ByteBuffer) {}
    func opened() {}
    func takeDeferred() -> Bool { false }
    var heldAnswerBytes: Int { 0 }
    func becameWritable() {}
    func sendCatchUp() {}
    func willClose(_ code: WebSocketCloseCode, reason: String) {}
    func closed() {}
    func feedWaitsChanged() {}
    func pingIsDue() {}
    func statusChanged(_ status: FeedStatus, _ message: SharedMessage) {}
    func gapFound(_ gap: Gap, _ message: SharedMessage) {}
    func gapSettled(_ outcome: GapOutcome, _ message: SharedMessage) {}
    func epochChanged(_ seam: Gap, _ message: SharedMessage) {}
    func replayChanged(_ position: ReplayPosition, _ message: SharedMessage) {}
    func tradesLost(_ loss: RelayLoss) {}
    func willStop() {}
    func showLast() {}
    func priceShown(_ price: inout EncodedPrice, row: Int) {}
    func priceShown(_ price: inout EncodedPrice, row: Int, every milliseconds: Int) {}
    func tradesCounted(_ summary: SymbolSummary, row: Int, _ message: SharedMessage) {}
    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage) {}
    func dayChanged(_ day: VenueDay, _ message: SharedMessage) {}
    func symbolRefused(_ symbol: String, reason: String) {}
    func symbolAppeared(row: Int) {}
    func symbolVanished(row: Int) {}
    func symbolReleased(_ symbol: String, since: Int64, _ message: SharedMessage) {}
    func symbolRecalled(_ symbol: String) {}
    func barChanged(_ bar: PublishedBar, _ message: SharedMessage) {}
    func tradesEvicted(below lower: UInt64, by batch: TapeBatch?) {}
}

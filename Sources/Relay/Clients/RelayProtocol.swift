import Market
import NIOCore
import NIOHTTP1
import Wire

/// One client's session in one protocol of the relay; lives on the relay's loop.
///
/// Made from the client's request, it takes what the client sends and what the relay reports, and writes to its ``output``. The
/// relay knows no more of a protocol than this. A session need not implement what its protocol has no message for.
protocol RelayProtocol: AnyObject {
    associatedtype Fanout: TradeFanout

    /// Where clients find the protocol.
    static var path: String { get }
    /// The protocol's name in `/v1/status` and in `/metrics`.
    static var name: String { get }
    /// Whether its sessions show prices, which is measured.
    static var showsPrices: Bool { get }
    /// Makes what sends trades to all sessions of the protocol.
    static func makeFanout(for relay: RelayHub) -> Fanout

    /// - Throws: ``HTTPRefusal`` for a request that cannot be understood.
    init(request: HTTPRequestHead, relay: RelayHub) throws(HTTPRefusal)

    /// The way to the client.
    var output: ClientOutput { get }

    // MARK: From the client

    /// The WebSocket is open.
    func opened()
    /// A message came.
    func received(_ text: ByteBuffer)
    /// Closes the client, which was too slow, or reports to it what it has missed.
    func obey(_ verdict: Backlog.Verdict)
    /// Little waits for the client again, so what was held back may be written.
    func becameWritable()
    /// The WebSocket is closing or gone; nothing more can be written.
    func closed()

    // MARK: From the relay, to all sessions

    /// The feed waits for its clients from now on, or not any more.
    func feedWaitsChanged()
    /// It is time for a ping in the protocol's own words.
    func pingIsDue()
    func statusChanged(_ status: FeedStatus, _ message: SharedMessage)
    func gapFound(_ gap: Gap, _ message: SharedMessage)
    func replayChanged(_ position: ReplayPosition, _ message: SharedMessage)
    /// The relay itself has left out trades.
    func tradesLost(_ loss: RelayLoss)
    /// The relay ends: from now on all is written at once.
    func willStop()
    /// The relay ends: what was held back has been shown.
    func showLast()

    // MARK: From the relay, of one symbol

    /// A price is shown, to all who follow the symbol.
    func priceShown(_ price: inout EncodedPrice, row: Int)
    /// A price is shown to those who follow it at an interval.
    func priceShown(_ price: inout EncodedPrice, row: Int, every milliseconds: Int)
    /// Trades came that showed no new price.
    func tradesCounted(_ summary: SymbolSummary, row: Int, _ message: SharedMessage)
    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage)
    /// The upstream does not send a symbol that the session may have subscribed to.
    func symbolRefused(_ symbol: String, reason: String)
    /// The upstream sends such a symbol again.
    func symbolAccepted(_ symbol: String)

    // MARK: From the relay, to those who follow all symbols

    func symbolAppeared(row: Int)
    /// The row is free, and will be another symbol's.
    func symbolVanished(row: Int)
    /// The feed is not asked for the symbol any more.
    func symbolReleased(_ symbol: String, since: Int64, _ message: SharedMessage)
    /// The feed is asked again for a symbol that was released.
    func symbolRecalled(_ symbol: String)

    // MARK: From the relay, to those who have asked for it

    func barChanged(_ bar: PublishedBar, _ message: SharedMessage)
    /// Trades are about to leave the ring.
    ///
    /// - Parameters:
    ///   - lower: the number of the oldest that will be left.
    ///   - batch: the read that takes their room, which the ring does not hold yet; `nil` where they are too old.
    func tradesEvicted(below lower: UInt64, by batch: TapeBatch?)
}

extension RelayProtocol {
    static var showsPrices: Bool { false }
    func opened() {}
    func obey(_ verdict: Backlog.Verdict) {}
    func becameWritable() {}
    func closed() {}
    func feedWaitsChanged() {}
    func pingIsDue() {}
    func statusChanged(_ status: FeedStatus, _ message: SharedMessage) {}
    func gapFound(_ gap: Gap, _ message: SharedMessage) {}
    func replayChanged(_ position: ReplayPosition, _ message: SharedMessage) {}
    func tradesLost(_ loss: RelayLoss) {}
    func willStop() {}
    func showLast() {}
    func priceShown(_ price: inout EncodedPrice, row: Int) {}
    func priceShown(_ price: inout EncodedPrice, row: Int, every milliseconds: Int) {}
    func tradesCounted(_ summary: SymbolSummary, row: Int, _ message: SharedMessage) {}
    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage) {}
    func symbolRefused(_ symbol: String, reason: String) {}
    func symbolAccepted(_ symbol: String) {}
    func symbolAppeared(row: Int) {}
    func symbolVanished(row: Int) {}
    func symbolReleased(_ symbol: String, since: Int64, _ message: SharedMessage) {}
    func symbolRecalled(_ symbol: String) {}
    func barChanged(_ bar: PublishedBar, _ message: SharedMessage) {}
    func tradesEvicted(below lower: UInt64, by batch: TapeBatch?) {}
}

import Ingest
import NIOCore
import TLS
import Wire

/// Finnhub's protocol on one connection.
final class FinnhubDialect: ConnectionDialect {
    @exclusivity(unchecked) private var reader: FinnhubFrameReader
    private let isReplay: Bool

    /// - Parameter isReplay: whether the peer is the mock server of a replay in this program. Its frames with trades of
    ///   another Tickertape's tape are as they were recorded, in that protocol.
    init(key: Secret?, isReplay: Bool = false) {
        self.reader = FinnhubFrameReader(key: key)
        self.isReplay = isReplay
    }

    func take(_ frame: ByteBuffer, into input: FeedInput, now: Int64) -> FeedEvent? {
        if self.isReplay, StreamMessage.isTrade(frame), case .trade(let trade) = StreamMessage.parse(frame) {
            input.take(frame, of: .tickertape, now: now) { _, symbols, trades in
                StreamMessage.trade(trade).appendTrade(to: &trades, symbols: &symbols)
            }
            return nil
        }
        guard case .error(let text) = self.reader.take(frame, into: input, now: now) else { return nil }
        return Self.error(text)
    }

    func survey(_ frame: ByteBuffer) -> (ids: [FrameIDs], event: FeedEvent?) {
        switch self.reader.survey(frame) {
        case .trade(let count, _) where count > 0: ([], .trades)
        case .error(let text): ([], Self.error(text))
        case .trade, .ping, .news, .unknown, .malformed: ([], nil)
        }
    }

    private static func error(_ text: String) -> FeedEvent {
        .error(text, SymbolRefusalText(text).map { SymbolRefusal($0.kind, symbol: $0.symbol, text: text) })
    }

    /// Finnhub takes one symbol a message.
    func requests(for changes: [SubscriptionChange], send: ([SubscriptionChange], ByteBuffer) -> Void) {
        for change in changes { send([change], FinnhubRequest(change).encoded()) }
    }

    func safe(_ payload: ByteBuffer) -> ByteBuffer { self.reader.safe(payload) }
}

import Ingest
import NIOCore
import TLS
import Wire

/// Finnhub's protocol on one connection.
final class FinnhubDialect: ConnectionDialect {
    @exclusivity(unchecked) private var reader: FinnhubFrameReader

    init(key: Secret?) { self.reader = FinnhubFrameReader(key: key) }

    func take(_ frame: ByteBuffer, into input: FeedInput, now: Int64) -> FeedEvent? {
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

import Ingest
import Market
import NIOCore
import Wire

/// A venue's protocol on one connection.
final class VenueDialect: ConnectionDialect {
    /// The most symbols that a venue is believed to have subscribed to.
    private static let maximumSubscribed = SymbolTable.capacity

    private let venue: Venue
    /// The most symbols of one request.
    private let batch: Int
    private weak var client: VenueClient?
    @exclusivity(unchecked) private var parser: VenueParser
    /// The reader of frames that are not taken; only a second connection has them.
    private var surveyor: (parser: VenueParser, symbols: SymbolTable)?
    private var subscribed: Set<String> = []
    /// Numbers the requests.
    private var request: Int64 = 0

    init(_ venue: Venue, batch: Int, client: VenueClient) {
        self.venue = venue
        self.batch = max(batch, 1)
        self.client = client
        self.parser = VenueParser(venue)
    }

    func take(_ frame: ByteBuffer, into input: FeedInput, now: Int64) -> FeedEvent? {
        var message = VenueMessage.other
        input.take(frame, of: self.venue.dialect, now: now) { bytes, symbols, trades in
            message = self.parser.parse(bytes, symbols: &symbols, into: &trades)
            return message.content
        }
        return self.event(of: message)
    }

    func survey(_ frame: ByteBuffer) -> (ids: [FrameIDs], event: FeedEvent?) {
        var surveyor = self.surveyor.take() ?? (VenueParser(self.venue), SymbolTable())
        defer { self.surveyor = surveyor }
        var trades: [Trade] = []
        let message = surveyor.parser.parse(frame, symbols: &surveyor.symbols, into: &trades)
        var ids: [FrameIDs] = []
        for trade in trades {
            guard let id = trade.id else { continue }
            let symbol = surveyor.symbols.name(of: trade.symbol)
            if let place = ids.firstIndex(where: { $0.symbol == symbol }) {
                ids[place].ids = min(ids[place].ids.lowerBound, id)...max(ids[place].ids.upperBound, id)
            } else {
                ids.append(FrameIDs(symbol: symbol, ids: id...id))
            }
        }
        return (ids, self.event(of: message))
    }

    private func event(of message: VenueMessage) -> FeedEvent? {
        switch message {
        case .trades, .alive, .acknowledged, .other, .malformed: return nil
        case .heartbeat(let symbol, let newest): return .newest(newest, symbol: symbol)
        case .subscribed(let symbols):
            // Coinbase names all subscriptions, Kraken the new one.
            if self.venue == .coinbase { self.subscribed = [] }
            for symbol in symbols where self.subscribed.count < Self.maximumSubscribed {
                self.subscribed.insert(symbol)
            }
            return self.subscriptionsChanged
        case .unsubscribed(let symbols):
            self.subscribed.subtract(symbols)
            return self.subscriptionsChanged
        case .refused(let symbol, let text):
            // A repeated subscription is no fault.
            if text.hasPrefix("Already subscribed") { return nil }
            guard let symbol else { return .error(text, nil) }
            if text.hasPrefix("Exceeded") { return .error(text, SymbolRefusal(.overLimit, symbol: symbol, text: text)) }
            let isUnknown = text.contains("not a valid product") || text.contains("not supported")
            let cure = isUnknown ? ": write it as \(self.venue.name) does, such as \(self.venue.example)" : ""
            return .error(text + cure, SymbolRefusal(.noSuchSymbol, symbol: symbol, text: text + cure))
        case .error(let text): return .error(text, nil)
        case .closing: return .closing
        case .service(let state): return .service(state)
        }
    }

    /// Kraken sends heartbeats while anything is subscribed. Coinbase's heartbeats are subscriptions, and show
    /// themselves.
    private var subscriptionsChanged: FeedEvent? {
        if self.subscribed.isEmpty { return .heartbeats(areExpected: false) }
        return self.venue == .kraken ? .heartbeats(areExpected: true) : nil
    }

    // MARK: Requests

    func requests(for changes: [SubscriptionChange], send: ([SubscriptionChange], ByteBuffer) -> Void) {
        var rest = changes[...]
        while let first = rest.first {
            // The pacer counts the messages in the same way.
            let message = rest.prefix(self.batch).prefix { $0.isSubscription == first.isSubscription }
            rest = rest.dropFirst(message.count)
            let names = message.map { self.client?.requestName(of: $0.symbol) ?? $0.symbol }
            let request = first.isSubscription ? VenueRequest.subscribe(names) : .unsubscribe(names)
            send(Array(message), self.encoded(request))
        }
    }

    private func encoded(_ request: VenueRequest) -> ByteBuffer {
        self.request += 1
        return request.encoded(for: self.venue, id: self.request)
    }

    /// Kraken closes a connection after a minute without a request.
    var keepaliveInterval: Int64? { self.venue == .kraken ? 30_000_000_000 : nil }

    func keepalive() -> ByteBuffer { self.encoded(.ping) }
}

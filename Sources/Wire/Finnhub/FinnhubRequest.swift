package import NIOCore

/// A client's request in Finnhub's protocol: `{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}`.
package enum FinnhubRequest: Sendable, Equatable {
    /// Subscribes to the trades of a symbol; the symbol is empty if the request names none.
    case subscribe(String)
    case unsubscribe(String)
    /// Subscribes to symbols and asks the relay for the frames after a position; only for a client with positions
    /// (``NumberedMessage``).
    case resume([String], since: TapePosition)
    /// A request of another type, such as `subscribe-news`.
    case other(String)

    /// The request for a change of the subscriptions.
    package init(_ change: SubscriptionChange) {
        switch change {
        case .subscribe(let symbol): self = .subscribe(symbol)
        case .unsubscribe(let symbol): self = .unsubscribe(symbol)
        }
    }

    /// Reads a request; `nil` if the text is not a JSON object or has no type.
    package static func parse(_ text: ByteBuffer) -> FinnhubRequest? {
        text.withUnsafeReadableBytes { bytes in
            var type: String?
            var symbol = ""
            var symbols: [String] = []
            var since: TapePosition?
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                if key.equals("symbols"), reader.kind() == .array {
                    guard let names = reader.strings(atMost: StreamRequest.maximumSymbols) else { return false }
                    symbols = names
                    return true
                }
                guard reader.kind() == .string else { return reader.skipValue() }
                guard let value = reader.string() else { return false }
                if key.equals("type") { type = value.text }
                if key.equals("symbol") { symbol = value.text }
                if key.equals("since") { since = TapePosition(value.text) }
                return true
            }
            guard isWhole else { return nil }
            switch type {
            case "subscribe": return .subscribe(symbol)
            case "unsubscribe": return .unsubscribe(symbol)
            case "resume": return since.map { .resume(symbols, since: $0) } ?? .other("resume")
            case .some(let type): return .other(type)
            case nil: return nil
            }
        }
    }

    /// The request in the form of Finnhub's documentation.
    package func encoded() -> ByteBuffer {
        JSONWriter.object { line in
            switch self {
            case .subscribe(let symbol):
                line.field("type", "subscribe")
                line.field("symbol", symbol)
            case .unsubscribe(let symbol):
                line.field("type", "unsubscribe")
                line.field("symbol", symbol)
            case .resume(let symbols, let since):
                line.field("type", "resume")
                line.field("symbols", symbols)
                line.field("since", since.description)
            case .other(let type):
                line.field("type", type)
            }
        }
    }
}

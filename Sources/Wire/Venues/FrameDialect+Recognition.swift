package import NIOCore

extension FrameDialect {
    /// Finds the dialect of a text frame from its first members; `nil` if they belong to none or do not decide.
    ///
    /// For recordings whose lines do not name a dialect. Finnhub, Binance, Coinbase Exchange and Kraken's version 2 are
    /// recognised. It reads no further than to the member that decides.
    package static func recognised(in frame: ByteBuffer) -> FrameDialect? {
        frame.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            guard reader.take(UInt8(ascii: "{")) else { return nil }
            var found = FoundMembers()
            var isFirst = true
            while true {
                switch reader.nextMember(isFirst: &isFirst) {
                case .end: return reader.isAtEnd() ? found.atEnd : nil
                case .invalid: return nil
                case .key(let key):
                    if let dialect = found.take(key, &reader) { return dialect }
                    if found.isUnknown { return nil }
                }
            }
        }
    }

    /// Finds the dialect of a client's request for a subscription to trades; `nil` for another text.
    package init?(ofRequest text: ByteBuffer) {
        if case .subscribe(let symbol) = FinnhubRequest.parse(text), !symbol.isEmpty {
            self = .finnhub
            return
        }
        guard let request = VenueRequestReader(text) else { return nil }
        switch (request.verb, request.channels.first?.name) {
        case ("SUBSCRIBE", nil): self = .binance
        case ("subscribe", "matches"): self = .coinbase
        case ("subscribe", "trade"): self = .kraken
        default: return nil
        }
    }

    /// The members that decide only together with others.
    private struct FoundMembers {
        var type: JSONString?
        var hasMessage = false
        var isUnknown = false

        /// Reads the value of a key, and returns the dialect if it decides.
        mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> FrameDialect? {
            if key.equals("stream") || key.equals("e") || key.equals("code") { return .binance }
            // Coinbase's other feed, Advanced Trade, has channels, too; its members after `channel` tell.
            if key.equals("client_id") || key.equals("sequence_num") || key.equals("events") {
                self.isUnknown = true
                return nil
            }
            if key.equals("method") { return .kraken }
            if key.equals("channel") { return self.kraken(&reader) }
            if key.equals("type") {
                self.isUnknown = !reader.take(string: &self.type)
                let isCoinbase = self.type.map { $0.equals("match") || $0.equals("last_match") } ?? false
                return isCoinbase ? .coinbase : nil
            }
            if key.equals("product_id") { return .coinbase }
            if key.equals("data"), reader.kind() == .array { return .finnhub }
            // Binance's answers have `null` or a list here, Kraken's an object.
            if key.equals("result"), reader.kind() != .object { return .binance }
            // An error of Binance is an object, of Kraken a text.
            if key.equals("error"), reader.kind() == .object { return .binance }
            if key.equals("message"), self.type?.equals("error") == true { return .coinbase }
            if key.equals("channels"), self.type?.equals("subscriptions") == true { return .coinbase }
            if key.equals("msg") { self.hasMessage = true }
            self.isUnknown = !reader.skipValue()
            return nil
        }

        /// The dialect of a frame that is over and had no member that decides.
        var atEnd: FrameDialect? {
            guard let type else { return nil }
            return type.equals("ping") || (type.equals("error") && self.hasMessage) ? .finnhub : nil
        }

        /// Reads the value of `channel` and the member after it.
        private mutating func kraken(_ reader: inout JSONReader) -> FrameDialect? {
            var channel: JSONString?
            guard reader.take(string: &channel), channel != nil else {
                self.isUnknown = true
                return nil
            }
            var isFirst = false
            if case .key(let next) = reader.nextMember(isFirst: &isFirst), next.equals("client_id") {
                self.isUnknown = true
                return nil
            }
            return .kraken
        }
    }
}

package import Market
package import NIOCore
package import Wire

/// A client's session on Coinbase Exchange's feed (docs.cdp.coinbase.com, exchange/websocket-feed).
///
/// Each subscription is answered with an error for each bad product and then with the list of all channels, followed by
/// the newest trade of each new product. A client that has not subscribed within 5 s is disconnected, and one that sends
/// more than 100 messages in a second.
package struct CoinbaseMockSession: MockSession {
    /// The time for the first subscription, and the interval of heartbeats, ns.
    package static let subscribeTimeout: Int64 = 5_000_000_000
    package static let heartbeatInterval: Int64 = 1_000_000_000
    /// The most products of a channel; this bounds what one client can make the server keep.
    package static let maximumProducts = 1_024

    private static let matches = "matches"
    private static let heartbeat = "heartbeat"
    /// The channels that need no login, and those that do.
    private static let open = [matches, heartbeat, "ticker", "ticker_batch", "level2_batch", "status"]
    private static let closed = ["level2", "level3", "full"]

    private let known: Set<String>?
    private let hasHeartbeats: Bool
    private let wallClock: @Sendable () -> Int64
    /// The channels with their products, in the order of the first subscription.
    private var channels: [CoinbaseEncoder.Channel] = []
    /// The tape's names of the products of `matches`.
    private var subscribed: Set<String> = []
    private var messages = RollingLimit(count: 100, window: 1_000_000_000)
    private var subscribeUntil: Int64?
    private var nextHeartbeat: Int64?
    /// When a product's heartbeat of the recording was passed on last. While these come, the server adds none.
    private var recorded: [String: Int64] = [:]
    private var parser = CoinbaseParser()
    private var symbols = SymbolTable()
    private var isOver = false

    package init(_ opening: MockSessionOpening) {
        self.known = opening.known
        self.hasHeartbeats = opening.hasHeartbeats
        self.wallClock = opening.wallClock
    }

    package var dialect: FrameDialect { .coinbase }
    package var isSubscribed: Bool { !self.subscribed.isEmpty }
    package var deadline: Int64? { self.isOver ? nil : self.subscribeUntil ?? self.nextHeartbeat }

    package func isSubscribed(to symbol: String) -> Bool { self.subscribed.contains(symbol) }

    package mutating func opened(now: Int64) -> [MockOutput] {
        self.subscribeUntil = now + Self.subscribeTimeout
        return []
    }

    package mutating func received(_ text: ByteBuffer, recent: RecentTrades, now: Int64) -> [MockOutput] {
        guard !self.isOver else { return [] }
        if self.messages.exceeds(now: now) { return self.end("more than 100 messages in a second") }
        guard let request = VenueRequestReader(text) else {
            return [.text(CoinbaseEncoder.error("Malformed JSON"))]
        }
        switch request.verb {
        case "subscribe": return self.subscribe(request, recent: recent, now: now)
        case "unsubscribe":
            self.unsubscribe(request)
            return [.text(CoinbaseEncoder.subscriptions(self.channels))]
        default:
            return [.text(CoinbaseEncoder.error("Type has to be either subscribe or unsubscribe"))]
        }
    }

    package mutating func timeReached(recent: RecentTrades, now: Int64) -> [MockOutput] {
        guard !self.isOver else { return [] }
        if let subscribeUntil {
            return now >= subscribeUntil ? self.end("no subscription within 5 s") : []
        }
        guard let nextHeartbeat, now >= nextHeartbeat else { return [] }
        self.nextHeartbeat = now + Self.heartbeatInterval
        let at = self.wallClock()
        let products = self.channels.first { $0.name == Self.heartbeat }?.products ?? []
        return products.compactMap { product in
            if let last = self.recorded[product], now - last < Self.heartbeatInterval / 2 * 3 { return nil }
            let newest = recent.trades(of: Venue.coinbase.symbol(of: product)).last?.id
            return .text(CoinbaseEncoder.heartbeat(product: product, newest: newest, at: at))
        }
    }

    /// Of the recorded frames without trades, only the heartbeats of the client's products are passed on; the others were
    /// answers to another client.
    package mutating func passes(_ frame: ByteBuffer, now: Int64) -> Bool {
        var trades: [Trade] = []
        guard case .heartbeat(let symbol, _) = self.parser.parse(frame, symbols: &self.symbols, into: &trades) else {
            return false
        }
        let product = Venue.coinbase.native(of: symbol)
        guard self.channels.contains(where: { $0.name == Self.heartbeat && $0.products.contains(product) }) else {
            return false
        }
        self.recorded[product] = now
        return true
    }

    package func encode(_ trades: [Trade], of frame: ByteBuffer?, symbols: SymbolTable) -> [ByteBuffer] {
        trades.map { CoinbaseEncoder.match($0, symbols: symbols) }
    }

    // MARK: Requests

    private mutating func subscribe(
        _ request: VenueRequestReader,
        recent: RecentTrades,
        now: Int64
    ) -> [MockOutput] {
        var outputs: [MockOutput] = []
        var refused: Set<String> = []
        var new: [String] = []
        func refuse(_ reason: String) {
            guard refused.insert(reason).inserted else { return }
            outputs.append(.text(CoinbaseEncoder.error("Failed to subscribe", reason: reason)))
        }
        for channel in request.channels {
            guard Self.open.contains(channel.name) else {
                refuse(
                    Self.closed.contains(channel.name)
                        ? "level2, level3, and full channels now require authentication."
                        : "\(channel.name) is not a valid channel"
                )
                continue
            }
            for product in channel.products ?? request.products {
                guard self.known?.contains(Venue.coinbase.symbol(of: product)) ?? true else {
                    refuse("\(product) is not a valid product")
                    continue
                }
                guard self.add(product, to: channel.name) else { continue }
                if channel.name == Self.matches { new.append(product) }
            }
        }
        if request.channels.isEmpty { refuse("no channels provided") }
        self.noteMatches()
        guard !self.channels.isEmpty else { return outputs }
        self.subscribeUntil = nil
        if self.hasHeartbeats { self.nextHeartbeat = self.nextHeartbeat ?? now + Self.heartbeatInterval }
        outputs.append(.text(CoinbaseEncoder.subscriptions(self.channels)))
        for product in new {
            guard let last = recent.trades(of: Venue.coinbase.symbol(of: product)).last else { continue }
            outputs.append(.text(CoinbaseEncoder.match(last, as: .last, symbols: recent.symbols)))
        }
        return outputs
    }

    /// Adds a product to a channel; returns whether it is new there.
    private mutating func add(_ product: String, to name: String) -> Bool {
        guard let index = self.channels.firstIndex(where: { $0.name == name }) else {
            self.channels.append(CoinbaseEncoder.Channel(name: name, products: [product]))
            return true
        }
        let products = self.channels[index].products
        guard products.count < Self.maximumProducts, !products.contains(product) else { return false }
        self.channels[index].products.append(product)
        return true
    }

    private mutating func unsubscribe(_ request: VenueRequestReader) {
        for channel in request.channels {
            guard let index = self.channels.firstIndex(where: { $0.name == channel.name }) else { continue }
            let products = channel.products ?? request.products
            // A channel without products ends as a whole.
            self.channels[index].products.removeAll { products.isEmpty || products.contains($0) }
            if self.channels[index].products.isEmpty { self.channels.remove(at: index) }
        }
        self.noteMatches()
    }

    private mutating func noteMatches() {
        let products = self.channels.first { $0.name == Self.matches }?.products ?? []
        self.subscribed = Set(products.map(Venue.coinbase.symbol(of:)))
    }

    private mutating func end(_ reason: String) -> [MockOutput] {
        self.isOver = true
        return [.disconnect(reason: reason)]
    }
}

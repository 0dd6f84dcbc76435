import Market
import NIOCore
import Wire

/// The bars of a client of `/v1/stream`. They stand beside its prices: a symbol may have both, and bars of several widths.
extension StreamClient {
    func subscribe(_ symbols: [String], bars width: BarWidth) {
        var accepted: [String] = []
        for symbol in symbols where !accepted.contains(symbol) {
            guard self.claim(symbol) else { continue }
            accepted.append(symbol)
        }
        self.tell(.subscribedBars(accepted, width))
        for symbol in accepted {
            let topic = BarTopic(symbol: symbol, width: width)
            if self.barTopics.insert(topic).inserted { self.hub.join(self, topic) }
        }
        self.hub.gauges.subscribed()
        for symbol in accepted {
            if let message = self.hub.refusal(of: symbol) { self.refused(symbol, message: message) }
        }
    }

    /// Sees to it that the feed is asked for a symbol; returns whether it is, and if not the client is told why.
    private func claim(_ symbol: String) -> Bool {
        if self.wished.contains(symbol) { return true }
        guard self.wished.count < self.hub.subscriptions.limit else {
            self.tellTooMany(symbol)
            return false
        }
        return self.takePlace(for: symbol)
    }

    func unsubscribe(_ symbols: [String], bars width: BarWidth?) {
        for topic in self.barTopics where width == nil || topic.width == width {
            guard symbols.isEmpty || symbols.contains(topic.symbol) else { continue }
            self.leave(topic)
            let isFollowed = self.hub.desk.knownRow(of: topic.symbol).map { self.session.follows($0) } ?? false
            guard !isFollowed, !self.barTopics.contains(where: { $0.symbol == topic.symbol }) else { continue }
            self.toldRefused.remove(topic.symbol)
            if self.wished.remove(topic.symbol) != nil { self.hub.subscriptions.unsubscribe(topic.symbol) }
        }
    }

    private func leave(_ topic: BarTopic) {
        self.barTopics.remove(topic)
        self.hub.leave(self, topic)
    }

    /// Gives up all bars, or those of one symbol.
    func leaveBars(of symbol: String? = nil) {
        for topic in self.barTopics where symbol == nil || topic.symbol == symbol { self.leave(topic) }
    }

    /// A bar is new. One that is over must not be missed; one that is not is left out for whoever is too slow, and comes later.
    func take(_ told: ToldBar, frame: ByteBuffer) {
        guard self.isOpen else { return }
        if told.isClosed {
            self.tell(.bar(told), frame: frame)
        } else if self.takesPrices, self.mayWriteMergeable {
            self.write(frame, messages: 1)
        }
    }
}

import Market
import NIOCore
import Wire

/// The bars of a client of `/v1/stream`. They are independent of its prices: a symbol may have both, and bars of
/// several widths.
extension StreamClient {
    func subscribe(_ symbols: [String], bars width: BarWidth) {
        let accepted = self.beginRequest(symbols).filter { self.takePlace(for: $0, limit: self.context.symbolLimit) }
        self.notify(.subscribedBars(accepted, width))
        for symbol in accepted {
            let topic = BarTopic(symbol: symbol, width: width)
            if self.barTopics.insert(topic).inserted, let newest = self.context.join(self, topic) {
                self.notify(.bar(newest))
            }
        }
        self.context.noteSubscribed()
        self.reportRefused(accepted)
    }

    func unsubscribe(_ symbols: [String], bars width: BarWidth?) {
        for topic in self.barTopics where width == nil || topic.width == width {
            guard symbols.isEmpty || symbols.contains(topic.symbol) else { continue }
            self.leave(topic)
            let isFollowed = self.context.knownRow(of: topic.symbol).map { self.session.follows($0) } ?? false
            guard !isFollowed, !self.barTopics.contains(where: { $0.symbol == topic.symbol }) else { continue }
            self.context.index.unsubscribe(self, from: topic.symbol)
        }
    }

    private func leave(_ topic: BarTopic) {
        self.barTopics.remove(topic)
        self.context.leave(self, topic)
    }

    /// Unsubscribes from all bars, or from those of one symbol.
    func leaveBars(of symbol: String? = nil) {
        for topic in self.barTopics where symbol == nil || topic.symbol == symbol { self.leave(topic) }
    }

    /// Sends a bar. A bar that is over is always sent. One that is not is left out for a client that is too slow, and
    /// follows later.
    func barChanged(_ bar: PublishedBar, _ message: SharedMessage) {
        guard self.isOpen else { return }
        let control = StreamControl.bar(bar)
        if bar.isClosed {
            self.notify(control, message)
        } else if self.takesPrices, self.mayWriteMergeable {
            self.write(message.frame(for: StreamClient.self, encode: control.encoded), messages: 1)
        }
    }
}

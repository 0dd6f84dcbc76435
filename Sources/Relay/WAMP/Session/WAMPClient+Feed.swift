import Market
import NIOCore
import Wire

/// The events of the feed for a client.
extension WAMPClient {
    /// Sends what a new subscription begins with: the newest prices, or the feed's status.
    func showState(to id: UInt64, _ subscription: WAMPSubscription) {
        if subscription.topics.contains(.status) {
            self.event(.status, to: id) { StreamEncoder.status(self.context.status, number: $0) }
        }
        guard subscription.topics.contains(.prices) else { return }
        if case .price(let symbol)? = subscription.topic {
            return self.showSnapshot(self.context.row(of: symbol), to: id)
        }
        for row in self.context.liveRows {
            let uri = WAMPTopic.price(self.context.symbol(ofRow: row)).uri
            if subscription.pattern.matches(uri) { self.showSnapshot(row, to: id) }
        }
    }

    /// Sends one event to one subscription.
    func event(_ topic: WAMPTopic, to id: UInt64, _ encode: (_ number: UInt64) -> ByteBuffer) {
        let number = self.context.numbers.next()
        let event = self.payload(topic, to: id, .message(number), encode(number))
        self.write(self.serialisation.form(of: id).framed(event), messages: 1)
    }

    func payload(_ topic: WAMPTopic, to id: UInt64, _ key: WAMPEventKey, _ object: ByteBuffer) -> ByteBuffer {
        let event = WAMPMessage.event(
            subscription: id,
            publication: self.fanout.publication(of: key),
            topic: self.fanout.router.broker.topic(topic.uri, for: id),
            .json(object)
        )
        return self.serialisation.encode(event.value)
    }

    /// Returns the frame of a message that many sessions get.
    func frame(
        _ topic: WAMPTopic,
        to id: UInt64,
        _ message: SharedMessage,
        _ encode: (_ number: UInt64) -> ByteBuffer
    ) -> ByteBuffer {
        message.frame(for: WAMPClient.self, in: self.serialisation.form(of: id)) { number in
            self.payload(topic, to: id, .message(number), encode(number))
        }
    }

    // MARK: Trades

    func tradesLost(_ loss: RelayLoss) {
        guard self.isOpen, self.wantsTrades else { return }
        let missed = loss.count { symbol in !self.own(.trades(symbol)).isEmpty }
        if missed > 0 { self.closeTooSlow(missed: self.pace.missed + missed) }
    }

    // MARK: The feed

    /// Sends the feed's status; a client that does not keep up gets the newest one later.
    func statusChanged(_ status: FeedStatus, _ message: SharedMessage) {
        guard self.isOpen, self.wants(.status) else { return }
        guard self.takesMergeable else {
            self.isStatusDue = true
            return
        }
        for id in self.own(.status) {
            self.write(self.frame(.status, to: id, message) { StreamEncoder.status(status, number: $0) }, messages: 1)
        }
    }

    func gapFound(_ gap: Gap, _ message: SharedMessage) {
        guard self.isOpen, self.wants(.gaps) else { return }
        for id in self.own(.gap) {
            self.deliver(self.frame(.gap, to: id, message) { StreamEncoder.gap(gap, number: $0) })
        }
    }

    func epochChanged(_ seam: Gap, _ message: SharedMessage) { self.gapFound(seam, message) }

    /// Reports a refused symbol on its topics.
    func symbolRefused(_ symbol: String, reason: String) {
        for topic in [WAMPTopic.price(symbol), .trades(symbol)] {
            for id in self.own(topic) where self.subscriptions[id]?.topic == topic {
                self.showRefusal(of: topic, reason, to: id)
            }
        }
    }

    /// Reports a refused symbol on a topic of its own that the session has subscribed to later.
    func showRefusal(of symbol: String, to id: UInt64) {
        guard let topic = self.subscriptions[id]?.topic else { return }
        let reason = self.context.status(of: symbol)?.reason ?? SymbolErrors.invalid(symbol)
        self.showRefusal(of: topic, reason, to: id)
    }

    private func showRefusal(of topic: WAMPTopic, _ reason: String, to id: UInt64) {
        let code = topic.symbol.flatMap { self.context.status(of: $0)?.word } ?? "refused"
        self.event(topic, to: id) { StreamEncoder.error(reason, code: code, number: $0) }
    }
}

import Market
import NIOCore
import Wire

/// The encoder of trades as events. Each is encoded once for each serialisation and subscription.
struct WAMPTradeEncoder {
    /// The events for one group of sessions.
    struct Content {
        /// Whole WebSocket frames.
        var bytes = ByteBuffer()
        var messages = 0
        /// The number of trades, each of which several subscriptions may match.
        var trades: UInt64 = 0
    }

    private struct Line {
        let object: WAMPValue
        let topic: WAMPTopic
        let publication: UInt64
        let subscriptions: [UInt64]
    }

    private struct FrameKey: Hashable {
        let line: Int
        let form: MessageForm
    }

    private var lines: [Line] = []
    /// The subscriptions that match any of the trades.
    private var matched: Set<UInt64> = []
    private var frames: [FrameKey: ByteBuffer] = [:]
    private let broker: WAMPBroker

    /// - Parameters:
    ///   - matching: returns the subscriptions that match the trades of a symbol.
    ///   - publication: returns the number of a new publication.
    ///   - number: returns the number of the next message.
    init(
        _ batches: ArraySlice<TapeBatch>,
        broker: WAMPBroker,
        texts: inout SymbolTexts,
        matching: (WAMPTopic) -> [UInt64],
        publication: () -> UInt64,
        number: () -> UInt64
    ) {
        self.broker = broker
        for batch in batches {
            var sequence = batch.firstSequence
            for trade in batch.trades {
                defer { sequence += 1 }
                let topic = WAMPTopic.trades(batch.symbols.names[Int(trade.symbol.index)])
                let subscriptions = matching(topic)
                guard !subscriptions.isEmpty else { continue }
                self.matched.formUnion(subscriptions)
                var object = ByteBuffer()
                object.reserveCapacity(256)
                StreamEncoder.trade(
                    trade,
                    symbol: texts.text(of: trade.symbol, in: batch.symbols),
                    sequence: sequence,
                    received: batch.received,
                    number: number(),
                    into: &object
                )
                self.lines.append(
                    Line(
                        object: .json(object),
                        topic: topic,
                        publication: publication(),
                        subscriptions: subscriptions
                    )
                )
            }
        }
    }

    /// Returns the events for a group; `nil` if there are none.
    mutating func content(for key: WAMPTradeGroups.Key) -> Content? {
        guard key.subscriptions.contains(where: { self.matched.contains($0) }) else { return nil }
        let wanted = Set(key.subscriptions)
        var content = Content()
        for (index, line) in self.lines.enumerated() {
            let before = content.messages
            for subscription in line.subscriptions where wanted.contains(subscription) {
                let frame = self.frame(index, subscription, key.serialisation)
                content.bytes.writeImmutableBuffer(frame)
                content.messages += 1
            }
            if content.messages > before { content.trades += 1 }
        }
        return content.messages == 0 ? nil : content
    }

    private mutating func frame(
        _ index: Int,
        _ subscription: UInt64,
        _ serialisation: WAMPSerialisation
    ) -> ByteBuffer {
        let key = FrameKey(line: index, form: serialisation.form(of: subscription))
        if let known = self.frames[key] { return known }
        let line = self.lines[index]
        let event = WAMPMessage.event(
            subscription: subscription,
            publication: line.publication,
            topic: self.broker.topic(line.topic.uri, for: subscription),
            line.object
        )
        let frame = key.form.framed(serialisation.encode(event.value))
        self.frames[key] = frame
        return frame
    }
}

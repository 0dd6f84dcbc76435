import Market
import NIOCore
import Wire

/// The prices of a client. One that does not keep up gets the newest later.
extension WAMPClient {
    /// Sends the newest price of a row to a new subscription.
    func showSnapshot(_ row: Int, to id: UInt64) {
        let isNew = self.rows.follow(row, taken: self.context.taken(row: row))
        guard let newest = self.context.newest(row: row) else { return }
        guard self.takesMergeable else {
            // The snapshot comes later, and for all subscriptions of the session.
            self.rows.forgetPrice(of: row)
            return self.rows.postpone(row)
        }
        if isNew {
            _ = self.rows.show(newest.summary.price, ordinal: newest.ordinal, row: row)
        } else if self.rows.unreported(of: row, taken: newest.ordinal) > 0 {
            // All subscriptions of the session get a snapshot that is ahead of its last price, so that none of them gets
            // an older price afterwards.
            self.rows.forgetPrice(of: row)
            var price = EncodedPrice(PriceUpdate(summary: newest.summary, skipped: 0), ordinal: newest.ordinal)
            return self.show(&price, row)
        }
        let age = self.context.age(ofArrival: newest.summary.received)
        self.event(.price(newest.summary.symbol), to: id) {
            StreamEncoder.snapshot(newest.summary, age: age, number: $0)
        }
    }

    func symbolAppeared(row: Int) {
        guard !self.own(.price(self.context.symbol(ofRow: row))).isEmpty else { return }
        _ = self.rows.follow(row)
    }

    func symbolVanished(row: Int) { self.rows.vanished(row) }

    func priceShown(_ price: inout EncodedPrice, row: Int) {
        guard self.isOpen, self.rows.follows(row) else { return }
        guard self.takesMergeable else { return self.rows.postpone(row) }
        self.show(&price, row)
    }

    private func show(_ price: inout EncodedPrice, _ row: Int) {
        let topic = WAMPTopic.price(price.update.summary.symbol)
        let message = self.rows.show(price.update.summary.price, ordinal: price.ordinal, row: row)
        let (isFirst, skipped): (Bool, UInt64)
        switch message {
        case .nothing: return
        case .snapshot(let count): (isFirst, skipped) = (true, count)
        case .price(let count): (isFirst, skipped) = (false, count)
        }
        let key = WAMPEventKey.price(row: row, ordinal: price.ordinal)
        for id in self.own(topic) {
            let form = self.serialisation.form(of: id)
            let frame = price.frame(for: WAMPClient.self, in: form, isFirst: isFirst, skipped: skipped) { summary in
                let number = self.context.numbers.next()
                let object =
                    isFirst
                    ? StreamEncoder.snapshot(
                        summary,
                        skipped: skipped,
                        age: self.context.age(ofArrival: summary.received),
                        number: number
                    )
                    : StreamEncoder.price(PriceUpdate(summary: summary, skipped: skipped), number: number)
                return self.payload(topic, to: id, key, object)
            }
            self.write(frame, messages: 1)
        }
    }

    func becameWritable() {
        guard self.isOpen else { return }
        self.showPostponed()
        self.flush()
    }

    func showPostponed() {
        guard self.takesMergeable else { return }
        if self.isStatusDue {
            self.isStatusDue = false
            for id in self.own(.status) {
                self.event(.status, to: id) { StreamEncoder.status(self.context.status, number: $0) }
            }
        }
        for row in self.rows.takePostponed() {
            guard let newest = self.context.newest(row: row) else { continue }
            guard self.takesMergeable else { self.rows.postpone(row); continue }
            var price = EncodedPrice(PriceUpdate(summary: newest.summary, skipped: 0), ordinal: newest.ordinal)
            self.show(&price, row)
        }
    }
}

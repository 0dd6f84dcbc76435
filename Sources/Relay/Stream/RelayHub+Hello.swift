import Market
import Wire

/// The greeting of a new client of `/v1/stream`.
extension RelayHub {
    func hello() -> StreamHello {
        self.expireRing()
        let sequences = self.ring.sequences
        var limits = StreamHello.Limits()
        limits.symbols = self.subscriptions.limit
        limits.messageBytes = self.settings.webSocket.maximumMessageBytes
        limits.waitingBytes = self.settings.maximumWaitingBytes
        limits.waitingMessages = self.settings.maximumWaitingMessages
        limits.requestBurst = self.settings.requestBurst
        limits.requestsPerSecond = self.settings.requestsPerSecond
        var hello = StreamHello(
            version: self.settings.version,
            epoch: self.ring.epoch,
            newest: sequences.upperBound > 1 ? sequences.upperBound - 1 : nil,
            oldest: sequences.isEmpty ? nil : sequences.lowerBound,
            resumeTrades: self.ring.capacity,
            resumeSeconds: Int(self.ring.span / 1_000_000_000),
            limits: limits,
            time: self.wallClock(),
            status: self.reportedStatus,
            symbols: self.helloSymbols
        )
        if let earliest = self.ring.earlier.first?.ring, let epoch = earliest.epoch {
            hello.earliest = TapePosition(epoch: epoch, sequence: earliest.sequences.lowerBound)
        }
        hello.replay = self.replay?.position()
        return hello
    }

    /// All symbols of the feed, those that never traded after the others.
    private var helloSymbols: [StreamHello.Symbol] {
        var symbols = self.prices.summaries.map { summary in
            StreamHello.Symbol(
                name: summary.symbol,
                summary: summary,
                age: self.age(ofArrival: summary.received),
                state: self.word(of: summary.symbol)
            )
        }
        let traded = Set(symbols.map(\.name))
        for name in self.subscriptions.symbols where !traded.contains(name) {
            symbols.append(
                StreamHello.Symbol(name: name, summary: nil, age: nil, state: self.symbolStates[name]?.word ?? "asked")
            )
        }
        return symbols
    }
}

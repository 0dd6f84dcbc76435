import Market
import Wire

/// The greeting of a new client of `/v1/stream`.
extension RelayContext {
    func hello() -> StreamHello {
        self.expireRing()
        let ring = self.ring
        let sequences = ring.sequences
        var limits = StreamHello.Limits()
        limits.symbols = self.symbolLimit
        limits.messageBytes = self.settings.webSocket.maximumMessageBytes
        limits.waitingBytes = self.settings.maximumWaitingBytes
        limits.waitingMessages = self.settings.maximumWaitingMessages
        limits.requestBurst = self.settings.requestBurst
        limits.requestsPerSecond = self.settings.requestsPerSecond
        var hello = StreamHello(
            version: self.settings.version,
            epoch: ring.epoch,
            newest: sequences.upperBound > 1 ? sequences.upperBound - 1 : nil,
            oldest: sequences.isEmpty ? nil : sequences.lowerBound,
            resumeTrades: ring.capacity,
            resumeSeconds: Int(ring.span / 1_000_000_000),
            limits: limits,
            time: self.wallClock(),
            status: self.status,
            symbols: self.helloSymbols
        )
        if let earliest = ring.earlier.first?.ring, let epoch = earliest.epoch {
            hello.earliest = TapePosition(epoch: epoch, sequence: earliest.sequences.lowerBound)
        }
        hello.replay = self.replay?.position()
        return hello
    }

    /// All symbols of the feed, those that never traded after the others.
    private var helloSymbols: [StreamHello.Symbol] {
        var symbols = self.summaries.map { summary in
            StreamHello.Symbol(
                name: summary.symbol,
                summary: summary,
                age: self.age(ofArrival: summary.received),
                state: self.word(of: summary.symbol)
            )
        }
        let traded = Set(symbols.map(\.name))
        for name in self.symbols where !traded.contains(name) {
            symbols.append(
                StreamHello.Symbol(name: name, summary: nil, age: nil, state: self.status(of: name)?.word ?? "asked")
            )
        }
        return symbols
    }
}

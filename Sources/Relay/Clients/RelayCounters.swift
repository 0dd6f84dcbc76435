import CoreMetrics
import Logging
import Measurements

/// The counts of what clients have missed, and of clients that were closed.
final class RelayCounters {
    /// The trades that prices left out, those that slow clients have missed, and those that the relay left out.
    let skipped: (stream: Counter, client: Counter, relay: Counter)
    private let slowClients: Counter
    private let ended: [ClientEnd: Counter]
    private let instruments: Instruments
    private let logger: Logger

    init(_ instruments: Instruments, logger: Logger) {
        self.instruments = instruments
        self.logger = logger
        let registry = instruments.registry
        self.slowClients = Counter(label: MetricName.slowClients, factory: registry)
        // Of what it lacks places for, a person wants to know.
        instruments.refusals.begin(["too-many-clients", "too-many-from-address", "answers-too-large"])
        // Each reason has a series from the start, so that its first client appears as an increase.
        self.ended = Dictionary(
            uniqueKeysWithValues: ClientEnd.allCases.map { end in
                (end, Counter(label: MetricName.closedClients, dimensions: [("reason", end.word)], factory: registry))
            }
        )
        func skipped(_ reader: String) -> Counter {
            Counter(label: MetricName.skipped, dimensions: [("reader", reader)], factory: registry)
        }
        self.skipped = (skipped("stream"), skipped("slow_client"), skipped("relay"))
    }

    /// Counts a client that is closed because it was too slow.
    func noteSlowClient(missed: UInt64) {
        self.slowClients.increment()
        self.noteSkipped(missed)
        self.logger.notice("A client was too slow and is closed", metadata: ["missed": "\(missed)"])
    }

    /// Counts a client whose session has ended.
    func noteEnd(_ end: ClientEnd) { self.ended[end]?.increment() }

    /// Counts a client that answered no ping in time.
    func noteLostClient() {
        self.instruments.refusals.add("pong-timeout")
        self.logger.info("A client did not answer a ping and is disconnected")
    }

    /// Counts a client that broke the WebSocket protocol.
    func noteViolation() { self.instruments.refusals.add("websocket-violation") }

    /// Counts trades that were reported to a client as missed.
    func noteSkipped(_ trades: UInt64) { self.skipped.client.increment(by: Int64(clamping: trades)) }
}

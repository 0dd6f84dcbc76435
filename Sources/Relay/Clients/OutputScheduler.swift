import Measurements
import NIOCore

/// The shared flush of all clients, and the timer that checks those that do not keep up.
final class OutputScheduler {
    private let loop: any EventLoop
    private let stallTimeout: TimeAmount
    /// The latency from a price's arrival to the flush that sends it.
    private let latency: LatencyHistogram
    let compression = SharedCompression()
    private var unflushed: [ClientOutput] = []
    /// The arrivals of the prices that the next flush sends, monotonic ns.
    private var shownArrivals: [Int64] = []
    private var watched: [ObjectIdentifier: ClientOutput] = [:]
    private var watchTimer: Scheduled<Void>?

    init(loop: any EventLoop, stallTimeout: TimeAmount, latency: LatencyHistogram) {
        self.loop = loop
        self.stallTimeout = stallTimeout
        self.latency = latency
    }

    // MARK: One flush for each client

    func mustFlush(_ client: ClientOutput) { self.unflushed.append(client) }

    /// Notes the arrival of a price that the next flush sends, monotonic ns.
    func noteShown(arrival: Int64) { self.shownArrivals.append(arrival) }

    /// Flushes the writes since the last call. A flush can make a client write more, which is sent as well.
    func flush() {
        var clients: [ClientOutput] = []
        while !self.unflushed.isEmpty {
            // Two arrays in turn, so that no flush allocates one.
            swap(&clients, &self.unflushed)
            for client in clients { client.flush() }
            clients.removeAll(keepingCapacity: true)
        }
        if clients.capacity > self.unflushed.capacity { swap(&clients, &self.unflushed) }
        self.compression.turnEnded()
        guard !self.shownArrivals.isEmpty else { return }
        let now = Int64(self.loop.now.uptimeNanoseconds)
        for arrival in self.shownArrivals { self.latency.record(nanoseconds: now - arrival) }
        self.shownArrivals.removeAll(keepingCapacity: true)
    }

    // MARK: Clients that do not keep up

    /// Checks the progress of a client that does not keep up, from time to time.
    func watch(_ client: ClientOutput) {
        self.watched[ObjectIdentifier(client)] = client
        if self.watchTimer == nil { self.armWatchTimer() }
    }

    func unwatch(_ client: ClientOutput) {
        self.watched[ObjectIdentifier(client)] = nil
        guard self.watched.isEmpty else { return }
        self.watchTimer?.cancel()
        self.watchTimer = nil
    }

    private func armWatchTimer() {
        let interval = TimeAmount.nanoseconds(max(self.stallTimeout.nanoseconds / 10, 1_000_000))
        self.watchTimer = self.loop.assumeIsolated().scheduleTask(in: interval) {
            self.watchTimer = nil
            for client in self.watched.values { client.pace.timePassed() }
            self.flush()
            if !self.watched.isEmpty, self.watchTimer == nil { self.armWatchTimer() }
        }
    }
}

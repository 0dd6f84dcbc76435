import NIOCore

/// The open connections of a server, all on one loop: how many come from each address, which are plain, and when the last
/// one is gone.
final class ConnectionRoster {
    private struct Entry {
        var channel: any Channel
        var address: PeerAddress
        /// Whether it has not become a WebSocket.
        var isPlain = true
    }

    private let loop: any EventLoop
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var counts: [PeerAddress: Int] = [:]
    /// The plain connections in the order in which they came, and some that are plain no more.
    private var queue: CircularBuffer<ObjectIdentifier> = []
    private var plainCount = 0
    private var whenEmpty: EventLoopPromise<Void>?
    private(set) var isClosing = false

    init(loop: any EventLoop) { self.loop = loop }

    var count: Int { self.entries.count }

    /// How many connections come from an address.
    func count(from address: PeerAddress) -> Int { self.counts[address] ?? 0 }

    func add(_ channel: any Channel, from address: PeerAddress) {
        let id = ObjectIdentifier(channel)
        self.entries[id] = Entry(channel: channel, address: address)
        self.counts[address, default: 0] += 1
        self.plainCount += 1
        self.queue.append(id)
        // Those who left from the middle are swept out once they are most of it.
        if self.queue.count > 2 * self.plainCount + 64 {
            self.queue = CircularBuffer(self.queue.filter { self.entries[$0]?.isPlain == true })
        }
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.remove(id) }
    }

    /// Notes that a connection has become a WebSocket.
    func upgraded(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        guard self.entries[id]?.isPlain == true else { return }
        self.entries[id]?.isPlain = false
        self.plainCount -= 1
    }

    /// Closes the plain connection that has been here longest, to make room; answers whether there was one.
    func closeOldestPlain() -> Bool {
        while let id = self.queue.popFirst() {
            guard let entry = self.entries[id], entry.isPlain else { continue }
            entry.channel.close(promise: nil)
            return true
        }
        return false
    }

    private func remove(_ id: ObjectIdentifier) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        if entry.isPlain { self.plainCount -= 1 }
        if let count = self.counts[entry.address] { self.counts[entry.address] = count > 1 ? count - 1 : nil }
        guard self.entries.isEmpty else { return }
        self.queue.removeAll()
        self.whenEmpty?.succeed()
        self.whenEmpty = nil
    }

    /// Tells all connections to come to an end, ends by force those that have not within `limit`, and succeeds when all
    /// are gone.
    func close(within limit: TimeAmount) -> EventLoopFuture<Void> {
        self.isClosing = true
        guard !self.entries.isEmpty else { return self.loop.makeSucceededVoidFuture() }
        let promise = self.whenEmpty ?? self.loop.makePromise()
        self.whenEmpty = promise
        for entry in self.entries.values {
            entry.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        let force = self.loop.assumeIsolated().scheduleTask(in: limit) {
            for entry in self.entries.values { entry.channel.close(promise: nil) }
        }
        promise.futureResult.assumeIsolated().whenComplete { _ in force.cancel() }
        return promise.futureResult
    }
}

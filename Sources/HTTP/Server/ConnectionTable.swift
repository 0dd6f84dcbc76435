package import NIOCore

/// The connection table of a server, on one loop. It counts the connections of each address, knows which are plain
/// HTTP, and completes when the last one is closed.
package final class ConnectionTable {
    /// The interval at which connections are checked during the shutdown.
    private static let sweepInterval: TimeAmount = .milliseconds(25)

    private struct Entry {
        var channel: any Channel
        var address: PeerAddress
        /// Whether the connection has not become a WebSocket.
        var isPlain = true
        /// Since when the peer has read everything, during the shutdown.
        var idleSince: NIODeadline?
    }

    private let loop: any EventLoop
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var counts: [PeerAddress: Int] = [:]
    /// The plain connections by age, and some that are closed or WebSockets now.
    private var queue: CircularBuffer<ObjectIdentifier> = []
    private var plainCount = 0
    private var whenEmpty: EventLoopPromise<Void>?
    private var deadline: NIODeadline?
    private var answers: TimeAmount = .zero
    private var isSweeping = false
    package private(set) var isClosing = false

    private let heap: HeapTrim

    package init(loop: any EventLoop, heap: HeapTrim) {
        self.loop = loop
        self.heap = heap
    }

    package var count: Int { self.entries.count }

    /// Returns the number of connections from an address.
    package func count(from address: PeerAddress) -> Int { self.counts[address] ?? 0 }

    package func add(_ channel: any Channel, from address: PeerAddress) {
        let id = ObjectIdentifier(channel)
        self.entries[id] = Entry(channel: channel, address: address)
        self.counts[address, default: 0] += 1
        self.plainCount += 1
        self.queue.append(id)
        // Stale elements in the middle are removed once they are more than half of the queue.
        if self.queue.count > 2 * self.plainCount + 64 {
            self.queue = CircularBuffer(self.queue.filter { self.entries[$0]?.isPlain == true })
        }
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.remove(id) }
    }

    /// Records that a connection has become a WebSocket.
    package func upgraded(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        guard self.entries[id]?.isPlain == true else { return }
        self.entries[id]?.isPlain = false
        self.plainCount -= 1
    }

    /// The bytes of unread responses that wait in this program for plain connections.
    package var waitingAnswerBytes: Int {
        self.entries.values.reduce(0) { $1.isPlain ? $0 + UnsentBytes.waiting(in: $1.channel) : $0 }
    }

    /// Closes the oldest plain connection to make place for another; returns whether there was one.
    package func closeOldestPlain() -> Bool {
        while let id = self.queue.popFirst() {
            guard let entry = self.entries[id], entry.isPlain else { continue }
            entry.channel.close(promise: nil)
            return true
        }
        return false
    }

    private func remove(_ id: ObjectIdentifier) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        self.heap.freed(HeapTrim.connectionBytes)
        if entry.isPlain { self.plainCount -= 1 }
        if let count = self.counts[entry.address] { self.counts[entry.address] = count > 1 ? count - 1 : nil }
        guard self.entries.isEmpty else { return }
        self.queue.removeAll()
        self.whenEmpty?.succeed()
        self.whenEmpty = nil
    }

    /// Refuses new connections; the open ones stay.
    package func refuseNew() { self.isClosing = true }

    /// Asks all connections to end; the future completes when all are closed.
    ///
    /// - Parameters:
    ///   - limit: the time after which the remaining connections are closed by force. On repeated calls the shorter
    ///     limits count.
    ///   - answers: how long a connection may stay open after its peer has read everything.
    package func close(within limit: TimeAmount, answers: TimeAmount) -> EventLoopFuture<Void> {
        self.isClosing = true
        guard !self.entries.isEmpty else { return self.loop.makeSucceededVoidFuture() }
        let promise = self.whenEmpty ?? self.loop.makePromise()
        self.whenEmpty = promise
        let deadline = self.loop.now + limit
        self.answers = self.deadline == nil ? answers : min(self.answers, answers)
        self.deadline = min(self.deadline ?? deadline, deadline)
        for entry in self.entries.values {
            entry.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        self.sweep()
        return promise.futureResult
    }

    /// Closes all connections at once.
    package func cut() {
        self.isClosing = true
        for entry in self.entries.values { entry.channel.close(promise: nil) }
    }

    /// Closes the connections that have no more work or no more time.
    private func sweep() {
        guard !self.isSweeping, let deadline = self.deadline else { return }
        let now = self.loop.now
        for (id, entry) in self.entries {
            let since = Self.hasMore(entry.channel) ? nil : entry.idleSince ?? now
            self.entries[id]?.idleSince = since
            if now >= deadline || since.map({ now - $0 >= self.answers }) == true {
                entry.channel.close(promise: nil)
            }
        }
        guard !self.entries.isEmpty else { return }
        self.isSweeping = true
        self.loop.assumeIsolated().scheduleTask(in: Self.sweepInterval) {
            self.isSweeping = false
            self.sweep()
        }
    }

    /// Whether bytes wait for the peer, in this program or in the kernel, or a response is being prepared.
    ///
    /// Bytes that the peer's kernel has acknowledged reach the peer even if this program ends.
    private static func hasMore(_ channel: any Channel) -> Bool {
        guard channel.isActive else { return false }
        if UnsentBytes.count(of: channel) > 0 { return true }
        return (try? channel.pipeline.syncOperations.handler(type: HTTPServerConnection.self))?.isAnswering == true
    }
}

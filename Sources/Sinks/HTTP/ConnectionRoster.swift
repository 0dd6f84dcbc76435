import Glibc
import NIOCore

/// The open connections of a server, all on one loop; knows when the last one is gone.
final class ConnectionRoster {
    /// How often the connections are looked at while they come to an end.
    private static let sweepInterval: TimeAmount = .milliseconds(25)
    /// Linux's `SIOCOUTQ` (tcp(7), unix(7)): the bytes that the peer's kernel has not taken.
    private static let unsentBytesRequest: UInt = 0x5411

    private struct Connection {
        var channel: any Channel
        /// Since when nothing waits for the peer to read it.
        var idleSince: NIODeadline?
    }

    private let loop: any EventLoop
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var whenEmpty: EventLoopPromise<Void>?
    private var deadline: NIODeadline?
    private var answers: TimeAmount = .zero
    private var isSweeping = false
    private(set) var isClosing = false

    init(loop: any EventLoop) { self.loop = loop }

    var count: Int { self.connections.count }

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        self.connections[id] = Connection(channel: channel)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.remove(id) }
    }

    private func remove(_ id: ObjectIdentifier) {
        self.connections[id] = nil
        guard self.connections.isEmpty else { return }
        self.whenEmpty?.succeed()
        self.whenEmpty = nil
    }

    /// Lets no new connection in; those that are open stay.
    func refuseNew() { self.isClosing = true }

    /// Tells all connections to come to an end, and succeeds when all are gone.
    ///
    /// - Parameters:
    ///   - limit: when those that have not ended are ended by force. Asked again, the shorter limits count.
    ///   - answers: how long a connection may stay open although its peer has taken everything.
    func close(within limit: TimeAmount, answers: TimeAmount) -> EventLoopFuture<Void> {
        self.isClosing = true
        guard !self.connections.isEmpty else { return self.loop.makeSucceededVoidFuture() }
        let promise = self.whenEmpty ?? self.loop.makePromise()
        self.whenEmpty = promise
        let deadline = self.loop.now + limit
        self.answers = self.deadline == nil ? answers : min(self.answers, answers)
        self.deadline = min(self.deadline ?? deadline, deadline)
        for connection in self.connections.values {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        self.sweep()
        return promise.futureResult
    }

    /// Ends all connections now.
    func cut() {
        self.isClosing = true
        for connection in self.connections.values { connection.channel.close(promise: nil) }
    }

    /// Ends the connections that have no more to do, or no more time.
    private func sweep() {
        guard !self.isSweeping, let deadline = self.deadline else { return }
        let now = self.loop.now
        for (id, connection) in self.connections {
            let since = Self.hasMore(connection.channel) ? nil : connection.idleSince ?? now
            self.connections[id]?.idleSince = since
            if now >= deadline || since.map({ now - $0 >= self.answers }) == true {
                connection.channel.close(promise: nil)
            }
        }
        guard !self.connections.isEmpty else { return }
        self.isSweeping = true
        self.loop.assumeIsolated().scheduleTask(in: Self.sweepInterval) {
            self.isSweeping = false
            self.sweep()
        }
    }

    /// Whether there is something that the peer has not taken, in this program or in the kernel, or an answer under way.
    ///
    /// What the peer's kernel has taken reaches the peer though this program ends.
    private static func hasMore(_ channel: any Channel) -> Bool {
        guard channel.isActive else { return false }
        if let waiting = try? channel.syncOptions?.getOption(.bufferedWritableBytes), waiting > 0 { return true }
        let unsent = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { descriptor in
            var count: Int32 = 0
            return ioctl(descriptor, Self.unsentBytesRequest, &count) == 0 && count > 0
        }
        if unsent == true { return true }
        return (try? channel.pipeline.syncOperations.handler(type: HTTPHandler.self))?.isAnswering == true
    }
}

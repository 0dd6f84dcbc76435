import NIOCore

/// The open connections of a server, all on one loop; knows when the last one is gone.
final class ConnectionRoster {
    private let loop: any EventLoop
    private var channels: [ObjectIdentifier: any Channel] = [:]
    private var whenEmpty: EventLoopPromise<Void>?
    private(set) var isClosing = false

    init(loop: any EventLoop) { self.loop = loop }

    var count: Int { self.channels.count }

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        self.channels[id] = channel
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.remove(id) }
    }

    private func remove(_ id: ObjectIdentifier) {
        self.channels[id] = nil
        guard self.channels.isEmpty else { return }
        self.whenEmpty?.succeed()
        self.whenEmpty = nil
    }

    /// Tells all connections to come to an end, ends by force those that have not within `limit`, and succeeds when all
    /// are gone.
    func close(within limit: TimeAmount) -> EventLoopFuture<Void> {
        self.isClosing = true
        guard !self.channels.isEmpty else { return self.loop.makeSucceededVoidFuture() }
        let promise = self.whenEmpty ?? self.loop.makePromise()
        self.whenEmpty = promise
        for channel in self.channels.values {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        let force = self.loop.assumeIsolated().scheduleTask(in: limit) {
            for channel in self.channels.values { channel.close(promise: nil) }
        }
        promise.futureResult.assumeIsolated().whenComplete { _ in force.cancel() }
        return promise.futureResult
    }
}

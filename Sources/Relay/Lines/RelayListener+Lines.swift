import Glibc
import HTTP
import NIOCore

// The connections of plain lines. Their limits are those of the relay's other connections.
extension RelayListener {
    /// Makes the pipeline of an accepted connection of lines.
    ///
    /// - Throws: if the connection is closed without an answer.
    func setUpLines(_ channel: any Channel) throws {
        let peer = PeerAddress(remote: channel.remoteAddress, local: channel.localAddress)
        let rejection = try self.refusal(of: channel, from: peer)
        self.connectionTable.add(channel, from: peer)
        self.keepAlive(channel)
        let (hub, connectionTable) = (self.hub, self.connectionTable)
        var service = hub.lineService()
        service.rejection = rejection
        service.tokenRefusal = { shown in
            let refusal = hub.tokens?.refusal(of: shown.map { [$0] } ?? [], from: peer, now: hub.now)
            return refusal == .tokenMissing ? .lineTokenMissing : refusal
        }
        service.makeObjection = { hub.tokenObjection() }
        service.admitClient = { self.refusal() }
        service.opened = { channel in connectionTable.upgraded(channel) }
        try LineHandler.addHandlers(to: channel.pipeline.syncOperations, service)
    }

    /// Lets the kernel ask a silent peer whether it still exists, as often as WebSockets are sent pings, and close the
    /// connection to one that takes no bytes for as long: lines have no pings.
    private func keepAlive(_ channel: any Channel) {
        let settings = self.hub.settings.webSocket
        guard let interval = settings.pingInterval, let options = channel.syncOptions else { return }
        let probes = 3
        let idle = max(1, interval.nanoseconds / 1_000_000_000)
        let between = max(1, settings.pongTimeout.nanoseconds / 1_000_000_000 / Int64(probes))
        // A socket that refuses one is closed already, or keeps the system's own times.
        try? options.setOption(.socketOption(.so_keepalive), value: 1)
        try? options.setOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: .init(idle))
        try? options.setOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: .init(between))
        try? options.setOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: probes)
        // Keepalive does not ask while bytes are on their way; this counts then, also for a peer that reads nothing.
        let limit = (interval + settings.pongTimeout).nanoseconds / 1_000_000
        try? options.setOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: .init(limit))
    }
}

extension HTTPRefusal {
    /// ``tokenMissing``, for a client of lines.
    fileprivate static let lineTokenMissing = HTTPRefusal(
        status: .unauthorized,
        type: HTTPRefusal.tokenMissing.type,
        message: "the first line must be token:SECRET, with the token of relay.token-file"
    )
}

import Market
import NIOCore

/// The proof of a new key: a connection with it beside the present one, which takes its place with its first trade.
///
/// Finnhub's trades have no ids, so nothing can prove that the two connections overlap without a hole. A gap with the
/// cause `key-rotated` marks the seam. The present connection brings the trades until then, and goes on if the new key
/// fails. Belongs to the client's loop.
final class KeyTrial {
    /// How long the new connection is open beside the present one without a trade.
    private static let limit: TimeAmount = .minutes(2)
    private static let words = "a connection with the new key took the place of the one with the old key"

    let access: KeyAccess
    /// The connection with the new key. Its attempt counts like any other with that key.
    let link: ReconnectingConnection
    private let client: FinnhubClient
    private var timer: Scheduled<Void>?
    private var isOver = false
    /// Whether a trade has come on its connection.
    private(set) var isProven = false
    /// Whether ``traded()`` will be called in this turn of the loop.
    private var willChange = false
    /// Why the connection or its attempt has ended.
    private var lost: String?
    /// Takes the end: `nil` when the new connection is the client's first one, or is about to be, else why it is not.
    private let ended: (String?) -> Void

    init(_ client: FinnhubClient, _ access: KeyAccess, ended: @escaping (String?) -> Void) {
        self.client = client
        self.access = access
        self.ended = ended
        self.link = ReconnectingConnection(access.settings(client.settings), client.context)
        self.link.delegate = self
    }

    func start() {
        self.client.rotation = self
        self.client.learn(self.access.key)
        let loopBound = NIOLoopBound(self, eventLoop: self.client.context.loop)
        self.timer = self.client.context.loop.scheduleTask(in: Self.limit) {
            let seconds = Self.limit.nanoseconds / 1_000_000_000
            loopBound.value.fail(
                "its connection has brought no trade within \(seconds) s; load the settings again when symbols trade"
            )
        }
        self.link.start()
    }

    /// Ends the trial, whose link another owner takes.
    func handOver() { _ = self.finish() }

    /// Ends the trial without an outcome.
    func cancel() {
        guard self.finish() else { return }
        self.endLink()
    }

    private func finish() -> Bool {
        guard !self.isOver else { return false }
        self.isOver = true
        self.timer?.cancel()
        self.client.rotation = nil
        return true
    }

    private func endLink() {
        self.link.delegate = nil
        // Its closing handshake takes a moment, in which it must bring nothing.
        self.client.second?.handler?.retire("the new key is not used")
        self.client.second = nil
        let loopBound = NIOLoopBound(self.link, eventLoop: self.client.context.loop)
        // Not within a report of the connection, which goes on afterwards.
        self.client.context.loop.execute { loopBound.value.stop() }
    }

    private func fail(_ reason: String) {
        guard self.finish() else { return }
        self.endLink()
        self.ended(reason)
    }

    /// - Parameters:
    ///   - failure: why the present connection has ended, if it has.
    ///   - complete: the last moment before which nothing is missing; wall clock, ns since 1970.
    private func change(ended failure: UpstreamFailure?, complete: Int64) {
        guard let second = self.client.second, self.finish() else { return }
        let words = failure.map { "\(Self.words): \($0.description)" } ?? Self.words
        self.isProven = second.hasWaiting
        self.client.input.interrupted(from: complete, reason: words, cause: .keyRotated)
        self.client.secondTakesOver(second, words: words, link: self.link)
        self.ended(nil)
    }
}

extension KeyTrial: ReconnectingConnectionDelegate {
    func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        guard self.client.handler != nil else {
            // There is nothing that it could be beside of.
            guard self.finish() else { throw ChannelError.ioOnClosedChannel }
            self.ended(nil)
            guard let delegate = self.link.delegate else { throw ChannelError.ioOnClosedChannel }
            return try delegate.connectionOpened(channel, isRelay: isRelay)
        }
        return try self.client.secondOpened(
            channel,
            address: self.access.key.redacted("\(self.client.settings.upstream)"),
            dialect: FinnhubDialect(key: self.access.key),
            isRelayed: isRelay
        )
    }

    func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        if let lost { return self.fail(lost) }
        switch phase {
        // The limit counts for a wait before the first attempt.
        case .connecting, .waiting, .live, .late, .stale, .reconnecting, .stopped: break
        case .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted, .ended:
            self.fail(
                "no attempt may be made with it yet (\(reason ?? phase.word)); load the settings again later"
            )
        }
    }

    /// The connection goes on with its backoff, which keeps what a refusal means for later attempts.
    func connectionLost(_ failure: UpstreamFailure, retry: @escaping (UpstreamFailure) -> Void) {
        defer { retry(failure) }
        guard !self.isOver else { return }
        if self.client.handler == nil, failure.disposition == .retry {
            // Neither key has a connection, and this failure says nothing about the new one.
            guard self.finish() else { return }
            self.ended(nil)
        } else {
            self.lost = self.access.key.redacted(failure.description)
        }
    }
}

extension KeyTrial: SecondConnectionOwner {
    func overlapAdvanced() {
        guard !self.willChange else { return }
        self.willChange = true
        let loopBound = NIOLoopBound(self, eventLoop: self.client.context.loop)
        // Not within a read.
        self.client.context.loop.execute { loopBound.value.traded() }
    }

    func secondEnded(_ failure: UpstreamFailure) { self.link.connectionEnded(failure, tradedFor: 0) }

    func firstEnded(_ failure: UpstreamFailure, complete: Int64) -> Bool {
        guard self.client.second != nil else { return false }
        self.change(ended: failure, complete: complete)
        return true
    }

    private func traded() {
        self.willChange = false
        self.change(ended: nil, complete: self.client.complete(self.client.now))
    }
}

extension KeyAccess {
    /// The settings of a connection with the key.
    ///
    /// - Parameter takeover: the reason why it replaces another program's connection; `nil` if it does not.
    func settings(_ client: ClientSettings, takeover: String? = nil) -> ReconnectingConnection.Settings {
        var settings = ReconnectingConnection.Settings(connector: self.connector, backoff: client.backoff)
        settings.secret = self.key
        settings.holding = self.holding
        settings.takeover = takeover
        return settings
    }
}

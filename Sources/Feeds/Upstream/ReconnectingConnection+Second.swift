import Market
import NIOCore

// A second connection beside the open one, which takes its place later.
extension ReconnectingConnection {
    enum Second {
        case none
        /// Waits for the disk to save the attempt.
        case looking
        /// The attempt is under way; with its channel once there is one.
        case connecting((any Channel)?)
        case connected(any KeptConnection, any Channel, at: NIODeadline)
    }

    /// The limit for the closing handshake of the connection whose place is taken.
    private static let replacedLimit: TimeAmount = .seconds(2)

    /// Opens a second connection, within the budget of attempts; there is no further attempt if it fails.
    ///
    /// - Parameters:
    ///   - opened: creates and installs the connection's last handler, before any frame is delivered.
    ///   - failed: takes the failure of the attempt, and the time for which the venue or the budget wants no other, ns.
    ///     An open connection reports its end itself.
    func openSecond(
        opened: @escaping (any Channel) throws -> any KeptConnection,
        failed: @escaping (UpstreamFailure, _ wait: Int64) -> Void
    ) {
        guard case .connected = self.state, case .none = self.second, !self.isStopping else {
            return failed(UpstreamFailure("there is no connection beside which another one could be opened"), 0)
        }
        let now = self.context.wallClock()
        let wait = max(self.backoff.budgetWait(at: now), self.bannedFor)
        guard wait == 0 else {
            return failed(UpstreamFailure("the service allows no further connection now", cause: .rateLimited), wait)
        }
        self.second = .looking
        self.secondNumber += 1
        let number = self.secondNumber
        self.backoff.attempted(at: now) {
            guard number == self.secondNumber, case .looking = self.second else { return }
            self.second = .connecting(nil)
            self.connectSecond(number, opened: opened, failed: failed)
        }
    }

    private func connectSecond(
        _ number: Int,
        opened: @escaping (any Channel) throws -> any KeptConnection,
        failed: @escaping (UpstreamFailure, _ wait: Int64) -> Void
    ) {
        self.connector.connect(
            on: self.loop,
            reached: { channel in
                guard self.isSecondUnderWay(number) else { throw ChannelError.ioOnClosedChannel }
                self.second = .connecting(channel)
            },
            connected: { channel, _ in
                guard self.isSecondUnderWay(number) else { return channel.close(promise: nil) }
                let connection = try opened(channel)
                // It may have ended while its handler was being added.
                guard self.isSecondUnderWay(number) else { return channel.close(promise: nil) }
                self.second = .connected(connection, channel, at: self.loop.now)
                if !self.isReading { connection.setReading(false) }
            }
        ).assumeIsolated().whenFailure { error in
            guard self.isSecondUnderWay(number) else { return }
            let failure = UpstreamFailure(error)
            failed(failure, self.secondFailed(failure))
        }
    }

    private func isSecondUnderWay(_ number: Int) -> Bool {
        guard case .connecting = self.second else { return false }
        return number == self.secondNumber
    }

    /// Takes the end of the second connection or of its attempt; returns the time for which the service wants no other,
    /// ns.
    func secondFailed(_ failure: UpstreamFailure) -> Int64 {
        self.second = .none
        let now = self.context.wallClock()
        var wait = failure.retryAfter ?? 0
        if case .rateLimited(let retryAfter) = failure.disposition {
            let pause = self.backoff.rateLimited(retryAfter: retryAfter)
            self.backoff.paused(pause, at: now, reason: self.redact(failure.description))
            wait = pause.wait
        } else if let connection = self.connection {
            // The attempt was saved as a failure, but the first connection is as good as before.
            _ = self.backoff.judge(tradedFor: connection.tradedFor, livedFor: self.livedFor)
        }
        if wait > 0 { self.ban = (self.loop.now + .nanoseconds(wait), self.redact(failure.description)) }
        return wait
    }

    /// The time for which the service wants no attempt after the second one, ns.
    var bannedFor: Int64 {
        guard let ban else { return 0 }
        return min(max(0, (ban.until - self.loop.now).nanoseconds), self.backoff.settings.longestRetryAfter)
    }

    /// Lets the second connection take the place of the first one, which is closed with a closing handshake if it is
    /// still open.
    func secondTakesOver() {
        guard case .connected(let old, let oldChannel) = self.state,
            case .connected(let connection, let channel, let openedAt) = self.second
        else { return }
        self.state = .connected(connection, channel)
        self.second = .none
        self.isRenewing = false
        self.replaced(openedAt: openedAt)
        guard oldChannel.isActive else { return }
        Self.close(old, oldChannel, within: Self.replacedLimit, on: self.loop)
    }

    /// Ends the second connection or the attempt, if there is one.
    func endSecond() {
        defer { self.second = .none }
        self.secondNumber += 1
        switch self.second {
        case .none, .looking: break
        case .connecting(let channel): channel?.close(promise: nil)
        case .connected(let connection, let channel, _):
            if channel.isActive { Self.close(connection, channel, within: Self.renewalLimit, on: self.loop) }
        }
    }

    /// Closes a connection with a closing handshake, for which there is a limit.
    static func close(
        _ connection: any KeptConnection,
        _ channel: any Channel,
        within time: TimeAmount,
        on loop: any EventLoop
    ) {
        connection.close()
        // If reading is paused, the peer's answer would never be seen.
        connection.setReading(true)
        let limit = loop.assumeIsolated().scheduleTask(in: time) { channel.close(mode: .all, promise: nil) }
        channel.closeFuture.assumeIsolated().whenComplete { _ in limit.cancel() }
    }
}

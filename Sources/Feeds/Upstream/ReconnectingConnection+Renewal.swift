import Market
import NIOCore

/// What becomes of the wish for a new connection.
package enum ConnectionRenewal: Sendable, Equatable {
    /// The connection is given up, or the wait cut short; the next attempt begins within moments.
    case begun
    /// An attempt is under way.
    case underWay
    /// Whoever is connected to wants to be left alone until then (wall clock, ns since 1970), for that reason.
    case notBefore(Int64, reason: String)
    /// The wish before this one was a moment ago.
    case tooSoon
    /// There will be no further attempt.
    case over
}

// A person asks for a new connection, or for the next attempt to be made at once.
extension ReconnectingConnection {
    /// The least time between two such wishes that are followed: a key that is held down is no reason for a storm.
    static let renewalInterval: TimeAmount = .seconds(2)
    /// How long a connection that is given up for it may take over its closing handshake.
    static let renewalLimit: TimeAmount = .milliseconds(250)

    /// Why a connection ended that was given up for another one.
    static var renewed: UpstreamFailure { UpstreamFailure("a new connection was asked for", cause: .closed) }

    /// Makes a new connection now: gives up the one that stands, or ends the wait for the next attempt.
    ///
    /// No attempt comes sooner than the ladder's floor after the one before it, and none while the service wants to be left
    /// alone. The ladder climbs as with any other end.
    package func renew() -> ConnectionRenewal {
        guard !self.isStopping else { return .over }
        switch self.state {
        case .idle, .finished: return .over
        case .connecting, .looking: return .underWay
        case .connected(let connection, let channel):
            guard self.mayRenew() else { return .tooSoon }
            self.isRenewing = true
            connection.close()
            // A socket that is held back would never see the peer's answer.
            connection.setReading(true)
            let limit = self.loop.assumeIsolated().scheduleTask(in: Self.renewalLimit) {
                channel.close(mode: .all, promise: nil)
            }
            channel.closeFuture.assumeIsolated().whenComplete { _ in limit.cancel() }
            return .begun
        case .pausing(let timer):
            if let leftAlone = self.leftAlone { return .notBefore(leftAlone.until, reason: leftAlone.reason) }
            guard self.mayRenew() else { return .tooSoon }
            timer.cancel()
            let passed = (self.loop.now - self.pausedAt).nanoseconds
            let floor = self.backoff.settings.floor
            if passed >= floor { self.next() } else { self.retry(in: floor - passed) }
            return .begun
        }
    }

    private func mayRenew() -> Bool {
        let now = self.loop.now
        if let renewedAt, now - renewedAt < Self.renewalInterval { return false }
        self.renewedAt = now
        return true
    }
}

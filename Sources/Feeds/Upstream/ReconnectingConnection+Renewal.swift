import Market
import NIOCore

/// The answer to the request for a new connection.
package enum ConnectionRenewal: Sendable, Equatable {
    /// The connection is being closed, or the wait was cut short. The next attempt begins within moments.
    case begun
    /// A second connection is being opened beside the present one, which goes on until nothing can be missing.
    case beside
    /// An attempt is under way.
    case underWay
    /// The service asked for a pause until then (wall clock, ns since 1970), for this reason.
    case notBefore(Int64, reason: String)
    /// The previous request was a moment ago.
    case tooSoon
    /// There will be no further attempt.
    case over
}

// Requests of a person for a new connection, or for the next attempt without a wait.
extension ReconnectingConnection {
    /// The shortest time between two granted requests. A key that is held down must not cause a storm of attempts.
    static let renewalInterval: TimeAmount = .seconds(2)
    /// The limit for the closing handshake of a connection that is renewed.
    static let renewalLimit: TimeAmount = .milliseconds(250)

    /// The failure with which a renewed connection ends.
    static var renewed: UpstreamFailure { UpstreamFailure("a new connection was asked for", cause: .closed) }

    /// Replaces the present connection by a new one, or ends the wait for the next attempt.
    ///
    /// No attempt follows another within the floor of the backoff, and none is made during a pause that the service
    /// asked for. A renewal counts as a failure in the backoff, like any other end.
    package func renew() -> ConnectionRenewal {
        guard !self.isStopping else { return .over }
        switch self.state {
        case .idle, .finished: return .over
        case .connecting, .looking: return .underWay
        case .connected(let connection, let channel):
            // Without a second connection, which would take over, the good one would be lost for a ban.
            if case .connected = self.second {
            } else if let ban, self.bannedFor > 0 {
                return .notBefore(self.context.wallClock().addingCapped(self.bannedFor), reason: ban.reason)
            }
            guard self.mayRenew() else { return .tooSoon }
            self.isRenewing = true
            Self.close(connection, channel, within: Self.renewalLimit, on: self.loop)
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

    /// Returns why a person's request opens no second connection now; `nil` if it may.
    func refusalOfSecond() -> ConnectionRenewal? {
        guard !self.isStopping else { return .over }
        let now = self.context.wallClock()
        let wait = max(self.backoff.budgetWait(at: now), self.bannedFor)
        if wait > 0 {
            return .notBefore(now.addingCapped(wait), reason: self.ban?.reason ?? "the service allows no more now")
        }
        return self.mayRenew() ? nil : .tooSoon
    }

    private func mayRenew() -> Bool {
        let now = self.loop.now
        if let renewedAt, now - renewedAt < Self.renewalInterval { return false }
        self.renewedAt = now
        return true
    }
}

extension ConnectionRenewal {
    /// The rank of an answer among those of several feeds; the highest says most.
    package var weight: Int {
        switch self {
        case .over: 0
        case .underWay: 1
        case .tooSoon: 2
        case .notBefore: 3
        case .beside: 4
        case .begun: 5
        }
    }
}

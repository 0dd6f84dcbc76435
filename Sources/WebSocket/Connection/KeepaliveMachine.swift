package import NIOCore

/// The rhythm of own pings and the wait for their pongs, with time as an argument.
///
/// Pings go out `interval` apart; each must be followed within `timeout` by a pong, whichever: an unsolicited pong shows a
/// living peer as well (RFC 6455, 5.5.3).
package struct KeepaliveMachine: Sendable {
    package enum Action: Sendable, Equatable {
        case wait
        case sendPing
        case end
    }

    private enum State {
        /// Sends no pings.
        case off
        /// Waits for the time of the next ping.
        case resting(until: NIODeadline)
        /// Waits for a pong.
        case asking(pinged: NIODeadline, until: NIODeadline)
    }

    private let interval: TimeAmount
    private let timeout: TimeAmount
    private var state: State

    package init(interval: TimeAmount?, timeout: TimeAmount, now: NIODeadline) {
        self.interval = interval ?? .zero
        self.timeout = timeout
        self.state = interval.map { .resting(until: now + $0) } ?? .off
    }

    /// When `timeReached` wants to be called.
    package var deadline: NIODeadline? {
        switch self.state {
        case .off: nil
        case .resting(let until), .asking(_, let until): until
        }
    }

    package mutating func timeReached(_ now: NIODeadline) -> Action {
        switch self.state {
        case .off:
            return .wait
        case .resting(let until):
            guard now >= until else { return .wait }
            self.state = .asking(pinged: now, until: now + self.timeout)
            return .sendPing
        case .asking(_, let until):
            guard now >= until else { return .wait }
            self.state = .off
            return .end
        }
    }

    package mutating func pongReceived() {
        switch self.state {
        case .off, .resting:
            break  // nothing was asked: the peer's own idea, welcome and of no consequence
        case .asking(let pinged, _):
            self.state = .resting(until: pinged + self.interval)
        }
    }

    /// Stops for good, once the connection is closing.
    package mutating func stop() {
        self.state = .off
    }
}

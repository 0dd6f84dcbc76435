package import NIOCore

/// The rhythm of own pings and the wait for their pongs, with time as an argument.
///
/// Pings go out `interval` apart; each must be followed within `timeout` by a pong, whichever: an unsolicited pong shows a
/// living peer as well (RFC 6455, 5.5.3).
///
/// A ping stands behind what a slow peer has not read, so the wait goes on while bytes leave: until what was written before
/// the ping is gone, and what the kernels on both sides may hold of what came after it. Who has taken all that and
/// answered nothing never will.
///
/// Of a peer whose machine answers while the program on it takes nothing (one that is stopped) a missing pong says no more than
/// that. Where who writes has a limit for that, it is waited for as long as that limit lets it stay, and no longer than sixty
/// times the time for a pong: a place is not held for ever.
package struct KeepaliveMachine: Sendable {
    /// What is to be done.
    package enum Action: Sendable, Equatable {
        case wait
        case sendPing
        /// The peer is gone, or does not keep the protocol.
        case end
    }

    private enum State {
        /// Sends no pings.
        case off
        /// Waits for the time of the next ping.
        case resting(until: NIODeadline)
        /// Waits for a pong.
        case asking(pinged: NIODeadline, until: NIODeadline, seen: Outflow, most: Int)
    }

    /// More than Linux gives a peer's receive buffer for its bytes (half of the 6 MiB of `tcp_rmem`), in bytes.
    private static let kernelRoom = 4 << 20

    /// How many times the time for a pong a peer has that takes nothing and is watched for that.
    private static let mostTimeouts = 60

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
        case .resting(let until), .asking(_, let until, _, _): until
        }
    }

    /// Time has passed.
    ///
    /// - Parameter outflow: how far the peer has taken what was written to it.
    package mutating func timeReached(_ now: NIODeadline, outflow: Outflow = Outflow()) -> Action {
        switch self.state {
        case .off:
            return .wait
        case .resting(let until):
            guard now >= until else { return .wait }
            let most = outflow.left + outflow.waiting + Self.kernelRoom
            self.state = .asking(pinged: now, until: now + self.timeout, seen: outflow, most: most)
            return .sendPing
        case .asking(let pinged, let until, let seen, let most):
            guard now >= until else { return .wait }
            let isSlow = outflow.hasMoved(since: seen) && outflow.left < most
            let isStopped = outflow.isWatched && outflow.waiting > 0 && now < pinged + self.timeout * Self.mostTimeouts
            if isSlow || isStopped {
                self.state = .asking(pinged: pinged, until: now + self.timeout, seen: outflow, most: most)
                return .wait
            }
            self.state = .off
            return .end
        }
    }

    /// A pong came, whichever it answers.
    package mutating func pongReceived() {
        switch self.state {
        case .off, .resting:
            break  // nothing was asked: the peer's own idea, welcome and of no consequence
        case .asking(let pinged, _, _, _):
            self.state = .resting(until: pinged + self.interval)
        }
    }

    /// Stops for good, once the connection is closing.
    package mutating func stop() {
        self.state = .off
    }
}

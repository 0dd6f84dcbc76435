package import NIOCore

/// The state machine of this side's pings and the wait for their pongs, with time as an argument.
///
/// Pings are sent `interval` apart. A pong must follow each within `timeout`. Any pong counts: an unsolicited one also
/// shows a living peer (RFC 6455, 5.5.3).
///
/// A ping waits behind the bytes that a slow peer has not read, so the wait continues while bytes leave. It ends after
/// the peer has taken all bytes written before the ping, and as many more as the kernels on both sides may hold. A peer
/// that has taken all of that without an answer will never answer.
///
/// The kernel of a peer still answers while the program on it is stopped and reads nothing, so a missing pong adds no
/// information. Where the writer limits how long such a peer may take nothing, the wait lasts as long as that limit
/// allows. It ends after at most sixty times the timeout, so that a connection is not held for ever.
package struct KeepaliveMachine: Sendable {
    /// The work of one event.
    package enum Action: Sendable, Equatable {
        case wait
        case sendPing
        /// The peer is gone, or violates the protocol.
        case end
    }

    private enum State {
        /// Sends no pings.
        case off
        /// Waits for the time of the next ping.
        case resting(until: NIODeadline)
        /// Waits for a pong.
        case asking(pinged: NIODeadline, until: NIODeadline, seen: SendProgress, most: Int)
    }

    /// An upper bound of what Linux puts into a peer's receive buffer, in bytes (half of the 6 MiB of `tcp_rmem`).
    private static let kernelRoom = 4 << 20

    /// The longest wait, as a multiple of the timeout, for a peer that takes nothing and has a writer with its own
    /// limit.
    private static let maximumTimeouts = 60

    private let interval: TimeAmount?
    private let timeout: TimeAmount
    private var state: State

    /// - Parameter interval: `nil` sends no pings.
    package init(interval: TimeAmount?, timeout: TimeAmount) {
        self.interval = interval
        self.timeout = timeout
        self.state = .off
    }

    /// Begins with the pings.
    package mutating func start(now: NIODeadline) { self.rest(from: now) }

    private mutating func rest(from time: NIODeadline) {
        self.state = self.interval.map { .resting(until: time + $0) } ?? .off
    }

    /// The time at which `timeReached` must be called; `nil` for never.
    package var deadline: NIODeadline? {
        switch self.state {
        case .off: nil
        case .resting(let until), .asking(_, let until, _, _): until
        }
    }

    /// Time has passed.
    ///
    /// - Parameter sendProgress: how much of the written bytes the peer has taken.
    package mutating func timeReached(_ now: NIODeadline, sendProgress: SendProgress = SendProgress()) -> Action {
        switch self.state {
        case .off:
            return .wait
        case .resting(let until):
            guard now >= until else { return .wait }
            let most = sendProgress.left + sendProgress.waiting + Self.kernelRoom
            self.state = .asking(pinged: now, until: now + self.timeout, seen: sendProgress, most: most)
            return .sendPing
        case .asking(let pinged, let until, let seen, let most):
            guard now >= until else { return .wait }
            let isSlow = sendProgress.hasMoved(since: seen) && sendProgress.left < most
            let isStopped =
                sendProgress.isWatched && sendProgress.waiting > 0 && now < pinged + self.timeout * Self.maximumTimeouts
            if isSlow || isStopped {
                self.state = .asking(pinged: pinged, until: now + self.timeout, seen: sendProgress, most: most)
                return .wait
            }
            self.state = .off
            return .end
        }
    }

    /// A pong arrived, in answer to any ping.
    package mutating func pongReceived() {
        switch self.state {
        case .off, .resting:
            break  // unsolicited: allowed, and without effect
        case .asking(let pinged, _, _, _):
            self.rest(from: pinged)
        }
    }

    /// Stops the pings for good when the connection is closing.
    package mutating func stop() {
        self.state = .off
    }
}

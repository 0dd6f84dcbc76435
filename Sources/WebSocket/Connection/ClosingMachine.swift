package import NIOCore

/// The closing handshake (RFC 6455, 7) from one side, with time as an argument.
///
/// It decides what is sent, when the transport ends, and what is told to the application, once.
package struct ClosingMachine: Sendable {
    /// What is to be done, in the order of its parts.
    package struct Action: Sendable, Equatable {
        /// What leaves before anything else happens.
        package enum Send: Sendable, Equatable {
            case nothing
            /// A close frame with this code and reason, or an empty one.
            case closeFrame(WebSocketCloseCode?, String)
        }

        /// What becomes of the connection below.
        package enum Transport: Sendable, Equatable {
            case keep
            /// Ends the sending side once what was written is out, and waits for the peer's end.
            case closeOutput
            /// Ends the connection once what was written is out.
            case closeWhenWritten
            /// Ends the connection now.
            case close
        }

        package var send: Send = .nothing
        package var transport: Transport = .keep
        /// What the application is told; at most one action of a machine has it.
        package var report: WebSocketClosure?
    }

    private enum State {
        case open
        /// Our close frame is out; waits for the peer's.
        case awaitingReply(until: NIODeadline, last: NIODeadline, seen: Outflow)
        /// Both frames are exchanged, or the connection has failed; waits for the end of the transport.
        case awaitingEnd(until: NIODeadline)
        case ended
    }

    /// How many times the time for the closing handshake a peer has that takes what stands before our close frame slowly.
    private static let mostTimeouts = 12

    private let role: WebSocketRole
    /// The time for the closing handshake, from its beginning; where our close frame stands behind what a slow peer has not
    /// read, from the moment when bytes last left.
    package var timeout: TimeAmount
    private var state: State = .open

    package init(role: WebSocketRole, timeout: TimeAmount) {
        self.role = role
        self.timeout = timeout
    }

    /// Whether messages still travel.
    package var isOpen: Bool {
        if case .open = self.state { true } else { false }
    }

    /// When `timeReached` wants to be called.
    package var deadline: NIODeadline? {
        switch self.state {
        case .open, .ended: nil
        case .awaitingReply(let until, _, _), .awaitingEnd(let until): until
        }
    }

    /// The application asked for the end. Asked again, nothing happens.
    ///
    /// - Parameter outflow: how far the peer has taken what was written to it.
    package mutating func closeAsked(
        _ code: WebSocketCloseCode,
        reason: String,
        now: NIODeadline,
        outflow: Outflow = Outflow()
    ) -> Action {
        guard self.isOpen else { return Action() }
        self.state = .awaitingReply(
            until: now + self.timeout,
            last: now + self.timeout * Self.mostTimeouts,
            seen: outflow
        )
        return Action(send: .closeFrame(code, reason))
    }

    /// A valid close frame came.
    package mutating func closeReceived(_ code: WebSocketCloseCode?, reason: String, now: NIODeadline) -> Action {
        switch self.state {
        case .open:
            self.state = .awaitingEnd(until: now + self.timeout)
            return Action(
                send: .closeFrame(code, ""),
                transport: self.transportAfterHandshake,
                report: WebSocketClosure(code: code, reason: reason, cause: .peerClosed)
            )
        case .awaitingReply:
            self.state = .awaitingEnd(until: now + self.timeout)
            return Action(
                transport: self.transportAfterHandshake,
                report: WebSocketClosure(code: code, reason: reason, cause: .locallyClosed)
            )
        case .awaitingEnd:
            // The answer to a failure of ours: the peer has seen it, so there is nothing left to wait for.
            return Action(transport: self.transportAfterHandshake)
        case .ended:
            return Action()  // late: all is said
        }
    }

    /// The peer broke a rule: "fail the connection" (RFC 6455, 7.1.7).
    package mutating func failed(_ violation: WebSocketViolation, now: NIODeadline) -> Action {
        let closure = WebSocketClosure(
            code: violation.closeCode,
            reason: violation.reason,
            cause: .protocolViolation(violation)
        )
        switch self.state {
        case .open:
            self.state = .awaitingEnd(until: now + self.timeout)
            // Closing the socket with input unread would reset it, and the reset can overtake the close frame: so only
            // the sending side ends here, and the rest when the peer has seen it or the time is up.
            return Action(
                send: .closeFrame(violation.closeCode, violation.reason),
                transport: .closeOutput,
                report: closure
            )
        case .awaitingReply:
            self.state = .ended
            return Action(transport: .close, report: closure)
        case .awaitingEnd, .ended:
            return Action()  // what follows a close frame is not read
        }
    }

    /// Our ping was not answered.
    package mutating func pongMissed() -> Action {
        guard self.isOpen else { return Action() }
        self.state = .ended
        return Action(
            send: .closeFrame(.internalError, "no pong"),
            transport: .close,
            report: WebSocketClosure(code: nil, reason: "", cause: .pongTimeout)
        )
    }

    /// Time has passed. The peer's close is awaited on while it takes what stands before ours, but not for as long as a peer
    /// likes that takes a byte now and then: what waits is memory.
    ///
    /// - Parameter outflow: how far the peer has taken what was written to it.
    package mutating func timeReached(_ now: NIODeadline, outflow: Outflow = Outflow()) -> Action {
        switch self.state {
        case .open, .ended:
            return Action()
        case .awaitingReply(let until, let last, let seen):
            guard now >= until else { return Action() }
            if now < last, outflow.hasMoved(since: seen) {
                self.state = .awaitingReply(until: min(now + self.timeout, last), last: last, seen: outflow)
                return Action()
            }
            self.state = .ended
            return Action(
                transport: .close,
                report: WebSocketClosure(code: nil, reason: "", cause: .closeTimedOut)
            )
        case .awaitingEnd(let until):
            guard now >= until else { return Action() }
            self.state = .ended
            return Action(transport: .close)
        }
    }

    /// The transport has ended, or this side ends it without a handshake.
    package mutating func transportEnded(locally: Bool) -> Action {
        switch self.state {
        case .open:
            self.state = .ended
            return Action(
                report: WebSocketClosure(code: nil, reason: "", cause: locally ? .locallyClosed : .connectionLost)
            )
        case .awaitingReply:
            self.state = .ended
            return Action(report: WebSocketClosure(code: nil, reason: "", cause: .locallyClosed))
        case .awaitingEnd, .ended:
            self.state = .ended
            return Action()
        }
    }

    /// The server ends the TCP connection first, so that the waiting time of TCP stays with it (RFC 6455, 7.1.1).
    private var transportAfterHandshake: Action.Transport {
        switch self.role {
        case .server: .closeWhenWritten
        case .client: .keep
        }
    }
}

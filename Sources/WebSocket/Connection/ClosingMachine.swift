package import NIOCore

/// The state machine of the closing handshake (RFC 6455, 7) for one side, with time as an argument.
///
/// It decides what is sent, when the transport ends, and which closure is reported to the application, once.
package struct ClosingMachine: Sendable {
    /// The work of one event, in the order of its properties.
    package struct Action: Sendable, Equatable {
        /// The frame to send before the other parts.
        package enum Send: Sendable, Equatable {
            case nothing
            /// A close frame with this code and reason, or an empty one.
            case closeFrame(WebSocketCloseCode?, String)
        }

        /// The change of the transport below.
        package enum Transport: Sendable, Equatable {
            case keep
            /// Ends the sending side after all written bytes are sent, and waits for the peer's end.
            case closeOutput
            /// Ends the connection after all written bytes are sent.
            case closeWhenWritten
            /// Ends the connection at once.
            case close
        }

        package var send: Send = .nothing
        package var transport: Transport = .keep
        /// The report to the application; at most one action of a machine has one.
        package var report: WebSocketClosure?
    }

    private enum State {
        case open
        /// Our close frame is written; waits for the peer's.
        case awaitingReply(until: NIODeadline, last: NIODeadline, seen: SendProgress)
        /// Both frames are exchanged, or the connection has failed; waits for the end of the transport.
        case awaitingEnd(until: NIODeadline)
        case ended
    }

    /// The longest wait, as a multiple of the timeout, for a peer that slowly takes the bytes before our close frame.
    private static let maximumTimeouts = 12

    package let role: WebSocketRole
    /// The time limit of the closing handshake, from its start. If a slow peer has taken some of the bytes
    /// before our close frame when the limit expires, the limit starts again.
    package var timeout: TimeAmount
    private var state: State = .open

    package init(role: WebSocketRole, timeout: TimeAmount) {
        self.role = role
        self.timeout = timeout
    }

    /// Whether messages may still be sent and received.
    package var isOpen: Bool {
        if case .open = self.state { true } else { false }
    }

    /// The time at which `timeReached` must be called; `nil` for never.
    package var deadline: NIODeadline? {
        switch self.state {
        case .open, .ended: nil
        case .awaitingReply(let until, _, _), .awaitingEnd(let until): until
        }
    }

    /// The application requested the end. Repeated requests have no effect.
    ///
    /// - Parameter sendProgress: how much of the written bytes the peer has taken.
    package mutating func closeAsked(
        _ code: WebSocketCloseCode,
        reason: String,
        now: NIODeadline,
        sendProgress: SendProgress = SendProgress()
    ) -> Action {
        guard self.isOpen else { return Action() }
        self.state = .awaitingReply(
            until: now + self.timeout,
            last: now + self.timeout * Self.maximumTimeouts,
            seen: sendProgress
        )
        return Action(send: .closeFrame(code, reason))
    }

    /// A valid close frame arrived.
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
            // The peer's reply to our failure: it has seen the close frame, so there is nothing left to wait for.
            return Action(transport: self.transportAfterHandshake)
        case .ended:
            return Action()  // late: the closure is reported
        }
    }

    /// The peer violated a rule: "fail the connection" (RFC 6455, 7.1.7).
    package mutating func failed(_ violation: WebSocketViolation, now: NIODeadline) -> Action {
        let closure = WebSocketClosure(
            code: violation.closeCode,
            reason: violation.reason,
            cause: .protocolViolation(violation)
        )
        switch self.state {
        case .open:
            self.state = .awaitingEnd(until: now + self.timeout)
            // Closing the socket with input unread would reset it, and the reset can overtake the close frame. So only
            // the sending side ends here. The rest ends when the peer has seen the frame or the time is up.
            return Action(
                send: .closeFrame(violation.closeCode, violation.reason),
                transport: .closeOutput,
                report: closure
            )
        case .awaitingReply:
            self.state = .ended
            return Action(transport: .close, report: closure)
        case .awaitingEnd, .ended:
            return Action()  // bytes after a close frame are ignored
        }
    }

    /// The peer did not answer a ping in time.
    package mutating func pongMissed() -> Action {
        guard self.isOpen else { return Action() }
        self.state = .ended
        return Action(
            send: .closeFrame(.internalError, "no pong"),
            transport: .close,
            report: WebSocketClosure(code: nil, reason: "", cause: .pongTimeout)
        )
    }

    /// Time has passed. The wait for the peer's close frame continues while the peer takes the bytes before ours. It
    /// has an upper limit against a peer that takes a byte now and then, because the waiting bytes occupy memory.
    ///
    /// - Parameter sendProgress: how much of the written bytes the peer has taken.
    package mutating func timeReached(_ now: NIODeadline, sendProgress: SendProgress = SendProgress()) -> Action {
        switch self.state {
        case .open, .ended:
            return Action()
        case .awaitingReply(let until, let last, let seen):
            guard now >= until else { return Action() }
            if now < last, sendProgress.hasMoved(since: seen) {
                self.state = .awaitingReply(until: min(now + self.timeout, last), last: last, seen: sendProgress)
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

    /// The transport has ended, or this side ends it without a closing handshake.
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

    /// The server ends the TCP connection first, so that TCP's TIME_WAIT stays on the server (RFC 6455, 7.1.1).
    private var transportAfterHandshake: Action.Transport {
        switch self.role {
        case .server: .closeWhenWritten
        case .client: .keep
        }
    }
}

import NIOCore

/// The reason for which a connection or an attempt has ended.
package enum NATSEnding: Error, Sendable, Equatable {
    /// There was no connection; in the words of the transport.
    case unreachable(String)
    /// TLS failed; in its words.
    case insecure(String)
    case violation(NATSViolation)
    case refused(ServerRefusal)
    /// The server or the network has closed the connection.
    case lost
    /// The server answered no ping.
    case silent
    /// The server was connected, and not ready in time.
    case late
    /// TLS is required, and the server does not offer it.
    case noTLS
    /// The identity of this client cannot be had; in the words of the transport.
    case noIdentity(String)
    /// The identity needs a nonce to sign, and the server has sent none.
    case noNonce
    /// The server does not take what is written.
    case stalled
    /// The server is about to stop, and this client moves to another one.
    case leaving
    /// This program has stopped the client, or the client has drained.
    case stopped
    /// This program has drained the client, and the server has not confirmed in time all that was sent.
    case undrained
}

extension NATSEnding {
    /// There was no connection in this time: neither an acceptance nor a refusal.
    static func unanswered(_ address: ServerAddress, within limit: TimeAmount) -> NATSEnding {
        let seconds = limit.nanoseconds / 1_000_000_000
        return .unreachable(
            "no answer from \(address.host) port \(address.port) within \(seconds) s: is the network up?"
        )
    }

    /// Whether a server has refused the credentials, or refuses them now.
    var refusesCredentials: Bool {
        guard case .refused(let refusal) = self else { return false }
        switch refusal.kind {
        case .authorization, .expired: return true
        case .staleConnection, .slowConsumer, .maximumPayload, .maximumConnections, .publishing, .subscribing, .subject,
            .other:
            return false
        }
    }
}

extension NATSEnding: CustomStringConvertible {
    /// One line with what to do, where something can be done.
    package var description: String {
        switch self {
        case .unreachable(let words), .noIdentity(let words): words
        case .insecure(let words): words
        case .violation(let violation): violation.description
        case .refused(let refusal): refusal.description
        case .lost: "the NATS server or the network closed the connection"
        case .silent: "the NATS server answered no ping"
        case .late: "the NATS server was not ready in time: is it a NATS server, and does it expect TLS first?"
        case .noTLS: "the NATS server offers no TLS: configure tls in it, or do not require it"
        case .noNonce:
            "the NATS server asks for no signature: it has no NKey or JWT users; use the kind of identity that it has"
        case .stalled: "the NATS server does not read what this program sends"
        case .leaving: "the NATS server is about to stop"
        case .stopped: "stopped"
        case .undrained: "stopped before the NATS server confirmed all that was sent"
        }
    }
}

/// The reason for which something was not sent. Nothing has left this program.
package enum SendRefusal: Error, Sendable, Equatable {
    case notConnected
    /// Payload and headers are larger than the server's `max_payload`.
    case tooLarge(bytes: Int, limit: Int)
    /// The subjects are longer than a control line can be.
    case longSubject
    /// The server does not support headers.
    case noHeaders
    /// The server does not read fast enough: so many bytes wait already.
    case tooMuchWaiting(bytes: Int)
    case tooManyRequests(limit: Int)
    /// The client is about to stop or to move to another server: it takes no new requests.
    case draining
    /// The user may not subscribe to the subjects of answers.
    case noInbox(ServerRefusal)
}

extension SendRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConnected: "not sent: there is no connection to a NATS server"
        case .tooLarge(let bytes, let limit):
            "not sent: \(bytes) bytes are more than the NATS server's max_payload of \(limit): raise it there"
        case .longSubject: "not sent: the subject is longer than the NATS server's max_control_line: raise it there"
        case .noHeaders: "not sent: the NATS server supports no headers: set no_headers to false there"
        case .tooMuchWaiting(let bytes): "not sent: \(bytes) bytes wait for the NATS server, which does not read them"
        case .tooManyRequests(let limit): "not sent: \(limit) requests have no answer yet"
        case .draining: "not sent: this client is about to leave the NATS server"
        case .noInbox(let refusal): "not sent, because no answer could come: \(refusal)"
        }
    }
}

/// The reason for which a request has no answer.
package enum RequestFailure: Error, Sendable, Equatable {
    /// No program answers requests on this subject; the request had no effect.
    case noResponders
    /// No answer came in time. Whether the request had an effect is not known.
    case timedOut
    /// The connection ended before the answer. Whether the request had an effect is not known.
    case connectionLost
    /// The user may not publish to this subject. The server does not say which message it has refused, and permissions
    /// can change. So whether this request had an effect is not known.
    case refused(ServerRefusal)
    /// The user may not subscribe to the subjects of answers. Whether the request had an effect is not known.
    case noInbox(ServerRefusal)
    /// The headers of the answer cannot be read. Whether the request had an effect is not known.
    case unreadable
    case notSent(SendRefusal)

    /// Whether the request may have had an effect, or have one yet. A read of the state cannot exclude the latter.
    package var isUnknown: Bool {
        switch self {
        case .timedOut, .connectionLost, .refused, .noInbox, .unreadable: true
        case .noResponders, .notSent: false
        }
    }
}

extension RequestFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noResponders: "no program answers on this subject: is it running, is JetStream enabled?"
        case .timedOut: "no answer came in time"
        case .connectionLost: "the connection ended before the answer"
        case .refused(let refusal), .noInbox(let refusal): refusal.description
        case .unreadable: "the answer has malformed headers: look at the program that answers"
        case .notSent(let refusal): refusal.description
        }
    }
}

/// A violation of the client protocol, or of one of our limits, by the server. Each ends the connection.
///
/// The rules are those of the reference of the client protocol (docs.nats.io, Reference, Protocols, Client).
package enum NATSViolation: Error, Sendable, Equatable {
    /// A control line longer than the limit, in bytes.
    case longLine(limit: Int)
    /// A control line that does not end with CR LF.
    case lineEnd
    /// An operation that no server sends.
    case unknownOperation
    /// A known operation with wrong arguments.
    case malformed(operation: String)
    /// A message larger than the limit, in bytes.
    case largeMessage(bytes: Int, limit: Int)
    /// A message without CR LF after its payload.
    case payloadEnd
    /// An operation that is not allowed in this phase of the connection.
    case unexpected(operation: String)
    /// Bytes in plain text behind the INFO that asks for TLS. An attacker on the path could have added them.
    case plainTextBeforeTLS
}

extension NATSViolation: CustomStringConvertible {
    /// One line with what happened and what to do.
    package var description: String {
        switch self {
        case .longLine(let limit):
            "the server sent a control line of more than \(limit) bytes: is it a NATS server? if so, lower its "
                + "max_control_line"
        case .lineEnd: "the server sent a line without CR LF at its end: is it a NATS server?"
        case .unknownOperation: "the server sent something that is not NATS' protocol: check host and port"
        case .malformed(let operation): "the server sent a malformed \(operation): check host and port"
        case .largeMessage(let bytes, let limit):
            "the server sent a message of \(bytes) bytes, more than the client's limit of \(limit): lower the server's "
                + "max_payload, or raise the client's limit"
        case .payloadEnd: "the server sent a message whose length is wrong: something on the way has changed it"
        case .unexpected(let operation):
            "the server sent \(operation) at a time when it must not: is a proxy between it and this program?"
        case .plainTextBeforeTLS:
            "the server sent plain text where TLS must begin: someone on the path may have added it; check the network"
        }
    }
}

/// The role of a side; clients mask their frames, servers do not (RFC 6455, 5.1).
package enum WebSocketRole: Sendable, Equatable {
    case client
    case server
}

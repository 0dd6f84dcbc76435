package import HTTP

/// The reason why a relay could not start. Its description is one line that says what to change.
package enum RelayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address is reachable from other machines, and there is no token.
    case needsToken(host: String)
    /// Another program listens at the address.
    case addressInUse(host: String, port: Int)
    /// Listening failed for another reason.
    case cannotListen(host: String, port: Int, reason: String)
    /// Another program listens at the socket file.
    case socketInUse(path: String)
    /// The socket file cannot be created.
    case cannotMakeSocket(path: String, reason: String)
    /// The address of plain lines is reachable from other machines, and there is no token.
    case linesNeedToken(host: String)
    /// Listening for plain lines failed.
    case cannotListenForLines(Endpoint, reason: String)
    /// The relay was started or stopped before.
    case alreadyStarted

    package var description: String {
        switch self {
        case .needsToken(let host):
            "the relay cannot listen on \(host) without a token: other machines can reach it; put one into a file "
                + "(openssl rand -hex 24 > FILE; chmod 600 FILE) and set relay.token-file, or listen on 127.0.0.1"
        case .addressInUse(let host, let port):
            "the relay cannot listen on \(host):\(port): address already in use; "
                + "choose another port with --relay HOST:PORT (relay.listen in the config file), or --relay off"
        case .cannotListen(let host, let port, let reason):
            "the relay cannot listen on \(host):\(port): \(reason); "
                + "change --relay HOST:PORT (relay.listen in the config file)"
        case .socketInUse(let path):
            "the relay cannot listen on \(path): another program does; choose another relay.unix-socket"
        case .cannotMakeSocket(let path, let reason):
            "the relay cannot listen on \(path): the path \(reason); change relay.unix-socket"
        case .linesNeedToken(let host):
            "the relay cannot listen for lines on \(host) without a token: other machines can reach it; put one into a "
                + "file (openssl rand -hex 24 > FILE; chmod 600 FILE) and set relay.token-file, or set lines.listen to "
                + "an address of 127.0.0.1"
        case .cannotListenForLines(let place, let reason):
            "the relay cannot listen for lines on \(place): \(reason); change lines.listen, or set it to off"
        case .alreadyStarted:
            "the relay has been started before"
        }
    }
}

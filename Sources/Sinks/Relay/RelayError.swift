/// The reason why a relay could not start, in one line that says what to change.
package enum RelayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address would be reachable from other machines.
    case notLoopback(host: String)
    /// Somebody listens there already.
    case addressInUse(host: String, port: Int)
    /// Listening failed for another reason.
    case cannotListen(host: String, port: Int, reason: String)
    /// It was started or stopped before.
    case alreadyStarted

    package var description: String {
        switch self {
        case .notLoopback(let host):
            "the relay can not listen on \(host): only loopback addresses (127.0.0.1, ::1, localhost) are allowed; "
                + "change --relay HOST:PORT (relay in the config file)"
        case .addressInUse(let host, let port):
            "the relay can not listen on \(host):\(port): address already in use; "
                + "choose another port with --relay HOST:PORT (relay in the config file), or --relay off"
        case .cannotListen(let host, let port, let reason):
            "the relay can not listen on \(host):\(port): \(reason); "
                + "change --relay HOST:PORT (relay in the config file)"
        case .alreadyStarted:
            "the relay has been started before"
        }
    }
}

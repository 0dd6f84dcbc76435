package import NIOCore

/// A client's request for a WebSocket, with the limits of its response.
package struct WebSocketClientRequest: Sendable {
    /// The `Host` header: a name or address, with the port unless it is the scheme's default.
    package var host: String
    /// The path and query, such as `/?token=…`. It may contain a key: never logged, and never part of an error.
    package var target: String
    /// Further headers, in order.
    package var headers: [(String, String)] = []
    /// The time limit from the call to the 101.
    package var timeout: TimeAmount = .seconds(10)
    /// The largest head of a response, in bytes.
    package var maximumHeaderBytes = 16 << 10
    /// The largest part of a refusal's body that is kept, in bytes.
    package var maximumBodyBytes = 4 << 10
    /// The offered subprotocols, the preferred first.
    package var subprotocols: [String] = []
    /// The inbound user event that starts the request, such as the end of a pending TLS handshake; `nil` sends it as
    /// soon as the channel is active.
    package var startsOn: (@Sendable (Any) -> Bool)?

    package init(host: String, target: String) {
        self.host = host
        self.target = target
    }
}

extension WebSocketClientRequest: CustomStringConvertible, CustomReflectable {
    package var description: String { "WebSocketClientRequest(host: \(self.host))" }

    /// Leaves out the target and the headers, so that a dump does not show a key.
    package var customMirror: Mirror { Mirror(self, children: ["host": self.host]) }
}

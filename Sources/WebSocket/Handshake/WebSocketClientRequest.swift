package import NIOCore

/// What a client asks a server for, and for how long it is willing to wait.
package struct WebSocketClientRequest: Sendable {
    /// The `Host` header: a name or address, with the port when it is not the scheme's own.
    package var host: String
    /// The path and query, such as `/?token=…`. It may hold a key: never logged, never part of an error.
    package var target: String
    /// Further headers, in order.
    package var headers: [(String, String)] = []
    /// Time from the call to the 101.
    package var timeout: TimeAmount = .seconds(10)
    /// Largest head of a response, in bytes.
    package var maximumHeaderBytes = 16 << 10
    /// How much of a refusal's body is kept, in bytes.
    package var maximumBodyBytes = 4 << 10
    /// Subprotocols offered, the dearest first.
    package var subprotocols: [String] = []
    /// The inbound user event that lets the request go out, such as the end of a TLS handshake still to come; nil sends it
    /// as soon as the channel is active.
    package var startsOn: (@Sendable (Any) -> Bool)?

    package init(host: String, target: String) {
        self.host = host
        self.target = target
    }
}

extension WebSocketClientRequest: CustomStringConvertible, CustomReflectable {
    package var description: String { "WebSocketClientRequest(host: \(self.host))" }

    /// Leaves out the target and the headers, so that a dump shows no key either.
    package var customMirror: Mirror { Mirror(self, children: ["host": self.host]) }
}

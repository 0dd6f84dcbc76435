/// The address of a WebSocket or REST service. It holds no key, so it may be logged.
package struct UpstreamAddress: Sendable, Equatable {
    /// Whether the connection uses TLS (`wss`).
    package var isEncrypted: Bool
    /// A name or an address; an IPv6 address without brackets.
    package var host: String
    package var port: Int
    /// The path, which begins with a slash.
    package var path: String
    /// The Unix socket to connect to, instead of host and port.
    package private(set) var socketPath: String?

    /// Finnhub's WebSocket service.
    package static let finnhub = UpstreamAddress(isEncrypted: true, host: "ws.finnhub.io", port: 443)

    /// Finnhub's REST service.
    package static let finnhubService = UpstreamAddress(
        isEncrypted: true,
        host: "finnhub.io",
        port: 443,
        path: "/api/v1"
    )

    package init(isEncrypted: Bool, host: String, port: Int, path: String = "/") {
        self.isEncrypted = isEncrypted
        self.host = host
        self.port = port
        self.path = path
    }

    /// A relay on this machine, at a Unix socket.
    package init(socketPath: String, path: String = "/") {
        self.init(isEncrypted: false, host: "localhost", port: 80, path: path)
        self.socketPath = socketPath
    }

    /// The address for people: ``authority``, or the path of the socket.
    package var place: String { self.socketPath ?? self.authority }

    /// Whether the host is an IP address and not a name. The certificate must then hold that address.
    package var isIPAddress: Bool {
        if self.host.utf8.contains(UInt8(ascii: ":")) { return true }
        let parts = self.host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The value of the `Host` header. It omits the scheme's default port (RFC 9110, 7.2).
    package var authority: String {
        let name = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        return self.port == (self.isEncrypted ? 443 : 80) ? name : "\(name):\(self.port)"
    }
}

extension UpstreamAddress: CustomStringConvertible {
    package var description: String {
        if let socketPath { return "ws+unix:" + socketPath + (self.path == "/" ? "" : ":\(self.path)") }
        return (self.isEncrypted ? "wss://" : "ws://") + self.authority + (self.path == "/" ? "" : self.path)
    }
}

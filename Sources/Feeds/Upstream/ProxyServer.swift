/// An HTTP proxy that opens tunnels (`CONNECT`).
///
/// No description, mirror or dump shows the user or the password.
package struct ProxyServer: Sendable, Equatable {
    /// The credentials for the proxy, sent unchanged in the basic scheme (RFC 7617).
    package struct Credentials: Sendable, Equatable {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// A name or an address; an IPv6 address without brackets.
    package var host: String
    package var port: Int
    package var credentials: Credentials?

    package init(host: String, port: Int, credentials: Credentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension ProxyServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: ["host": self.host, "port": self.port]) }
}

extension ProxyServer.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "(credentials)" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

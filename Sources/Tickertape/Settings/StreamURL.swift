import Relay

/// The address of a WebSocket server: `wss://ws.finnhub.io`, `ws://127.0.0.1:8080/v1/stream`.
///
/// Unencrypted `ws` goes to loopback only: the key travels in the request, and prices that anybody on the way can
/// change are no prices.
package struct StreamURL: Sendable, Equatable, CustomStringConvertible {
    package var isEncrypted: Bool
    /// A name or an address; an IPv6 address without its brackets.
    package var host: String
    /// Given, or the scheme's own: 443 for `wss`, 80 for `ws`.
    package var port: Int
    /// Begins with a slash; may end in a query.
    package var path: String
    /// The socket file to connect to instead of host and port.
    package private(set) var socketPath: String?

    /// Reads an address, or throws what is wrong with it, without repeating a text that may hold a key.
    package init(_ text: String) throws(Misfit) {
        do throws(Misfit) {
            try self.init(reading: text)
        } catch {
            throw Misfit(error.reason, echoes: error.echoes && !Self.mayHoldKey(text))
        }
    }

    /// Makes the address of a relay of this machine at a socket file.
    init(socketPath: String, path: String = "/") {
        self.init(relayAt: Endpoint(host: "localhost", port: 80), path: path)
        self.socketPath = socketPath
    }

    /// Makes the address of a relay of this machine, which may be one of the machine's own addresses.
    init(relayAt endpoint: Endpoint, isEncrypted: Bool = false, path: String = "/") {
        self.isEncrypted = isEncrypted
        self.host = endpoint.host
        self.port = endpoint.port
        self.path = path
    }

    /// Whether a query or a user name stands in a text.
    private static func mayHoldKey(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }
    }

    /// Names under which services take keys in a URL's query.
    private static let keyNames: Set = [
        "token", "apikey", "api_key", "api-key", "key", "secret", "access_token", "auth", "password", "x-finnhub-token",
    ]

    /// Whether a query has a member of such a name, which may be percent-encoded.
    private static func holdsKey(_ tail: Substring) -> Bool {
        guard let mark = tail.firstIndex(of: "?") else { return false }
        let members = tail[tail.index(after: mark)...].split { $0 == "&" || $0 == ";" || $0 == "?" }
        return members.contains { member in
            // A name whose encoding is damaged is none of these, decoded or not.
            guard let name = PercentText.decoded(member.prefix { $0 != "=" }) else { return false }
            return Self.keyNames.contains(name.lowercased())
        }
    }

    private init(reading text: String) throws(Misfit) {
        let usage = "write it like wss://ws.finnhub.io or ws://127.0.0.1:8080/"
        guard let colon = text.firstRange(of: "://") else { throw Misfit("is not a WebSocket address; \(usage)") }
        switch text[..<colon.lowerBound].lowercased() {
        case "wss": self.isEncrypted = true
        case "ws": self.isEncrypted = false
        case "http", "https": throw Misfit("is a web page's address; \(usage)")
        default: throw Misfit("is not a WebSocket address; \(usage)")
        }
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Misfit("holds characters that no address holds; \(usage)")
        }
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<end]
        let tail = rest[end...]
        if authority.contains("@") { throw Misfit("holds a user name; leave it out", echoes: false) }
        if tail.contains("#") { throw Misfit("has a fragment (#…); leave it out") }
        if tail.lowercased().contains("token=") || Self.holdsKey(tail) {
            throw Misfit("holds a key; leave it out and set FINNHUB_TOKEN or token-file", echoes: false)
        }
        guard let (host, port) = Endpoint.split(authority) else { throw Misfit("has no valid host; \(usage)") }
        self.host = host
        self.port = self.isEncrypted ? 443 : 80
        if let port {
            guard let number = Endpoint.port(port), number > 0 else {
                throw Misfit("has no valid port; \(usage)")
            }
            self.port = number
        }
        self.path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        if !self.isEncrypted && !Endpoint.isLoopback(host) {
            throw Misfit(
                "is not encrypted, and ws:// may only go to this machine (127.0.0.1, [::1], localhost), because the key"
                    + " and the prices would be open to anybody on the way; use wss://"
            )
        }
    }

    /// What the host and the port come to in a URL and in the `Host` header: the port only where it is not the usual.
    package var authority: String {
        let name = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        return self.port == (self.isEncrypted ? 443 : 80) ? name : "\(name):\(self.port)"
    }

    package var description: String {
        if let socketPath { return "ws+unix:" + socketPath + (self.path == "/" ? "" : ":\(self.path)") }
        return (self.isEncrypted ? "wss://" : "ws://") + self.authority + (self.path == "/" ? "" : self.path)
    }
}

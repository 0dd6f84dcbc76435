package import NIOHTTP1

/// The target in the first line of a request (RFC 9112, 3.2): a path on this server, or an address with its host.
package struct RequestTarget: Equatable {
    /// The host and port in the target itself: in the absolute form, which clients of a proxy send, and in that of
    /// `CONNECT`. They take precedence over the `Host` header.
    package let authority: String?
    /// The path and the query, or `*`.
    package let path: String

    package init(of head: HTTPRequestHead) {
        let uri = head.uri
        guard head.method != .CONNECT, !uri.hasPrefix("/"), uri != "*" else {
            self.authority = head.method == .CONNECT ? uri : nil
            self.path = uri
            return
        }
        let scheme = uri.prefix { $0 != ":" }
        guard ["http", "https"].contains(scheme.lowercased()), uri.dropFirst(scheme.count).hasPrefix("://") else {
            // Not a valid form of a target, so it names nothing on this server.
            self.authority = uri
            self.path = uri
            return
        }
        let rest = uri.dropFirst(scheme.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count)
        self.authority = String(authority)
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
    }
}

// Valid for a target in the form of a path.
extension HTTPRequestHead {
    /// The path without the query.
    package var path: Substring { self.uri.prefix { $0 != "?" } }

    /// The query, which ends at a number sign; `nil` without one.
    package var query: String? {
        self.uri.firstIndex(of: "?").map { mark in String(self.uri[mark...].dropFirst().prefix { $0 != "#" }) }
    }
}

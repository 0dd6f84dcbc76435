package import NIOHTTP1

/// What a request is about, by its first line (RFC 9112, 3.2): a path here, or an address with its host.
package struct RequestTarget: Equatable {
    /// The host and port that the target names itself: in the absolute form, which clients of a proxy send, and in that of
    /// `CONNECT`. It counts more than the `Host` header.
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
            // No form of a target at all: what it names is nothing of ours.
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

// Of a target that has the form of a path.
extension HTTPRequestHead {
    /// The path without the query.
    package var path: Substring { self.uri.prefix { $0 != "?" } }

    /// The query, which ends at a number sign; `nil` where there is none.
    package var query: String? {
        self.uri.firstIndex(of: "?").map { mark in String(self.uri[mark...].dropFirst().prefix { $0 != "#" }) }
    }
}

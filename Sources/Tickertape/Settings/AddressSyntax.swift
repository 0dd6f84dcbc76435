import HTTP
import Market
package import Feeds

extension UpstreamAddress {
    /// Reads the address of a WebSocket server: `wss://ws.finnhub.io`, `ws://127.0.0.1:8080/v1/stream`.
    ///
    /// Unencrypted `ws` is accepted for the loopback interface only. The key travels in the request, and anyone on an
    /// unencrypted path could change the prices.
    ///
    /// - Throws: the reason, without repeating a text that may hold a key.
    package init(_ text: String) throws(ParseError) {
        do throws(ParseError) {
            try self.init(reading: text)
        } catch {
            throw ParseError(error.reason, echoes: error.echoes && !Self.mayHoldKey(text))
        }
    }

    /// Whether a text has a character that begins a query or ends a user name, so that it may hold a key.
    private static func mayHoldKey(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }
    }

    /// The query parameters in which services accept keys.
    private static let keyNames: Set = [
        "token", "apikey", "api_key", "api-key", "key", "secret", "access_token", "auth", "password", "x-finnhub-token",
    ]

    /// Whether a query has one of these parameters, possibly percent-encoded.
    private static func holdsKey(_ tail: Substring) -> Bool {
        guard let mark = tail.firstIndex(of: "?") else { return false }
        let members = tail[tail.index(after: mark)...].split { $0 == "&" || $0 == ";" || $0 == "?" }
        return members.contains { member in
            // A parameter name with damaged percent-encoding matches none of the key names.
            guard let name = PercentText.decoded(member.prefix { $0 != "=" }) else { return false }
            return Self.keyNames.contains(name.lowercased())
        }
    }

    private init(reading text: String) throws(ParseError) {
        let usage = "write it like wss://ws.finnhub.io or ws://127.0.0.1:8080/"
        guard let colon = text.firstRange(of: "://") else { throw ParseError("is not a WebSocket address; \(usage)") }
        let isEncrypted: Bool
        switch text[..<colon.lowerBound].lowercased() {
        case "wss": isEncrypted = true
        case "ws": isEncrypted = false
        case "http", "https": throw ParseError("is a web page's address; \(usage)")
        default: throw ParseError("is not a WebSocket address; \(usage)")
        }
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw ParseError("has characters that an address cannot have; \(usage)")
        }
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<end]
        let tail = rest[end...]
        if authority.contains("@") { throw ParseError("holds a user name; leave it out", echoes: false) }
        if tail.contains("#") { throw ParseError("has a fragment (#…); leave it out") }
        if tail.lowercased().contains("token=") || Self.holdsKey(tail) {
            throw ParseError("holds a key; leave it out and set FINNHUB_TOKEN or token-file", echoes: false)
        }
        guard let (host, port) = Endpoint.split(authority) else { throw ParseError("has no valid host; \(usage)") }
        var number = isEncrypted ? 443 : 80
        if let port {
            guard let given = Endpoint.port(port), given > 0 else {
                throw ParseError("has no valid port; \(usage)")
            }
            number = given
        }
        if !isEncrypted && !LoopbackHost.contains(host) {
            throw ParseError(
                "is not encrypted, and ws:// may only go to this machine (127.0.0.1, [::1], localhost), because the key"
                    + " and the prices could be read on the way; use wss://"
            )
        }
        self.init(
            isEncrypted: isEncrypted,
            host: host,
            port: number,
            path: tail.hasPrefix("/") ? String(tail) : "/" + tail
        )
    }
}

extension Syntax<UpstreamAddress> {
    /// The address of a WebSocket server.
    package static var streamURL: Syntax {
        Syntax(read: { text throws(ParseError) in try UpstreamAddress(text) }, write: { "\($0)" })
    }

    /// The base address of Finnhub's REST service: `https://finnhub.io/api/v1`.
    ///
    /// Unencrypted `http` goes to loopback only, since the key travels in each request.
    package static var serviceURL: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                let schemes = [("https://", "wss://"), ("http://", "ws://")]
                guard let (scheme, other) = schemes.first(where: { text.lowercased().hasPrefix($0.0) }) else {
                    throw ParseError(
                        "is not a web address; write it like https://finnhub.io/api/v1",
                        echoes: !text.contains("=")
                    )
                }
                let address: UpstreamAddress
                do throws(ParseError) {
                    address = try UpstreamAddress(other + text.dropFirst(scheme.count))
                } catch {
                    throw ParseError(Self.asWeb(error.reason), echoes: error.echoes)
                }
                guard !address.path.contains("?") else {
                    throw ParseError(
                        "has a query; leave it out: a key goes into FINNHUB_TOKEN or token-file",
                        echoes: false
                    )
                }
                return address
            },
            write: { Self.asWeb("\($0)") }
        )
    }

    /// Adapts a message about a WebSocket address to a web address. The two differ in the scheme's name only.
    private static func asWeb(_ text: String) -> String {
        text.replacing("wss://ws.finnhub.io or ws://127.0.0.1:8080/", with: "https://finnhub.io/api/v1")
            .replacing("wss://", with: "https://").replacing("ws://", with: "http://")
    }
}

import HTTP
import Market
import NIOHTTP1

/// The places of a request that may carry the relay's token.
enum TokenPlaces {
    /// The prefix of a subprotocol that carries a token: a browser's WebSocket can set no other header.
    private static let subprotocol = "bearer."
    private static let headers = ["X-Tickertape-Token", "X-Finnhub-Token"]

    /// Returns the tokens of a request: at most one per place, so that a request is few guesses.
    static func tokens(in head: HTTPRequestHead) -> [String] {
        var found: [String] = []
        if let token = Self.queryToken(in: head.uri) { found.append(token) }
        if let value = head.headers.first(name: "Authorization"), value.count > 7,
            value.prefix(7).lowercased() == "bearer "
        {
            found.append(String(value.dropFirst(7)))
        }
        for name in Self.headers {
            if let value = head.headers.first(name: name) { found.append(value) }
        }
        if let offered = head.headers[canonicalForm: "Sec-WebSocket-Protocol"].first(where: Self.isToken) {
            found.append(String(offered.dropFirst(Self.subprotocol.count)))
        }
        return found
    }

    /// Returns the request without tokens, so that none can be echoed, logged or taken for a subprotocol.
    static func withoutToken(_ head: HTTPRequestHead) -> HTTPRequestHead {
        var head = head
        for name in Self.headers + ["Authorization"] { head.headers.remove(name: name) }
        let offered = head.headers[canonicalForm: "Sec-WebSocket-Protocol"]
        if offered.contains(where: Self.isToken) {
            head.headers.remove(name: "Sec-WebSocket-Protocol")
            let rest = offered.filter { !Self.isToken($0) }
            if !rest.isEmpty {
                head.headers.add(name: "Sec-WebSocket-Protocol", value: rest.joined(separator: ", "))
            }
        }
        guard let mark = head.uri.firstIndex(of: "?") else { return head }
        let pairs = head.uri[head.uri.index(after: mark)...].split(separator: "&")
        let rest = pairs.filter { !Self.isTokenPair($0) }
        guard rest.count < pairs.count else { return head }
        head.uri = String(head.uri[..<mark]) + (rest.isEmpty ? "" : "?\(rest.joined(separator: "&"))")
        return head
    }

    private static func queryToken(in uri: String) -> String? {
        guard let mark = uri.firstIndex(of: "?") else { return nil }
        let pair = uri[uri.index(after: mark)...].split(separator: "&").first(where: Self.isTokenPair)
        return pair.flatMap { PercentText.decoded($0.drop { $0 != "=" }.dropFirst()) }
    }

    private static func isTokenPair(_ pair: Substring) -> Bool {
        PercentText.decoded(pair.prefix { $0 != "=" }) == "token"
    }

    private static func isToken(_ subprotocol: Substring) -> Bool { subprotocol.hasPrefix(Self.subprotocol) }
}

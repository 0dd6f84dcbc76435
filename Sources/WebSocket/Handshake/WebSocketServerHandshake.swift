package import NIOHTTP1

/// The opening handshake from the server's side (RFC 6455, 4.2): the judgement of a request, and the headers of its 101.
package enum WebSocketServerHandshake {
    /// A correct request.
    package struct Accepted: Sendable, Equatable {
        /// The headers that a 101 must have.
        package var responseHeaders: HTTPHeaders
        /// The extensions that the client offers, in order.
        var extensions: [WebSocketExtension]

        /// Returns how messages are compressed, by the first offer that the policy can meet, and adds the header that tells
        /// the client. Nil when it offers nothing that fits: then none are.
        package func agreeOnCompression(
            _ policy: DeflatePolicy,
            adding headers: inout HTTPHeaders
        ) -> DeflateAgreement? {
            guard let (agreement, answer) = DeflateNegotiation.accept(self.extensions, policy) else { return nil }
            headers.add(name: "Sec-WebSocket-Extensions", value: answer.headerValue)
            return agreement
        }
    }

    /// What is wrong with a request, as a response.
    package struct Refusal: Error, Sendable, Equatable {
        package var status: HTTPResponseStatus
        /// Headers that the status asks for, such as `Allow`.
        package var headers: HTTPHeaders
        /// One line for people.
        package var reason: String
    }

    /// Judges a request. Whether its path, origin and token are welcome is for others to say.
    package static func check(_ head: HTTPRequestHead) -> Result<Accepted, Refusal> {
        guard head.method == .GET else {
            return .refuse(.methodNotAllowed, "a WebSocket is opened by GET", ["Allow": "GET"])
        }
        guard head.version == .http1_1 else { return .refuse(.badRequest, "a WebSocket needs HTTP/1.1") }
        guard head.headers["Host"].count == 1 else { return .refuse(.badRequest, "one Host header is needed") }
        guard Self.wantsWebSocket(head) else {
            return .refuse(
                .upgradeRequired,
                "this address speaks WebSocket",
                ["Upgrade": "websocket", "Connection": "Upgrade, close"]
            )
        }
        guard head.headers.has("Connection", token: "upgrade") else {
            return .refuse(.badRequest, "Connection must hold upgrade")
        }
        guard head.headers[canonicalForm: "Sec-WebSocket-Version"] == ["13"] else {
            return .refuse(
                .upgradeRequired,
                "WebSocket version 13 is needed",
                ["Upgrade": "websocket", "Connection": "Upgrade, close", "Sec-WebSocket-Version": "13"]
            )
        }
        let keys = head.headers[canonicalForm: "Sec-WebSocket-Key"]
        guard keys.count == 1, let key = keys.first, HandshakeKey.isValid(key) else {
            return .refuse(.badRequest, "Sec-WebSocket-Key must be the base64 of 16 bytes")
        }
        guard let extensions = WebSocketExtension.list(head.headers["Sec-WebSocket-Extensions"]) else {
            return .refuse(.badRequest, "malformed Sec-WebSocket-Extensions")
        }
        let responseHeaders: HTTPHeaders = [
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Accept": HandshakeKey.accept(for: String(key)),
        ]
        return .success(Accepted(responseHeaders: responseHeaders, extensions: extensions))
    }

    /// Whether a request asks for WebSocket at all, rightly or not.
    package static func wantsWebSocket(_ head: HTTPRequestHead) -> Bool {
        head.headers.has("Upgrade", token: "websocket")
    }
}

extension Result where Success == WebSocketServerHandshake.Accepted, Failure == WebSocketServerHandshake.Refusal {
    fileprivate static func refuse(
        _ status: HTTPResponseStatus,
        _ reason: String,
        _ headers: HTTPHeaders = [:]
    ) -> Self {
        .failure(WebSocketServerHandshake.Refusal(status: status, headers: headers, reason: reason))
    }
}

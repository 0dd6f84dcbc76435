package import NIOHTTP1

/// The server's side of the opening handshake (RFC 6455, 4.2): it checks a request and makes the headers of its 101.
package enum WebSocketServerHandshake {
    /// A valid request.
    package struct Accepted: Sendable, Equatable {
        /// The headers that the 101 must have.
        package var responseHeaders: HTTPHeaders
        /// The extensions that the client offers, in order.
        var extensions: [WebSocketExtension]

        /// Returns the agreement on the first offer that the policy can meet, and adds the header with the answer.
        /// `nil` without such an offer; then messages are not compressed.
        package func agreeOnCompression(
            _ policy: DeflatePolicy,
            adding headers: inout HTTPHeaders
        ) -> DeflateAgreement? {
            guard let (agreement, answer) = DeflateNegotiation.accept(self.extensions, policy) else { return nil }
            headers.add(name: "Sec-WebSocket-Extensions", value: answer.headerValue)
            return agreement
        }
    }

    /// The reason against a request, as a response.
    package struct Refusal: Error, Sendable, Equatable {
        package var status: HTTPResponseStatus
        /// Headers that the status requires, such as `Allow`.
        package var headers: HTTPHeaders
        /// One line for people.
        package var reason: String
    }

    /// Checks a request. The caller checks its path, origin and token.
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

    /// Whether a request asks for WebSocket at all, valid or not.
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

import NIOCore
import NIOHTTP1

/// The client's side of the opening handshake (RFC 6455, 4.1): it encodes the request and checks the response.
struct ClientHandshake {
    enum Verdict: Equatable {
        /// The response is valid; with the agreement on compression, if there is one.
        case accepted(DeflateAgreement?)
        /// The status is not 101; the caller decides.
        case refused
        case invalid(String)
    }

    private let request: WebSocketClientRequest
    private let compression: DeflatePolicy?
    private let key: String

    /// `nonce` is sixteen random bytes; without `compression` the request offers none.
    init(_ request: WebSocketClientRequest, compression: DeflatePolicy? = nil, nonce: (UInt64, UInt64)) {
        self.request = request
        self.compression = compression
        self.key = HandshakeKey.encode(nonce)
    }

    /// Returns the request. Characters that could end a line early are rejected, so that no value can add a header.
    func encoded(allocator: ByteBufferAllocator) throws(WebSocketUpgradeError) -> ByteBuffer {
        let request = self.request
        guard request.target.hasPrefix("/"), request.target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalidRequest("target")
        }
        guard !request.host.isEmpty, request.host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalidRequest("host")
        }
        guard request.subprotocols.allSatisfy({ HTTPHeadParser.isToken($0.utf8) }) else {
            throw .invalidRequest("subprotocol")
        }
        var head = allocator.buffer(capacity: 512)
        head.writeString("GET \(request.target) HTTP/1.1\r\nHost: \(request.host)\r\n")
        head.writeString("Upgrade: websocket\r\nConnection: Upgrade\r\n")
        head.writeString("Sec-WebSocket-Key: \(self.key)\r\nSec-WebSocket-Version: 13\r\n")
        if !request.subprotocols.isEmpty {
            head.writeString("Sec-WebSocket-Protocol: \(request.subprotocols.joined(separator: ", "))\r\n")
        }
        if let compression = self.compression {
            head.writeString("Sec-WebSocket-Extensions: \(DeflateNegotiation.offer(compression).headerValue)\r\n")
        }
        for (name, value) in request.headers {
            guard HTTPHeadParser.isToken(name.utf8), HTTPHeadParser.isFieldValue(value.utf8) else {
                throw .invalidRequest("header")
            }
            head.writeString("\(name): \(value)\r\n")
        }
        head.writeString("\r\n")
        return head
    }

    /// Checks a response by the six rules of RFC 6455, 4.1, for HTTP/1.1. Header names and the two tokens are compared
    /// without regard to case: Cloudflare writes `upgrade` and `websocket`.
    func check(_ head: HTTPResponseHead) -> Verdict {
        guard head.status.code == 101 else { return .refused }
        // HTTP/1.0 has no 101 (RFC 9110, 15.2) and no change of protocols.
        guard head.version == .http1_1 else { return .invalid("a 101 of HTTP/1.0") }
        guard head.headers.has("Upgrade", token: "websocket") else { return .invalid("Upgrade is not websocket") }
        guard head.headers.has("Connection", token: "upgrade") else { return .invalid("Connection is not upgrade") }
        guard head.headers["Sec-WebSocket-Accept"] == [HandshakeKey.accept(for: self.key)] else {
            return .invalid("wrong Sec-WebSocket-Accept")
        }
        let extensions = head.headers["Sec-WebSocket-Extensions"]
        // A response has at most one such header (RFC 6455, 11.3.2).
        guard extensions.count <= 1, let extensions = WebSocketExtension.list(extensions) else {
            return .invalid("malformed Sec-WebSocket-Extensions")
        }
        var agreement: DeflateAgreement?
        if let first = extensions.first {
            guard let compression = self.compression, extensions.count == 1,
                first.name == DeflateParameters.extensionName
            else { return .invalid("an extension that was not offered") }
            agreement = DeflateNegotiation.take(first, to: compression)
            guard agreement != nil else { return .invalid("extension parameters that were not offered") }
        }
        let subprotocols = head.headers["Sec-WebSocket-Protocol"]
        guard subprotocols.count <= 1, subprotocols.allSatisfy(self.request.subprotocols.contains) else {
            return .invalid("a subprotocol that was not offered")
        }
        return .accepted(agreement)
    }
}

extension HTTPHeaders {
    /// Whether the comma-separated values of a header contain a token, compared without regard to case; `token` is in
    /// lower case.
    func has(_ name: String, token: String) -> Bool {
        self[canonicalForm: name].contains { $0.lowercased() == token }
    }
}

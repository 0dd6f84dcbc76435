package import NIOCore
import NIOHTTP1

/// What a client asks an HTTP proxy for: a connection to somebody else (RFC 6455, 4.1; RFC 9110, 9.3.6).
package struct TunnelRequest: Sendable {
    /// Whom to connect to: a name or an address; an IPv6 address without its brackets.
    package var host: String
    package var port: Int
    /// Sent in the basic scheme (RFC 7617): never logged, never part of an error.
    package var credentials: (user: String, password: String)?
    /// Time from the call to the end of the answer's head.
    package var timeout: TimeAmount = .seconds(10)
    /// Largest head of an answer, in bytes.
    package var maximumHeaderBytes = 16 << 10
    /// How much of a refusal's body is kept, in bytes.
    package var maximumBodyBytes = 4 << 10

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Returns the request; what could end a line early is refused, so that no value can add a header.
    func encoded(allocator: ByteBufferAllocator) throws(WebSocketUpgradeError) -> ByteBuffer {
        let host = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        guard !self.host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalidRequest("host")
        }
        var head = allocator.buffer(capacity: 256)
        head.writeString("CONNECT \(host):\(self.port) HTTP/1.1\r\nHost: \(host):\(self.port)\r\n")
        if let (user, password) = self.credentials {
            // A colon ends the user's name, and control characters are forbidden (RFC 7617, 2).
            guard !user.utf8.contains(UInt8(ascii: ":")),
                (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { throw .invalidRequest("credentials") }
            head.writeString("Proxy-Authorization: Basic \(HandshakeKey.base64(Array("\(user):\(password)".utf8)))\r\n")
        }
        head.writeString("\r\n")
        return head
    }
}

extension TunnelRequest: CustomStringConvertible, CustomReflectable {
    package var description: String { "TunnelRequest(host: \(self.host), port: \(self.port))" }

    /// Leaves out the credentials, so that a dump shows none either.
    package var customMirror: Mirror { Mirror(self, children: ["host": self.host, "port": self.port]) }
}

extension Channel {
    /// Asks an HTTP proxy for a tunnel; when it agrees, the channel is one to the host that was asked for.
    ///
    /// The future completes on the loop before any byte of the tunnel is delivered, so the next handlers can be added at
    /// once. swift-nio-extras has a handler for this too; it keeps nothing of a refusal but that there was one, and
    /// needs NIO's decoder, which can drop bytes when it leaves.
    ///
    /// - Returns: a future that fails with `WebSocketUpgradeError`, or with the error that the transport reported. The
    ///   channel is closed then.
    package func openTunnel(_ request: TunnelRequest) -> EventLoopFuture<Void> {
        guard self.eventLoop.inEventLoop else { return self.eventLoop.flatSubmit { self.openTunnel(request) } }
        return self.open { () throws(WebSocketUpgradeError) in
            OpeningHandler.Request(
                bytes: try request.encoded(allocator: self.allocator),
                timeout: request.timeout,
                maximumHeaderBytes: request.maximumHeaderBytes,
                maximumBodyBytes: request.maximumBodyBytes
            )
        } judge: { head, rest in
            switch head.status.code {
            case 100..<200: .informational
            // The lengths in such a head mean nothing (RFC 9110, 9.3.6). Behind it the other side waits for us to
            // speak TLS, so what is there already is the proxy's own: a web page, mostly.
            case 200..<300 where rest.readableBytes > 0:
                .invalid("it says \(head.status.code), then sends something of its own")
            case 200..<300: .accepted { _ in }
            default: .refused
            }
        }
    }
}

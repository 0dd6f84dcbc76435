package import NIOCore
import NIOHTTP1

/// A client's request to an HTTP proxy for a connection to another host (RFC 6455, 4.1; RFC 9110, 9.3.6).
package struct TunnelRequest: Sendable {
    /// The host to connect to: a name or an address; an IPv6 address without its brackets.
    package var host: String
    package var port: Int
    /// Sent in the basic scheme (RFC 7617). Never logged, and never part of an error.
    package var credentials: (user: String, password: String)?
    /// The time limit from the call to the end of the response's head.
    package var timeout: TimeAmount = .seconds(10)
    /// The largest head of a response, in bytes.
    package var maximumHeaderBytes = 16 << 10
    /// The largest part of a refusal's body that is kept, in bytes.
    package var maximumBodyBytes = 4 << 10

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Returns the request. Characters that could end a line early are rejected, so that no value can add a header.
    func encoded(allocator: ByteBufferAllocator) throws(WebSocketUpgradeError) -> ByteBuffer {
        let host = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        guard !self.host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalidRequest("host")
        }
        var head = allocator.buffer(capacity: 256)
        head.writeString("CONNECT \(host):\(self.port) HTTP/1.1\r\nHost: \(host):\(self.port)\r\n")
        if let (user, password) = self.credentials {
            // A colon would end the user name, and control characters are forbidden (RFC 7617, 2).
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

    /// Leaves out the credentials, so that a dump does not show them.
    package var customMirror: Mirror { Mirror(self, children: ["host": self.host, "port": self.port]) }
}

extension Channel {
    /// Requests a tunnel from an HTTP proxy. When the proxy agrees, the channel leads to the requested host.
    ///
    /// The future completes on the loop before any byte of the tunnel is delivered, so the next handlers can be added
    /// at once. swift-nio-extras has a handler for this too, but it drops the content of a refusal, and it needs NIO's
    /// decoder, which can drop bytes when it is removed.
    ///
    /// - Returns: a future that fails with `WebSocketUpgradeError`, or with the transport's error. The channel is
    ///   closed then.
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
            // Lengths in such a head have no meaning (RFC 9110, 9.3.6). The host behind the proxy waits for the
            // client's TLS hello, so bytes that arrive already come from the proxy itself, usually a web page.
            case 200..<300 where rest.readableBytes > 0:
                .invalid("it says \(head.status.code), then sends unexpected bytes")
            case 200..<300: .accepted { _ in }
            default: .refused
            }
        }
    }
}

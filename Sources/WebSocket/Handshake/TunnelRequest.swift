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

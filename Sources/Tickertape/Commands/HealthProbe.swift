import Glibc
import HTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import TLS

/// One `GET /livez` request to the relay of a running program.
///
/// The certificate is not verified over TLS: it may have other names than the loopback address, and the request holds
/// no secret.
struct HealthProbe {
    /// The relay's fault, as the end of a sentence that begins with its address.
    struct Failure: Error {
        let reason: String
    }

    /// The address of the relay. This request needs no token.
    enum Place: CustomStringConvertible {
        /// An address of this machine, or `localhost`.
        case endpoint(Endpoint)
        /// A Unix socket.
        case file(String)

        var description: String {
            switch self {
            case .endpoint(let endpoint): "\(endpoint)"
            case .file(let path): path
            }
        }

        /// The `Host` header's value.
        fileprivate var host: String {
            switch self {
            case .endpoint(let endpoint): "\(endpoint)"
            case .file: "localhost"
            }
        }

        /// Returns the socket address. A host name belongs to this machine, so the loopback address stands for it.
        fileprivate func address() throws -> SocketAddress {
            switch self {
            case .endpoint(let endpoint):
                try (try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port))
                    ?? SocketAddress(ipAddress: "127.0.0.1", port: endpoint.port)
            case .file(let path): try SocketAddress(unixDomainSocketPath: path)
            }
        }
    }

    /// The largest part of the response's body that is read, in bytes.
    private static let mostBytes = 64 << 10

    let place: Place
    /// The relay's ciphers of TLS 1.2; `nil` without TLS.
    var ciphers: TLSCipherList?
    /// The time limit for the whole request.
    let limit: TimeAmount

    /// Returns the status line of a successful response, and throws for any other.
    func statusLine() async throws(Failure) -> String {
        let head: HTTPResponseHead
        do {
            head = try await self.ask()
        } catch {
            throw Failure(reason: Self.words(of: error))
        }
        let line = "HTTP/\(head.version.major).\(head.version.minor) \(head.status.code) \(head.status.reasonPhrase)"
        guard head.status == .ok else {
            // A relay with TLS answers a plain request with this status.
            let isPlain = self.ciphers == nil && head.status == .badRequest
            let hint = isPlain ? "; if it speaks TLS, set relay.certificate-file here, too" : ""
            let shown = String(line.unicodeScalars.filter { (" "..."~").contains($0) }.prefix(80))
            throw Failure(reason: "does not answer as a relay does: \"\(shown)\"\(hint)")
        }
        return line
    }

    private func ask() async throws -> HTTPResponseHead {
        let context = try self.ciphers.map { ciphers throws(TLSError) in
            var configuration = TLSClientConfiguration()
            configuration.verification = .disabled
            configuration.ciphers = ciphers
            configuration.handshakeTimeout = self.limit
            return try TLSContext(client: configuration)
        }
        let connection = DirectConnection(
            .address(try self.place.address()),
            tls: context.map { ($0, nil) },
            timeout: self.limit
        )
        let headers: HTTPHeaders = ["Host": self.place.host, "Connection": "close"]
        let exchange = OutgoingExchange(
            HTTPRequestHead(version: .http1_1, method: .GET, uri: "/livez", headers: headers),
            timeout: self.limit,
            maximumBytes: Self.mostBytes,
            takesPartialBody: true
        )
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await exchange.run(on: loop, opening: connection.open).get().get().head
    }

    private static func words(of error: any Error) -> String {
        switch error {
        case OutgoingExchange.Failure.late, ChannelError.connectTimeout: "does not answer in time"
        case OutgoingExchange.Failure.cut: "broke off"
        case OutgoingExchange.Failure.notHTTP: "does not answer as a relay does: that is not HTTP"
        case let error as IOError where error.errnoCode == ECONNRESET: "broke off: \(SystemErrorText.of(error))"
        case is IOError: "cannot be reached: \(SystemErrorText.of(error))"
        default: "cannot be asked: \(SystemErrorText.of(error))"
        }
    }
}

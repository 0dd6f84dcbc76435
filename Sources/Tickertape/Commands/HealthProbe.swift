import Glibc
import HTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import Relay
import TLS

/// One `GET /livez` to the relay of a running program.
///
/// Over TLS the certificate is not checked: it may be for other names than the loopback, and nothing else is sent.
struct HealthProbe {
    /// What is wrong with the relay, as the end of a sentence that begins with its address.
    struct Failure: Error {
        let reason: String
    }

    /// Where the relay is to be asked. It wants no token for this question.
    enum Place: CustomStringConvertible {
        /// An address of this machine, or `localhost`.
        case endpoint(Endpoint)
        /// A socket file.
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

        /// A name other than an address is this machine's own, and stands for the loopback address here.
        fileprivate func address() throws -> SocketAddress {
            switch self {
            case .endpoint(let endpoint):
                try (try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port))
                    ?? SocketAddress(ipAddress: "127.0.0.1", port: endpoint.port)
            case .file(let path): try SocketAddress(unixDomainSocketPath: path)
            }
        }
    }

    /// The largest body of an answer that is looked at, in bytes.
    private static let mostBytes = 64 << 10

    let place: Place
    /// The ciphers of TLS 1.2, those of the relay that is asked; `nil` where it speaks no TLS.
    var ciphers: TLSCipherList?
    /// How long everything may take together.
    let limit: TimeAmount

    /// The status line of a good answer; anything else is thrown.
    func statusLine() async throws(Failure) -> String {
        let head: HTTPResponseHead
        do {
            head = try await self.ask()
        } catch {
            throw Failure(reason: Self.words(of: error))
        }
        let line = "HTTP/\(head.version.major).\(head.version.minor) \(head.status.code) \(head.status.reasonPhrase)"
        guard head.status == .ok else {
            // So answers a relay that speaks TLS.
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

import TLS
import TickertapeTesting

/// `openssl s_server`, which sends each line back reversed.
enum OpenSSLServer {
    /// Runs it with a certificate and its whole chain while `body` runs.
    static func run<Result>(
        presenting credentials: TLSCredentials = Certificates.localhost,
        _ arguments: [String],
        _ body: (OpenSSLCommand, _ port: Int) throws -> Result
    ) throws -> Result {
        try Certificates.withFiles(credentials) { certificate, key in
            let server = try OpenSSLCommand(
                [
                    "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-cert_chain", certificate,
                    "-key", key, "-rev",
                ] + arguments
            )
            let port = try server.wait { text in
                text.split(separator: "\n").first { $0.hasPrefix("ACCEPT 127.0.0.1:") }
                    .flatMap { Int($0.dropFirst("ACCEPT 127.0.0.1:".count)) }
            }
            return try body(server, port)
        }
    }
}

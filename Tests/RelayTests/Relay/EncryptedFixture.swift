import Logging
import NIOCore
import TLS
import TickertapeTesting
@testable import Measurements
@testable import Relay

extension RelayFixture {
    /// Starts a relay with or without TLS, runs the body and ends the relay at once.
    ///
    /// - Parameter body: gets a function that makes the handlers below a client's application.
    static func run(
        isEncrypted: Bool,
        instruments: Instruments = Instruments(),
        _ change: (inout RelaySettings) -> Void = { _ in },
        body: (RelayFixture, _ below: @escaping @Sendable () -> [any ChannelHandler]) async throws -> Void
    ) async throws {
        guard isEncrypted else {
            return try await Self.run(instruments: instruments, change) { try await body($0, { [] }) }
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let context = try TLSContext(client: Certificates.client())
        let tls = try RelayTLS.sample(in: folder, instruments: instruments)
        try await Self.run(instruments: instruments, tls: tls, change) { fixture in
            try await body(fixture, { [TLSHandler(context: context, peer: .host("localhost"))] })
        }
    }
}

extension RelayTLS {
    /// Returns a relay's TLS with a certificate for `localhost`, signed by the tests' authority.
    static func sample(
        in folder: TemporaryFolder,
        handshakeTimeout: TimeAmount = .seconds(10),
        instruments: Instruments
    ) throws -> RelayTLS {
        _ = try folder.write(Certificates.localhost.certificateChainPEM, to: "certificate.pem")
        _ = try folder.write(Certificates.localhost.privateKeyPEM, to: "key.pem")
        return try RelayTLS(
            files: RelayTLS.Files(certificate: "\(folder.path)/certificate.pem", key: "\(folder.path)/key.pem"),
            handshakeTimeout: handshakeTimeout,
            instruments: instruments,
            logger: Logger(label: "tls", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }
}

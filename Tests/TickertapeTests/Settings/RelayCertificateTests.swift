import Logging
import Measurements
import NIOCore
import Relay
import TLS
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("The relay's certificate in the program")
struct RelayCertificateTests {
    @Test("clients have as long for their TLS as for a request", arguments: [3, 45])
    func handshakeTimeout(seconds: Int64) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let credentials = Certificates.localhost
        var settings = Settings()
        settings.relayFiles.certificate = try folder.write(credentials.certificateChainPEM, to: "certificate.pem")
        settings.relayFiles.key = try folder.write(credentials.privateKeyPEM, to: "key.pem")
        settings.relay.handshakeTimeout = .seconds(seconds)
        let logger = Logger(label: "tls", factory: { _ in SwiftLogNoOpLogHandler() })
        let tls = try settings.relayTLS(instruments: Instruments(), logger: logger)
        #expect(tls?.handshakeTimeout == .seconds(seconds))
    }
}

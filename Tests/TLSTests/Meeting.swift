import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import TLS

/// The events that each of two ends received when they connected.
struct HandshakeResult {
    var client: [Seen]
    var server: [Seen]

    /// Connects a client to a server that it must refuse, with data to send that must not arrive.
    static func refused(
        client: TLSClientConfiguration = Certificates.client(),
        server: TLSServerConfiguration = Certificates.server(),
        peer: TLSPeerName = .host("localhost")
    ) throws -> HandshakeResult {
        let pair = try MemoryPair(client: client, server: server, peer: peer)
        let write = pair.client.send("secret")
        try pair.start()
        #expect(throws: (any Error).self) { try write.wait() }
        #expect(!pair.client.channel.isActive)
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.received.isEmpty)
        return HandshakeResult(client: pair.client.application.seen, server: pair.server.application.seen)
    }

    /// Connects a client to a server that it must accept.
    static func accepted(
        client: TLSClientConfiguration = Certificates.client(),
        server: TLSServerConfiguration = Certificates.server(),
        peer: TLSPeerName = .host("localhost")
    ) throws {
        let pair = try MemoryPair(client: client, server: server, peer: peer)
        pair.client.send("secret")
        try pair.start()
        #expect(pair.client.application.seen == [.handshake("http/1.1")])
        #expect(pair.server.application.received == "secret")
    }

    /// The client's errors as text.
    var words: [String] {
        self.client.compactMap { if case .error(let error) = $0 { "\(error)" } else { nil } }
    }

    /// The alert that the server received.
    var alert: String? {
        for case .error(let error) in self.server where error.kind == .alertReceived { return error.reason }
        return nil
    }
}

extension TLSClientConfiguration {
    /// Returns the configuration for one version only.
    func speaking(_ version: TLSVersion) -> TLSClientConfiguration {
        var configuration = self
        configuration.versions = version...version
        return configuration
    }
}

extension TLSServerConfiguration {
    /// Returns the configuration with an OCSP response stapled to the certificate.
    func stapling(_ answer: [UInt8]) -> TLSServerConfiguration {
        var configuration = self
        configuration.stapledAnswer = answer
        return configuration
    }
}

extension CertificateTemplate {
    /// A certificate for `localhost`.
    static func localhost() -> CertificateTemplate {
        var draft = CertificateTemplate(
            commonName: "localhost",
            notBefore: .seconds(-3_600),
            notAfter: .seconds(86_400)
        )
        draft.names = ["localhost"]
        return draft
    }

    /// A certificate that may sign others.
    static func authority(_ name: String) -> CertificateTemplate {
        var draft = CertificateTemplate(commonName: name, notBefore: .seconds(-3_600), notAfter: .seconds(86_400))
        draft.isAuthority = true
        return draft
    }
}

/// Returns the error of a refused certificate with this text.
func refusal(_ words: String) throws -> TLSError {
    TLSError(try #require(CertificateRefusal.allCases.first { $0.words == words }))
}

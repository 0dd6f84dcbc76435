import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS session resumption")
struct ResumptionTests {
    /// Connects, exchanges data (which delivers the tickets of TLS 1.3), and closes; returns whether the session was
    /// resumed.
    private func visit(
        _ client: TLSContext,
        _ server: TLSContext,
        peer: TLSPeerName = .host("localhost")
    ) throws -> Bool {
        let pair = try MemoryPair(client: client, server: server, peer: peer)
        try pair.start()
        pair.client.send("hello")
        pair.server.send("welcome")
        try pair.settle()
        #expect(pair.server.application.received == "hello")
        #expect(pair.client.application.received == "welcome")
        let session = try #require(pair.client.handler.session)
        #expect(pair.server.handler.session?.isResumed == session.isResumed)
        #expect(session.applicationProtocol == "http/1.1")
        pair.client.channel.close(promise: nil)
        try pair.settle()
        #expect(pair.client.application.error == nil)
        return session.isResumed
    }

    private func context(_ version: TLSVersion) throws -> TLSContext {
        var client = Certificates.client()
        client.versions = version...version
        return try TLSContext(client: client)
    }

    @Test(
        "a second connection of the same context to the same peer resumes, and so do those after it",
        arguments: TLSVersion.allCases
    )
    func resumes(version: TLSVersion) throws {
        let client = try self.context(version)
        let server = try TLSContext(server: Certificates.server())
        #expect(try self.visit(client, server) == false)
        for _ in 0..<3 { #expect(try self.visit(client, server) == true) }
    }

    @Test("a session is of one peer and of one context", arguments: TLSVersion.allCases)
    func separate(version: TLSVersion) throws {
        let client = try self.context(version)
        let server = try TLSContext(server: Certificates.server())
        #expect(try self.visit(client, server) == false)
        #expect(try self.visit(client, server, peer: .address("127.0.0.1")) == false)
        #expect(try self.visit(self.context(version), server) == false)
    }

    @Test("a server that has new keys is greeted in full", arguments: TLSVersion.allCases)
    func forgotten(version: TLSVersion) throws {
        let client = try self.context(version)
        #expect(try self.visit(client, TLSContext(server: Certificates.server())) == false)
        let restarted = try TLSContext(server: Certificates.server())
        #expect(try self.visit(client, restarted) == false)
        #expect(try self.visit(client, restarted) == true)
    }

    /// The validity of short-lived items: enough for the first handshakes on a busy machine. Certificates and lists
    /// truncate it to whole seconds.
    private static let moment = Duration.seconds(5)

    /// Connects repeatedly until each client refuses the server, and returns their errors.
    private func refusals(_ clients: [TLSContext], _ server: TLSContext) throws -> [String?] {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(30) * Patience.factor
        var refusals: [String?] = clients.map { _ in nil }
        while refusals.contains(nil), clock.now < limit {
            for (place, client) in clients.enumerated() where refusals[place] == nil {
                let pair = try MemoryPair(client: client, server: server)
                try pair.start()
                refusals[place] = pair.client.application.error.map { "\($0)" }
            }
        }
        return refusals
    }

    // The tests that wait for an expiry wait for all versions at once.

    @Test("a session is not kept beyond its certificate")
    func expired() throws {
        let credentials = try Certificates.authority.issue(names: ["localhost"], notAfter: Self.moment)
        let server = try TLSContext(server: Certificates.server(credentials))
        let clients = try TLSVersion.allCases.map(self.context)
        for client in clients { #expect(try self.visit(client, server) == false) }
        let refusals = try self.refusals(clients, server)
        #expect(refusals == clients.map { _ in "certificate refused: certificate has expired" })
    }

    @Test("a session is not kept beyond the OCSP answer that vouched for it", arguments: TLSVersion.allCases)
    func answerEnds(version: TLSVersion) throws {
        // Expired for a minute, which a full handshake tolerates. The next handshake must be full and check again.
        var draft = OCSPResponseTemplate(.good)
        draft.nextUpdate = .seconds(-60)
        let client = try self.context(version)
        let old = try draft.sign(about: Certificates.localhost, by: Certificates.authority)
        let server = try TLSContext(server: Certificates.server().stapling(old))
        #expect(try self.visit(client, server) == false)
        #expect(try self.visit(client, server) == false)
        // With a longer validity, sessions are resumed.
        draft.nextUpdate = .seconds(3_600)
        let new = try draft.sign(about: Certificates.localhost, by: Certificates.authority)
        let renewed = try TLSContext(server: Certificates.server().stapling(new))
        #expect(try self.visit(client, renewed) == false)
        #expect(try self.visit(client, renewed) == true)
        #expect(try self.visit(client, renewed) == true)
    }

    @Test("a session is not kept beyond a revocation list, nor resumed under another")
    func listEnds() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func client(_ draft: RevocationListTemplate, _ version: TLSVersion) throws -> TLSContext {
            var client = Certificates.client().speaking(version)
            client.revocationListFile = try folder.write(draft.sign(by: Certificates.authority), to: "crl.pem")
            return try TLSContext(client: client)
        }
        let server = try TLSContext(server: Certificates.server())
        var draft = RevocationListTemplate()
        draft.nextUpdate = Self.moment
        let first = try TLSVersion.allCases.map { try client(draft, $0) }
        for client in first { #expect(try self.visit(client, server) == false) }
        // Connections succeed while the list is valid, resumed or not; they are refused as soon as it expires.
        let refusals = try self.refusals(first, server)
        #expect(refusals == first.map { _ in "certificate refused: the CRL of its issuer is out of date" })
        for version in TLSVersion.allCases {
            // A new list needs a new context, which has no sessions of the old one.
            let second = try client(RevocationListTemplate(), version)
            #expect(try self.visit(second, server) == false)
            #expect(try self.visit(second, server) == true)
            let revoking = RevocationListTemplate(revoking: [Certificates.localhost.certificateChainPEM])
            let pair = try MemoryPair(client: client(revoking, version), server: server)
            try pair.start()
            #expect(
                pair.client.application.error.map { "\($0)" } == "certificate refused: revoked (CRL)"
            )
        }
    }

    @Test("a session is not kept beyond an authority's certificate")
    func authorityEnds() throws {
        let between = try Certificates.authority.subordinate(name: "Between", notAfter: Self.moment)
        let server = try TLSContext(server: Certificates.server(between.issue(names: ["localhost"])))
        let clients = try TLSVersion.allCases.map(self.context)
        for client in clients { #expect(try self.visit(client, server) == false) }
        let refusals = try self.refusals(clients, server)
        #expect(refusals == clients.map { _ in "certificate refused: certificate has expired" })
    }

    @Test("under pins sessions are resumed, for their context knew the key", arguments: TLSVersion.allCases)
    func pins(version: TLSVersion) throws {
        for verification in [TLSClientConfiguration.Verification.full, .disabled] {
            var client = Certificates.client().speaking(version)
            client.verification = verification
            client.pins = [try PublicKeyPin(certificatePEM: Certificates.localhost.certificateChainPEM)]
            let context = try TLSContext(client: client)
            let server = try TLSContext(server: Certificates.server())
            #expect(try self.visit(context, server) == false)
            #expect(try self.visit(context, server) == true)
        }
    }

    @Test("a failed connection takes its peer's session with it")
    func failure() throws {
        let client = try self.context(.tls12)
        let server = try TLSContext(server: Certificates.server())
        #expect(try self.visit(client, server) == false)
        let end = try End(client, peer: .host("localhost"), loop: EmbeddedEventLoop())
        try end.start()
        try end.channel.writeInbound(ByteBuffer(string: "HTTP/1.1 502 Bad Gateway\r\n\r\n"))
        #expect(end.application.error?.kind == .protocolViolation)
        #expect(try self.visit(client, server) == false)
    }
}

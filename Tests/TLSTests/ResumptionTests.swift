import NIOCore
import NIOEmbedded
import TLS
import TickertapeTesting
import Testing

@Suite("TLS session resumption")
struct ResumptionTests {
    /// Connects, exchanges a word (which brings the tickets of TLS 1.3), closes; answers whether it was a resumption.
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

    @Test("a session is not kept beyond its certificate", arguments: TLSVersion.allCases)
    func expired(version: TLSVersion) throws {
        // The certificate is good for a moment: enough for one handshake, and over at the second.
        let client = try self.context(version)
        let credentials = try Certificates.authority.issue(names: ["localhost"], notAfter: .seconds(2))
        let server = try TLSContext(server: Certificates.server(credentials))
        #expect(try self.visit(client, server) == false)
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(10)
        var refusal: TLSError?
        while refusal == nil, clock.now < limit {
            let pair = try MemoryPair(client: client, server: server)
            try pair.start()
            refusal = pair.client.application.error
        }
        #expect(refusal == TLSError(kind: .certificateRefused, reason: "certificate has expired"))
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

import NIOCore
import NIOEmbedded
import TLS
import TickertapeTesting
import Testing

@Suite("TLS refusals")
struct RefusalTests {
    /// Lets a client meet a server; answers what each was told.
    private func meet(
        client: TLSClientConfiguration = Certificates.client(),
        server: TLSServerConfiguration = Certificates.server(),
        peer: TLSPeerName = .host("localhost")
    ) throws -> (client: [Seen], server: [Seen]) {
        let pair = try MemoryPair(client: client, server: server, peer: peer)
        let write = pair.client.send("secret")
        try pair.start()
        #expect(throws: (any Error).self) { try write.wait() }
        #expect(!pair.client.channel.isActive)
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.received.isEmpty)
        return (pair.client.application.seen, pair.server.application.seen)
    }

    private func refused(_ reason: String) -> [Seen] {
        [.error(TLSError(kind: .certificateRefused, reason: reason)), .inactive]
    }

    private func alert(_ name: String) -> TLSError {
        TLSError(kind: .alertReceived, reason: "alert \(name)")
    }

    @Test("an expired certificate", arguments: TLSVersion.allCases)
    func expired(version: TLSVersion) throws {
        let credentials = try Certificates.authority.issue(
            names: ["localhost"],
            notBefore: .seconds(-7_200),
            notAfter: .seconds(-3_600)
        )
        var client = Certificates.client()
        client.versions = version...version
        let seen = try self.meet(client: client, server: Certificates.server(credentials))
        #expect(seen.client == self.refused("certificate has expired"))
        #expect(seen.server.contains(.error(self.alert("certificate expired"))))
    }

    @Test("a certificate that is not valid yet")
    func notYetValid() throws {
        let credentials = try Certificates.authority.issue(names: ["localhost"], notBefore: .seconds(3_600))
        let seen = try self.meet(server: Certificates.server(credentials))
        #expect(seen.client == self.refused("certificate is not yet valid"))
        #expect(seen.server.contains(.error(self.alert("bad certificate"))))
    }

    @Test("a self-signed certificate")
    func selfSigned() throws {
        let credentials = try CertificateAuthority.selfSigned(names: ["localhost"])
        let seen = try self.meet(server: Certificates.server(credentials))
        #expect(seen.client == self.refused("self-signed certificate (unknown CA)"))
        #expect(seen.server.contains(.error(self.alert("unknown CA"))))
    }

    @Test("a certificate of an authority that is not trusted")
    func untrusted() throws {
        let stranger = try CertificateAuthority(name: "Stranger")
        let seen = try self.meet(server: Certificates.server(stranger.issue(names: ["localhost"])))
        #expect(seen.client == self.refused("unable to get local issuer certificate (unknown CA)"))
        #expect(seen.server.contains(.error(self.alert("unknown CA"))))
    }

    @Test("a certificate that a leaf signed, which is no authority")
    func signedByLeaf() throws {
        let stranger = try CertificateAuthority(name: "Tickertape Test Authority")
        let seen = try self.meet(server: Certificates.server(stranger.issue(names: ["localhost"])))
        guard case .error(let error)? = seen.client.first else {
            Issue.record("no error")
            return
        }
        #expect(error.kind == .certificateRefused)
    }

    @Test("a certificate for another name", arguments: ["example.com", "localhost.example.com", "ocalhost"])
    func wrongHost(host: String) throws {
        let seen = try self.meet(peer: .host(host))
        #expect(seen.client == self.refused("hostname mismatch"))
        #expect(seen.server.contains(.error(self.alert("bad certificate"))))
    }

    @Test("a certificate for another address", arguments: ["127.0.0.2", "::2"])
    func wrongAddress(address: String) throws {
        let seen = try self.meet(peer: .address(address))
        #expect(seen.client == self.refused("IP address mismatch"))
    }

    @Test("a name that stands only in the subject")
    func onlyInCommonName() throws {
        let credentials = try Certificates.authority.issue(names: [], commonName: "localhost")
        let seen = try self.meet(server: Certificates.server(credentials))
        #expect(seen.client == self.refused("hostname mismatch"))
    }

    @Test("no protocol in common: both sides are told, by an alert", arguments: TLSVersion.allCases)
    func protocolMismatch(version: TLSVersion) throws {
        var client = Certificates.client()
        client.applicationProtocols = ["h2"]
        client.versions = version...version
        let seen = try self.meet(client: client)
        let clientError = TLSError(kind: .noApplicationProtocol, reason: "alert no application protocol")
        let serverError = TLSError(kind: .noApplicationProtocol, reason: "no application protocol")
        #expect(seen.client == [.error(clientError), .inactive])
        #expect(seen.server == [.error(serverError), .inactive])
    }

    @Test("a server that only speaks a version the client does not")
    func versions() throws {
        var client = Certificates.client()
        client.versions = .tls13 ... .tls13
        var server = Certificates.server()
        server.versions = .tls12 ... .tls12
        let seen = try self.meet(client: client, server: server)
        #expect(seen.client == [.error(self.alert("protocol version")), .inactive])
        #expect(seen.server == [.error(TLSError(kind: .protocolViolation, reason: "unsupported protocol")), .inactive])
    }

    @Test("a client of TLS 1.1")
    func oldClient() throws {
        // ClientHello, version 3.2, one cipher suite of that time, no extensions.
        var hello: [UInt8] = [3, 2] + [UInt8](repeating: 7, count: 32) + [0, 0, 2, 0xC0, 0x09, 1, 0]
        hello = [1, 0, 0, UInt8(hello.count)] + hello
        let record: [UInt8] = [22, 3, 1, 0, UInt8(hello.count)] + hello
        let end = try End(TLSContext(server: Certificates.server()), peer: nil, loop: EmbeddedEventLoop())
        try end.start()
        try end.channel.writeInbound(ByteBuffer(bytes: record))
        let error = TLSError(kind: .protocolViolation, reason: "unsupported protocol")
        #expect(end.application.seen == [.error(error), .inactive])
        // A fatal alert: protocol version.
        #expect(try Array(buffer: end.takeCiphertext()).suffix(2) == [2, 70])
    }

    @Test(
        "what is not TLS at all",
        arguments: ["GET / HTTP/1.1\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}", "SSH-2.0-x\r\n"]
    )
    func garbage(text: String) throws {
        for context in [try TLSContext(server: Certificates.server()), try TLSContext(client: Certificates.client())] {
            let end = try End(context, peer: .host("localhost"), loop: EmbeddedEventLoop())
            try end.start()
            try end.channel.writeInbound(ByteBuffer(string: text))
            let error = try #require(end.application.error)
            #expect(error.kind == .protocolViolation)
            #expect(["http request", "wrong version number", "unexpected message"].contains(error.reason), "\(error)")
            #expect(!end.channel.isActive)
        }
    }

    @Test(
        "a client that has no name to check, or one that would switch the check off",
        arguments: [
            nil, TLSPeerName.host(""), .host("."), .host(".example.com"), .host("a..b"), .host("a\u{0}b"),
            .host("bücher.example"),
            .address("localhost"), .address(""), .host(String(repeating: "a", count: 64)),
        ]
    )
    func uncheckableNames(peer: TLSPeerName?) throws {
        let end = try End(TLSContext(client: Certificates.client()), peer: peer, loop: EmbeddedEventLoop())
        try end.start()
        #expect(end.application.error?.kind == .configuration)
        #expect(!end.channel.isActive)
        #expect(try end.takeCiphertext().readableBytes == 0)
    }

    @Test("a peer that says nothing, when the time is over")
    func silentPeer() throws {
        for context in [try TLSContext(server: Certificates.server()), try TLSContext(client: Certificates.client())] {
            let loop = EmbeddedEventLoop()
            let end = try End(context, peer: .host("localhost"), loop: loop)
            let write = end.send("waiting")
            try end.start()
            loop.advanceTime(by: .milliseconds(4_999))
            #expect(end.application.seen.isEmpty)
            loop.advanceTime(by: .milliseconds(1))
            let error = TLSError(kind: .timedOut, reason: "not complete after 5000 ms")
            #expect(end.application.seen == [.error(error), .inactive])
            #expect(throws: error) { try write.wait() }
        }
    }

    @Test("a peer that goes away during the handshake")
    func interrupted() throws {
        let pair = try MemoryPair()
        try pair.client.start()
        let write = pair.client.send("waiting")
        pair.client.wire.cut()
        let error = TLSError(kind: .handshakeInterrupted, reason: "the peer closed the connection")
        #expect(pair.client.application.seen == [.error(error), .inactive])
        #expect(throws: error) { try write.wait() }
    }
}

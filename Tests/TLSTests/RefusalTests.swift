import NIOCore
import NIOEmbedded
import TLS
import Testing
import TickertapeTesting

@Suite("TLS refusals")
struct RefusalTests {
    private func refused(_ words: String) throws -> [Seen] {
        [.error(try refusal(words)), .inactive]
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
        let seen = try HandshakeResult.refused(client: client, server: Certificates.server(credentials))
        #expect(try seen.client == self.refused("certificate has expired"))
        #expect(seen.server.contains(.error(self.alert("certificate expired"))))
    }

    @Test("a certificate that is not valid yet")
    func notYetValid() throws {
        let credentials = try Certificates.authority.issue(names: ["localhost"], notBefore: .seconds(3_600))
        let seen = try HandshakeResult.refused(server: Certificates.server(credentials))
        #expect(try seen.client == self.refused("certificate is not yet valid"))
        #expect(seen.server.contains(.error(self.alert("bad certificate"))))
    }

    @Test("a self-signed certificate")
    func selfSigned() throws {
        let credentials = try CertificateAuthority.selfSigned(names: ["localhost"])
        let seen = try HandshakeResult.refused(server: Certificates.server(credentials))
        #expect(try seen.client == self.refused("self-signed certificate (unknown CA)"))
        #expect(seen.server.contains(.error(self.alert("unknown CA"))))
    }

    @Test("a certificate of an authority that is not trusted")
    func untrusted() throws {
        let stranger = try CertificateAuthority(name: "Stranger")
        let seen = try HandshakeResult.refused(server: Certificates.server(stranger.issue(names: ["localhost"])))
        #expect(try seen.client == self.refused("unable to get local issuer certificate (unknown CA)"))
        #expect(seen.server.contains(.error(self.alert("unknown CA"))))
    }

    @Test("a certificate of an authority that has a trusted one's name but not its key")
    func impostor() throws {
        let stranger = try CertificateAuthority(name: "Tickertape Test Authority")
        let seen = try HandshakeResult.refused(server: Certificates.server(stranger.issue(names: ["localhost"])))
        #expect(try seen.client == self.refused("unable to get local issuer certificate (unknown CA)"))
    }

    @Test("a certificate for another name", arguments: ["example.com", "localhost.example.com", "ocalhost"])
    func wrongHost(host: String) throws {
        let seen = try HandshakeResult.refused(peer: .host(host))
        #expect(try seen.client == self.refused("hostname mismatch"))
        #expect(seen.server.contains(.error(self.alert("bad certificate"))))
    }

    @Test("a certificate for another address", arguments: ["127.0.0.2", "::2"])
    func wrongAddress(address: String) throws {
        let seen = try HandshakeResult.refused(peer: .address(address))
        #expect(try seen.client == self.refused("IP address mismatch"))
    }

    @Test("a name that stands only in the subject")
    func onlyInCommonName() throws {
        let credentials = try Certificates.authority.issue(names: [], commonName: "localhost")
        let seen = try HandshakeResult.refused(server: Certificates.server(credentials))
        #expect(try seen.client == self.refused("hostname mismatch"))
    }

    @Test("no protocol in common: both sides are told, by an alert", arguments: TLSVersion.allCases)
    func protocolMismatch(version: TLSVersion) throws {
        var client = Certificates.client()
        client.applicationProtocols = ["h2"]
        client.versions = version...version
        let seen = try HandshakeResult.refused(client: client)
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
        let seen = try HandshakeResult.refused(client: client, server: server)
        #expect(seen.words == ["no common TLS version: alert protocol version"])
        #expect(seen.server == [.error(TLSError(kind: .versionRefused, reason: "unsupported protocol")), .inactive])
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
        let error = TLSError(kind: .versionRefused, reason: "unsupported protocol")
        #expect(end.application.seen == [.error(error), .inactive])
        // The last two bytes of a fatal alert: protocol version.
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

    @Test("a peer that goes on with the handshake, but never to its end", arguments: TLSVersion.allCases)
    func endlessPeer(version: TLSVersion) throws {
        // A byte per second: each byte is progress, and none completes the handshake.
        let pair = try MemoryPair(client: Certificates.client().speaking(version))
        try pair.client.start()
        try pair.server.start()
        try pair.server.channel.writeInbound(pair.client.takeCiphertext())
        var answer = try pair.server.takeCiphertext()
        for _ in 0..<4 {
            let byte = answer.readSlice(length: 1)
            try pair.client.channel.writeInbound(#require(byte))
            pair.loop.advanceTime(by: .seconds(1))
            #expect(pair.client.application.seen.isEmpty)
        }
        pair.loop.advanceTime(by: .seconds(1))
        let error = try #require(pair.client.application.error)
        #expect("\(error)" == "TLS handshake timed out: not complete after 5000 ms")
        #expect(!pair.client.channel.isActive)
    }

    @Test("garbage in the middle of a handshake", arguments: TLSVersion.allCases)
    func garbledHandshake(version: TLSVersion) throws {
        let pair = try MemoryPair(client: Certificates.client().speaking(version))
        try pair.client.start()
        _ = try pair.client.takeCiphertext()
        // A handshake record with 16 KiB that are not a ServerHello.
        let record: [UInt8] = [22, 3, 3, 0x40, 0] + [UInt8](repeating: 0xAA, count: 0x4000)
        try pair.client.channel.writeInbound(ByteBuffer(bytes: record))
        let error = try #require(pair.client.application.error)
        #expect("\(error)" == "TLS failed: unexpected message")
        #expect(!pair.client.channel.isActive)
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

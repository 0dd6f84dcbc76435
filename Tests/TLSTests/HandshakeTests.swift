import NIOCore
import NIOEmbedded
import TLS
import Testing
import TickertapeTesting

@Suite("TLS handshake")
struct HandshakeTests {
    @Test("client and server agree and exchange bytes both ways", arguments: TLSVersion.allCases)
    func agrees(version: TLSVersion) throws {
        var client = Certificates.client()
        client.versions = version...version
        let pair = try MemoryPair(client: client)
        try pair.start()
        pair.client.send("question")
        try pair.settle()
        pair.server.send("answer")
        try pair.settle()
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .bytes("question")])
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .bytes("answer")])
        let session = try #require(pair.client.handler.session)
        #expect(session.version == version)
        #expect(session.applicationProtocol == "http/1.1")
        #expect(!session.isResumed)
        #expect(session.isPeerVerified)
        #expect(session.cipher.contains("AES") || session.cipher.contains("CHACHA"))
        #expect(pair.server.handler.session?.version == version)
        #expect(pair.server.handler.session?.isPeerVerified == false)
    }

    @Test("the server decides the version where only it is restricted")
    func serverRestricts() throws {
        var server = Certificates.server()
        server.versions = .tls12 ... .tls12
        let pair = try MemoryPair(server: server)
        try pair.start()
        #expect(pair.client.handler.session?.version == .tls12)
    }

    @Test(
        "names and addresses of the certificate are accepted",
        arguments: [
            "localhost", "LocalHost", "localhost.", "127.0.0.1", "::1", "[::1]",
        ]
    )
    func acceptsNames(text: String) throws {
        let pair = try MemoryPair(peer: TLSPeerName(text))
        try pair.start()
        #expect(pair.client.application.seen == [.handshake("http/1.1")])
    }

    @Test("an address given as a host is checked as an address")
    func addressAsHost() throws {
        let pair = try MemoryPair(peer: .host("127.0.0.1"))
        try pair.start()
        #expect(pair.client.application.error == nil)
        #expect(pair.client.handler.session != nil)
    }

    @Test("a wildcard stands for one whole label")
    func wildcard() throws {
        let credentials = try Certificates.authority.issue(names: ["*.example.com", "part*.example.org"])
        for (host, isGood) in [
            ("a.example.com", true), ("a.b.example.com", false), ("example.com", false), ("partial.example.org", false),
        ] {
            let pair = try MemoryPair(server: Certificates.server(credentials), peer: .host(host))
            try pair.start()
            #expect((pair.client.application.error == nil) == isGood, "\(host)")
        }
    }

    @Test("a chain through an authority between is followed")
    func intermediate() throws {
        let between = try Certificates.authority.subordinate(name: "Between")
        let pair = try MemoryPair(server: Certificates.server(between.issue(names: ["localhost"])))
        try pair.start()
        #expect(pair.client.application.seen == [.handshake("http/1.1")])
    }

    @Test("SNI carries a host name and never an address")
    func serverName() throws {
        for (peer, isSent) in [(TLSPeerName.host("localhost"), true), (.address("127.0.0.1"), false)] {
            let end = try End(TLSContext(client: Certificates.client()), peer: peer, loop: EmbeddedEventLoop())
            try end.start()
            let hello = try end.takeCiphertext()
            let text = Array((peer == .host("localhost") ? "localhost" : "127.0.0.1").utf8)
            let isFound = hello.readableBytesView.indices.contains { start in
                hello.readableBytesView[start...].starts(with: text)
            }
            #expect(isFound == isSent)
        }
    }

    @Test("writes before the handshake wait for it, in order")
    func earlyWrites() throws {
        let pair = try MemoryPair()
        try pair.client.start()
        let first = pair.client.send("one ")
        let second = pair.client.channel.write(ByteBuffer(string: "two "))
        let third = pair.client.channel.write(ByteBuffer(string: "three"))
        #expect(pair.client.handler.pendingBytes == 13)
        try pair.server.start()
        try pair.settle()
        try first.wait()
        #expect(pair.server.application.received == "one ")
        pair.client.channel.flush()
        try pair.settle()
        try second.wait()
        try third.wait()
        #expect(pair.server.application.received == "one two three")
        #expect(pair.client.handler.pendingBytes == 0)
    }

    @Test("a handler added to a connected channel starts at once")
    func addedLate() throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let handler = try TLSHandler(context: TLSContext(client: Certificates.client()), peer: .host("localhost"))
        try channel.pipeline.syncOperations.addHandler(handler)
        #expect(try channel.readOutbound(as: ByteBuffer.self) != nil)
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    @Test("the handshake reads by itself on a channel that does not")
    func readsForItself() throws {
        let pair = try MemoryPair()
        try pair.client.start()
        #expect(pair.client.wire.reads == 1)
        try pair.server.start()
        try pair.settle()
        #expect(pair.client.wire.reads >= 1)
        #expect(pair.client.handler.session != nil)
    }

    @Test("a certificate is not asked for where checking is off, and the session says so")
    func unverified() throws {
        var client = TLSClientConfiguration()
        client.verification = .disabled
        let pair = try MemoryPair(client: client, peer: .host("anything.example"))
        try pair.start()
        #expect(pair.client.handler.session?.isPeerVerified == false)
    }

    @Test("the server takes a client that offers no protocol, the client a server that knows none")
    func withoutProtocols() throws {
        var client = Certificates.client()
        client.applicationProtocols = []
        let silent = try MemoryPair(client: client)
        try silent.start()
        #expect(silent.server.application.seen == [.handshake(nil)])

        var server = Certificates.server()
        server.applicationProtocols = []
        let plain = try MemoryPair(server: server)
        try plain.start()
        #expect(plain.client.application.seen == [.handshake(nil)])
    }

    @Test("the server's preference among the protocols wins")
    func protocolPreference() throws {
        var client = Certificates.client()
        client.applicationProtocols = ["h2", "http/1.1", "x"]
        var server = Certificates.server()
        server.applicationProtocols = ["x", "http/1.1"]
        let pair = try MemoryPair(client: client, server: server)
        try pair.start()
        #expect(pair.client.application.seen == [.handshake("x")])
    }
}

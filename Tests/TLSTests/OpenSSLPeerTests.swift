import NIOCore
import TLS
import Testing
import TickertapeTesting

@Suite("TLS with the openssl command as the peer")
struct OpenSSLPeerTests {
    private func flag(_ version: TLSVersion) -> String {
        switch version {
        case .tls12: "-tls1_2"
        case .tls13: "-tls1_3"
        }
    }

    // MARK: openssl s_server

    @Test("our client exchanges lines with s_server, closes cleanly and resumes", arguments: TLSVersion.allCases)
    func client(version: TLSVersion) throws {
        let context = try TLSContext(client: Certificates.client())
        try OpenSSLServer.run([self.flag(version), "-alpn", "http/1.1"]) { server, port in
            for isResumed in [false, true] {
                let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
                let session = try end.handshake.wait()
                #expect(session.version == version)
                #expect(session.isResumed == isResumed)
                #expect(session.applicationProtocol == "http/1.1")
                try end.channel.writeAndFlush(ByteBuffer(string: "ticker\n")).wait()
                #expect(try end.line.wait() == "rekcit\n")
                try end.channel.close().wait()
                #expect(try end.ended.wait().errors.isEmpty)
            }
        }
    }

    @Test("s_server's close_notify is a clean end, its death is a truncation", arguments: TLSVersion.allCases)
    func ends(version: TLSVersion) throws {
        let context = try TLSContext(client: Certificates.client())
        try OpenSSLServer.run([self.flag(version)]) { server, port in
            let clean = try LoopbackEnd.connect(port: port, context: context, peer: .address("127.0.0.1"))
            _ = try clean.handshake.wait()
            // The line on which s_server closes.
            try clean.channel.writeAndFlush(ByteBuffer(string: "CLOSE\n")).wait()
            let outcome = try clean.ended.wait()
            #expect(outcome.errors.isEmpty)
            #expect(outcome.sawShutdown)

            let cut = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            try cut.channel.writeAndFlush(ByteBuffer(string: "ticker\n")).wait()
            _ = try cut.line.wait()
            server.kill()
            #expect(try cut.ended.wait().errors.map(\.kind) == [.truncated])
        }
    }

    @Test("our client refuses s_server's expired certificate, and s_server hears why", arguments: TLSVersion.allCases)
    func refusesServer(version: TLSVersion) throws {
        let expired = try Certificates.authority.issue(
            names: ["localhost"],
            notBefore: .seconds(-7_200),
            notAfter: .seconds(-3_600)
        )
        let stranger = try CertificateAuthority(name: "Stranger").issue(names: ["localhost"])
        let itself = try CertificateAuthority.selfSigned(names: ["localhost"])
        let context = try TLSContext(client: Certificates.client())
        for (credentials, peer, reason, alert) in [
            (expired, "localhost", "certificate has expired", "certificate expired"),
            (stranger, "localhost", "unable to get local issuer certificate (unknown CA)", "unknown ca"),
            (itself, "localhost", "self-signed certificate (unknown CA)", "unknown ca"),
            (Certificates.localhost, "example.com", "hostname mismatch", "bad certificate"),
        ] {
            try OpenSSLServer.run(presenting: credentials, [self.flag(version)]) { server, port in
                let end = try LoopbackEnd.connect(port: port, context: context, peer: .host(peer))
                let error = try refusal(reason)
                #expect(throws: error) { try end.handshake.wait() }
                let errors = try end.ended.wait().errors
                #expect(errors == [error])
                try server.wait(for: alert)
            }
        }
    }

    @Test("our client refuses an s_server of TLS 1.0 or 1.1", arguments: ["-tls1", "-tls1_1"])
    func refusesOldServer(version: String) throws {
        let context = try TLSContext(client: Certificates.client())
        try OpenSSLServer.run([version, "-cipher", "ALL:@SECLEVEL=0"]) { _, port in
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            let errors = try end.ended.wait().errors
            #expect(errors == [TLSError(kind: .versionRefused, reason: "alert protocol version")])
        }
    }

    @Test("our client and an s_server with no protocol in common part with the alert")
    func protocolMismatch() throws {
        let context = try TLSContext(client: Certificates.client())
        try OpenSSLServer.run(["-alpn", "h2"]) { _, port in
            let end = try LoopbackEnd.connect(port: port, context: context, peer: .host("localhost"))
            #expect(try end.ended.wait().errors.map(\.kind) == [.noApplicationProtocol])
        }
    }

    // MARK: openssl s_client

    /// Runs `openssl s_client` against our echo server; by default it trusts our authority.
    private func withClient<Result>(
        presenting credentials: TLSCredentials = Certificates.localhost,
        trusting authority: CertificateAuthority = Certificates.authority,
        _ arguments: [String],
        _ body: (OpenSSLCommand, LoopbackEnd) throws -> Result
    ) throws -> Result {
        let directory = try TemporaryFolder()
        defer { directory.remove() }
        let file = try directory.write(authority.certificatePEM, to: "authority.pem")
        let (server, first) = try LoopbackEnd.listen(context: TLSContext(server: Certificates.server(credentials)))
        defer { server.close(promise: nil) }
        let port = try #require(server.localAddress?.port)
        let client = try OpenSSLCommand(
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", file, "-verify_return_error",
                "-servername", "localhost", "-verify_hostname", "localhost",
            ] + arguments
        )
        return try body(client, first.wait())
    }

    @Test("s_client exchanges lines with our server and closes cleanly", arguments: TLSVersion.allCases)
    func server(version: TLSVersion) throws {
        try self.withClient([self.flag(version), "-alpn", "http/1.1"]) { client, end in
            #expect(try end.handshake.wait().version == version)
            #expect(try end.handshake.wait().applicationProtocol == "http/1.1")
            try client.send("ticker\n")
            #expect(try end.line.wait() == "ticker\n")
            try client.wait(for: "Verify return code: 0 (ok)")
            try client.send("Q\n")
            let outcome = try end.ended.wait()
            #expect(outcome.errors.isEmpty)
            #expect(outcome.sawShutdown)
            #expect(try client.finish().contains("ALPN protocol: http/1.1"))
        }
    }

    @Test("our server's close is a clean end for s_client", arguments: TLSVersion.allCases)
    func serverCloses(version: TLSVersion) throws {
        try self.withClient([self.flag(version)]) { client, end in
            try client.send("ticker\n")
            _ = try end.line.wait()
            try end.channel.close().wait()
            let text = try client.finish()
            #expect(text.contains("closed"))
            #expect(!text.contains("unexpected eof"), "\(text)")
            #expect(try end.ended.wait().errors.isEmpty)
        }
    }

    @Test("s_client refuses our server's bad certificates, and our server hears why", arguments: TLSVersion.allCases)
    func clientRefuses(version: TLSVersion) throws {
        let stranger = try CertificateAuthority(name: "Stranger")
        try self.withClient(trusting: stranger, [self.flag(version)]) { client, end in
            #expect(try client.finish().contains("unable to get local issuer certificate"))
            let errors = try end.ended.wait().errors
            #expect(errors == [TLSError(kind: .alertReceived, reason: "alert unknown CA")])
        }
        let expired = try Certificates.authority.issue(
            names: ["localhost"],
            notBefore: .seconds(-7_200),
            notAfter: .seconds(-3_600)
        )
        try self.withClient(presenting: expired, [self.flag(version)]) { client, end in
            #expect(try client.finish().contains("certificate has expired"))
            let errors = try end.ended.wait().errors
            #expect(errors == [TLSError(kind: .alertReceived, reason: "alert certificate expired")])
        }
    }

    @Test("our server refuses an s_client of TLS 1.0 or 1.1", arguments: ["-tls1", "-tls1_1"])
    func refusesOldClient(version: String) throws {
        try self.withClient([version, "-cipher", "ALL:@SECLEVEL=0"]) { client, end in
            let error = TLSError(kind: .versionRefused, reason: "unsupported protocol")
            let errors = try end.ended.wait().errors
            #expect(errors == [error])
            #expect(try client.finish().contains("protocol version"))
        }
    }

    @Test("new keys that s_client asks for are made, and the stream goes on")
    func keyUpdate() throws {
        try self.withClient(["-tls1_3"]) { client, end in
            try client.send("before\n")
            #expect(try end.line.wait() == "before\n")
            // The letter on which s_client updates its keys and requests the same from us.
            try client.send("K\n")
            try client.wait(for: "KEYUPDATE")
            try client.send("after\n")
            try client.wait(for: "after")
            try client.send("Q\n")
            let outcome = try end.ended.wait()
            #expect(outcome.errors.isEmpty)
            #expect(outcome.received == "before\nafter\n")
        }
    }

    @Test("s_client may not renegotiate")
    func renegotiation() throws {
        try self.withClient(["-tls1_2"]) { client, end in
            try client.send("before\n")
            #expect(try end.line.wait() == "before\n")
            // The echo must not cross the handshake, or s_client reports another reason.
            try client.wait(for: "before\n")
            // The letter on which s_client renegotiates.
            try client.send("R\n")
            #expect(try client.finish().contains("no renegotiation"))
            #expect(try end.ended.wait().received == "before\n")
        }
    }

    @Test("s_client resumes a session of our server", arguments: TLSVersion.allCases)
    func serverResumes(version: TLSVersion) throws {
        let directory = try TemporaryFolder()
        defer { directory.remove() }
        let file = try directory.write(Certificates.authority.certificatePEM, to: "authority.pem")
        let session = "\(directory.path)/session.pem"
        let context = try TLSContext(server: Certificates.server())
        for isResumed in [false, true] {
            let (server, first) = try LoopbackEnd.listen(context: context)
            defer { server.close(promise: nil) }
            let port = try #require(server.localAddress?.port)
            let client = try OpenSSLCommand(
                [
                    "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", file, "-verify_return_error",
                    self.flag(version), isResumed ? "-sess_in" : "-sess_out", session,
                ]
            )
            let end = try first.wait()
            #expect(try end.handshake.wait().isResumed == isResumed)
            try client.send("ticker\n")
            _ = try end.line.wait()
            try client.wait(for: "ticker\n")
            try client.send("Q\n")
            #expect(try client.finish().contains(isResumed ? "Reused, TLS" : "New, TLS"))
        }
    }
}

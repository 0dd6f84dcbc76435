import Testing
@testable import HTTP

@Suite("Loopback hosts")
struct LoopbackHostTests {
    @Test("only this machine's names and addresses are loopback")
    func loopback() {
        for host in [
            "localhost", "LOCALHOST", "127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "0::1", "::0.0.0.1",
            "0000:0000:0000:0000:0000:0000:0000:0001",
        ] {
            #expect(LoopbackHost.contains(host), "\(host)")
        }
        for host in [
            "0.0.0.0", "::", "127.1", "127.0.0.1.evil.example", "localhost.evil.example", "128.0.0.1", "0127.0.0.1",
            "127.0.0.256", "127.0.0.01", "127.0.0.", "", "10.0.0.1", "::ffff:8.8.8.8", "[::1]", "::127.0.0.1",
            "0:0:0:0:0:0:0:2", "1::1", "127::", "0x7f.0.0.1",
        ] {
            #expect(!LoopbackHost.contains(host), "\(host)")
        }
    }
}

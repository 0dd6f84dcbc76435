import Logging
import NIOCore
import NIOEmbedded
import Testing
@testable import HTTP
@testable import Relay

@Suite("The places of one address")
struct AddressLimitTests {
    private let bench: HubBench
    private let listener: RelayListener

    init() {
        self.bench = HubBench { $0.maximumClientsPerAddress = 3 }
        self.listener = RelayListener(
            hub: self.bench.hub,
            connectionTable: ConnectionTable(loop: self.bench.loop, heap: HeapTrim(loop: self.bench.loop) {}),
            router: AnswerBench.router,
            answers: AnswerMemory(),
            tls: nil,
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    /// Opens a connection from another machine; returns it with the answer that it gets without a request.
    private func connect(from address: String) throws -> (channel: EmbeddedChannel, answer: String) {
        let channel = EmbeddedChannel(loop: self.bench.loop)
        let remote = try SocketAddress(ipAddress: address, port: 50_000)
        channel.remoteAddress = remote
        channel.localAddress = try SocketAddress(ipAddress: "192.0.2.1", port: 8_080)
        try self.listener.setUp(channel)
        try channel.connect(to: remote).wait()
        var answer = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { answer += String(buffer: part) }
        return (channel, answer)
    }

    @Test("connections up to the limit are accepted, as many more refused, and the rest closed without an answer")
    func limits() throws {
        var inside: [EmbeddedChannel] = []
        for _ in 0..<3 {
            let connection = try self.connect(from: "192.0.2.7")
            #expect(connection.answer.isEmpty)
            inside.append(connection.channel)
        }
        var refused: [EmbeddedChannel] = []
        for _ in 0..<3 {
            let connection = try self.connect(from: "192.0.2.7")
            #expect(connection.answer.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"), "\(connection.answer)")
            #expect(connection.answer.contains("\r\nRetry-After: 10\r\n"))
            #expect(connection.answer.contains("\r\n\r\n{\"type\":\"too-many-from-address\","))
            #expect(connection.answer.hasSuffix("}\n"))
            refused.append(connection.channel)
        }
        for _ in 0..<20 { #expect(throws: HTTPRefusal.tooManyFromAddress) { try self.connect(from: "192.0.2.7") } }
        // This limits no other address, and this machine has no such limit.
        #expect(try self.connect(from: "192.0.2.8").answer.isEmpty)
        for _ in 0..<20 { #expect(try self.connect(from: "192.0.2.1").answer.isEmpty) }
        // A place is free again when its connection is gone, including one that was refused and lingers.
        self.bench.loop.advanceTime(by: Lingering.quiet)
        #expect(refused.allSatisfy { !$0.isActive })
        #expect(try self.connect(from: "192.0.2.7").answer.hasPrefix("HTTP/1.1 429 "))
        self.bench.loop.advanceTime(by: Lingering.quiet)
        inside[0].close(promise: nil)
        self.bench.loop.run()
        #expect(try self.connect(from: "192.0.2.7").answer.isEmpty)
        self.bench.stop()
    }

    @Test("of version 6 a whole network is one address, and the usual number is 64")
    func networks() throws {
        for host in 1...3 { #expect(try self.connect(from: "2001:db8:0:1::\(host)").answer.isEmpty) }
        #expect(try self.connect(from: "2001:db8:0:1:ffff::9").answer.hasPrefix("HTTP/1.1 429 "))
        #expect(try self.connect(from: "2001:db8:0:2::1").answer.isEmpty)
        #expect(RelaySettings().maximumClientsPerAddress == 64)
        self.bench.stop()
    }
}

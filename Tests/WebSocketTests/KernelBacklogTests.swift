import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

/// Tests with a peer for which bytes wait in the kernel and none in the channel; the test sets what the kernel reports.
@Suite("The keepalive behind what waits in the kernel")
struct KernelBacklogTests {
    /// Returns a server's connection that pings after 20 s, and the kernel's report about its peer.
    private static func connect() throws -> (Connection, Kernel) {
        let connection = try Connection(.server)
        let kernel = Kernel()
        let pipeline = connection.channel.pipeline.syncOperations
        try pipeline.handler(type: WebSocketHandler.self).below = { kernel.sendProgress }
        return (connection, kernel)
    }

    @Test("while the peer takes what waits in the kernel its pong may take longer than the limit")
    func waits() throws {
        let (connection, kernel) = try Self.connect()
        kernel.sendProgress = TransportProgress(waiting: 30_000, taken: 70_000)
        connection.advance(.seconds(20))
        #expect(try connection.sentFrames().map(\.first) == [0x89])
        for _ in 0..<25 {
            connection.advance(.seconds(2))
            kernel.sendProgress = TransportProgress(
                waiting: kernel.sendProgress.waiting - 1_000,
                taken: 1_000 + kernel.taken
            )
        }
        #expect(connection.closure == nil, "fifty seconds behind the ping")
        try connection.receive(Frame.pong())
        connection.advance(.seconds(10))
        #expect(try connection.sentFrames().map(\.first) == [0x89])
    }

    @Test("a peer that takes as much as comes for it is slow too, and is waited for")
    func waitsForSteady() throws {
        let (connection, kernel) = try Self.connect()
        kernel.sendProgress = TransportProgress(waiting: 30_000, taken: 0)
        for _ in 0..<40 {
            connection.advance(.seconds(2))
            kernel.sendProgress.taken = 1_000 + kernel.taken
        }
        #expect(connection.closure == nil)
    }

    @Test("one that takes nothing is ended in time, however much waits")
    func endsHalfOpen() throws {
        for waiting in [0, 1, 30_000] {
            let (connection, kernel) = try Self.connect()
            kernel.sendProgress = TransportProgress(waiting: waiting, taken: 70_000)
            connection.advance(.seconds(29))
            #expect(connection.closure == nil)
            connection.advance(.seconds(1))
            #expect(connection.closure?.cause == .pongTimeout)
        }
    }

    @Test("one that goes away while it takes something is ended within the interval, the pong's limit, and that again")
    func endsInterrupted() throws {
        let (connection, kernel) = try Self.connect()
        kernel.sendProgress = TransportProgress(waiting: 30_000, taken: 70_000)
        connection.advance(.seconds(29))
        kernel.sendProgress = TransportProgress(waiting: 20_000, taken: 80_000)
        connection.advance(.seconds(10))
        #expect(connection.closure == nil)
        connection.advance(.seconds(1))
        #expect(connection.closure?.cause == .pongTimeout)
    }

    @Test("one for which nothing waits is no slow one, whatever it takes: without a pong it is ended in time")
    func endsWhoKeepsUp() throws {
        let (connection, kernel) = try Self.connect()
        for _ in 0..<30 {
            connection.advance(.seconds(1))
            kernel.sendProgress = TransportProgress(waiting: 0, taken: 1_000 + kernel.taken)
        }
        #expect(connection.closure?.cause == .pongTimeout)
    }
}

/// The report of a kernel.
private final class Kernel {
    var sendProgress = TransportProgress(waiting: 0, taken: 0)
    var taken: Int { self.sendProgress.taken ?? 0 }
}

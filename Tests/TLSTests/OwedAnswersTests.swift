import COpenSSL
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import TLS

/// Tests with a peer that sends messages which require an answer, and reads none of the answers.
@Suite("What a peer makes TLS owe")
struct OwedAnswersTests {
    /// Returns a client and a server that are connected with TLS 1.3.
    private func pair() throws -> MemoryPair {
        let pair = try MemoryPair()
        try pair.start()
        try #require(pair.server.handler.session?.version == .tls13)
        return pair
    }

    /// Returns the ciphertext of `count` KeyUpdates that require an answer (RFC 8446, 4.6.3), and of a line behind
    /// them.
    private func keyUpdates(_ count: Int, from pair: MemoryPair) throws -> ByteBuffer {
        let connection = try #require(pair.client.handler.connection)
        for _ in 0..<count {
            try #require(SSL_key_update(connection.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
            try #require(SSL_do_handshake(connection.ssl) == 1)
        }
        pair.client.handler.sendOutput(promise: nil)
        pair.client.send("behind")
        return try pair.client.takeCiphertext()
    }

    /// Requests a read on an end's channel; returns whether the request reaches the socket.
    private func isReading(_ end: End) -> Bool {
        let before = end.wire.reads
        end.channel.read()
        return end.wire.reads > before
    }

    @Test("a flood of KeyUpdate whose answers are not read is read no further, and on when they are")
    func boundsKeyUpdates() throws {
        let pair = try self.pair()
        pair.server.wire.isFull = true
        var flood = try self.keyUpdates(2_000, from: pair)
        while self.isReading(pair.server), let piece = flood.readSlice(length: min(512, flood.readableBytes)) {
            try pair.server.channel.writeInbound(piece)
        }
        #expect(flood.readableBytes > 40_000, "the rest is the socket's, which is not read")
        #expect(pair.server.handler.owedBytes == pair.server.wire.waitingBytes)
        // One read may exceed the limit.
        #expect(pair.server.wire.waitingBytes <= TLSHandler.maximumOwedBytes + 512)
        #expect(pair.server.application.received.isEmpty)
        let reads = pair.server.wire.reads
        pair.server.wire.drain()
        #expect(pair.server.wire.reads > reads, "the read that was held")
        #expect(pair.server.handler.owedBytes == 0)
        try pair.server.channel.writeInbound(flood)
        #expect(pair.server.application.received == "behind")
        // Both sides use the newest keys.
        try pair.settle()
        pair.server.send("answer")
        try pair.settle()
        #expect(pair.client.application.received == "answer")
    }

    @Test("what came before the stop is read when it ends, without a further read")
    func readsRest() throws {
        let pair = try self.pair()
        pair.server.wire.isFull = true
        let flood = try self.keyUpdates(400, from: pair)
        // More at once than may be owed. A read is not split, so the answers to one read may exceed the limit.
        let first = try #require(flood.getSlice(at: flood.readerIndex, length: flood.readableBytes - 10))
        try pair.server.channel.writeInbound(first)
        let last = try #require(flood.getSlice(at: flood.writerIndex - 10, length: 10))
        try pair.server.channel.writeInbound(last)
        #expect(pair.server.application.received.isEmpty)
        pair.server.wire.drain()
        #expect(pair.server.application.received == "behind")
    }

    @Test("a backlog of trades stops no reading")
    func readsBehindBacklog() throws {
        let pair = try self.pair()
        pair.server.wire.isFull = true
        pair.server.send(String(repeating: "trades ", count: 100_000))
        #expect(self.isReading(pair.server))
        pair.client.send("unsubscribe")
        try pair.server.channel.writeInbound(try pair.client.takeCiphertext())
        #expect(pair.server.application.received == "unsubscribe")
        #expect(self.isReading(pair.server))
    }

    @Test("a connection that is not read any more is closed all the same, at the limit of its close")
    func closes() throws {
        let pair = try self.pair()
        pair.server.wire.isFull = true
        try pair.server.channel.writeInbound(try self.keyUpdates(1_000, from: pair))
        #expect(!self.isReading(pair.server))
        pair.server.channel.close(promise: nil)
        #expect(pair.server.channel.isActive)
        pair.loop.advanceTime(by: .seconds(1))
        #expect(!pair.server.channel.isActive)
    }
}

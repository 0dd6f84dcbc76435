import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import TLS

@Suite("TLS stream")
struct StreamTests {
    private func connected(
        client: TLSClientConfiguration = Certificates.client(),
        server: TLSServerConfiguration = Certificates.server()
    ) throws -> MemoryPair {
        let pair = try MemoryPair(client: client, server: server)
        try pair.start()
        return pair
    }

    @Test("ciphertext may be cut anywhere", arguments: TLSVersion.allCases)
    func everySplit(version: TLSVersion) throws {
        var client = Certificates.client()
        client.versions = version...version
        let pair = try MemoryPair(client: client)
        try pair.client.start()
        try pair.server.start()
        pair.client.send(String(repeating: "a", count: 100))
        try pair.settle(pieces: 1)
        pair.server.send("b")
        try pair.settle(pieces: 1)
        pair.client.channel.close(promise: nil)
        try pair.settle(pieces: 1)
        let sent = String(repeating: "a", count: 100)
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .bytes(sent), .shutdown, .inactive])
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .bytes("b"), .shutdown, .inactive])
    }

    @Test("one record cut in two at every place arrives whole")
    func everyPlace() throws {
        let pair = try self.connected()
        for place in 1..<60 {
            pair.client.send("price \(place)")
            let ciphertext = try pair.client.takeCiphertext()
            let cut = min(place, ciphertext.readableBytes - 1)
            let first = try #require(ciphertext.getSlice(at: 0, length: cut))
            let second = try #require(ciphertext.getSlice(at: cut, length: ciphertext.readableBytes - cut))
            pair.server.application.seen = []
            try pair.server.channel.writeInbound(first)
            #expect(pair.server.application.seen.isEmpty)
            try pair.server.channel.writeInbound(second)
            #expect(pair.server.application.seen == [.bytes("price \(place)")])
        }
    }

    @Test(
        "a close says close_notify, waits for the peer's, and is a clean end for both",
        arguments: TLSVersion.allCases
    )
    func cleanClose(version: TLSVersion) throws {
        var client = Certificates.client()
        client.versions = version...version
        let pair = try self.connected(client: client)
        pair.server.send("last words")
        let closed = pair.server.channel.close()
        #expect(pair.server.channel.isActive)
        try pair.settle()
        try closed.wait()
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .shutdown, .inactive])
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .bytes("last words"), .shutdown, .inactive])
    }

    @Test("a stream cut without close_notify is an error, behind the bytes that came", arguments: TLSVersion.allCases)
    func truncated(version: TLSVersion) throws {
        var client = Certificates.client()
        client.versions = version...version
        let pair = try self.connected(client: client)
        pair.server.send("half a pri")
        try pair.settle()
        pair.client.wire.cut()
        let error = TLSError(kind: .truncated, reason: "the peer closed the connection without close_notify")
        #expect(
            pair.client.application.seen == [.handshake("http/1.1"), .bytes("half a pri"), .error(error), .inactive]
        )
    }

    @Test("a stream cut in the middle of a record is an error")
    func truncatedRecord() throws {
        let pair = try self.connected()
        pair.server.send("price")
        let ciphertext = try pair.server.takeCiphertext()
        try pair.client.channel.writeInbound(ciphertext.getSlice(at: 0, length: ciphertext.readableBytes - 3))
        pair.client.wire.cut()
        #expect(pair.client.application.error?.kind == .truncated)
        #expect(pair.client.application.received.isEmpty)
    }

    @Test("a changed byte ends the connection and never reaches the application")
    func changed() throws {
        let pair = try self.connected()
        pair.server.send("price")
        var ciphertext = try pair.server.takeCiphertext()
        let place = ciphertext.writerIndex - 2
        let byte = try #require(ciphertext.getInteger(at: place, as: UInt8.self))
        ciphertext.setInteger(byte ^ 1, at: place)
        try pair.client.channel.writeInbound(ciphertext)
        #expect(pair.client.application.error?.kind == .protocolViolation)
        #expect(pair.client.application.received.isEmpty)
        #expect(!pair.client.channel.isActive)
        // The server receives an alert.
        try pair.settle()
        #expect(pair.server.application.error == TLSError(kind: .alertReceived, reason: "alert bad record mac"))
    }

    @Test("small writes before one flush leave in one record, large ones in several")
    func coalesced() throws {
        let pair = try self.connected()
        for _ in 0..<50 { pair.client.channel.write(ByteBuffer(repeating: 65, count: 200), promise: nil) }
        pair.client.channel.flush()
        let small = try pair.client.takeCiphertext()
        #expect(small.readableBytes == 10_000 + 22)
        try pair.server.channel.writeInbound(small)
        #expect(pair.server.application.received.utf8.count == 10_000)
        #expect(pair.server.application.reads == 1)

        pair.server.application.seen = []
        let sizes = [0, 1, 16_383, 16_384, 16_385, 5, 100_000, 0, 7]
        var expected = 0
        let written = sizes.map { size in
            expected += size
            return pair.client.channel.write(ByteBuffer(repeating: 66, count: size))
        }
        #expect(pair.client.handler.pendingBytes == expected)
        pair.client.channel.flush()
        try pair.settle()
        for write in written { try write.wait() }
        #expect(pair.server.application.received == String(repeating: "B", count: expected))
        #expect(pair.client.handler.pendingBytes == 0)
    }

    @Test("what is not flushed does not leave, and fails when the channel closes")
    func unflushed() throws {
        let pair = try self.connected()
        let unflushed = pair.client.channel.write(ByteBuffer(string: "kept"))
        #expect(try pair.client.takeCiphertext().readableBytes == 0)
        pair.client.channel.close(promise: nil)
        #expect(throws: ChannelError.ioOnClosedChannel) { try unflushed.wait() }
        #expect(throws: ChannelError.ioOnClosedChannel) { try pair.client.send("too late").wait() }
        try pair.settle()
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .shutdown, .inactive])
    }

    @Test("an unwritable channel holds plaintext back, a close still sends it")
    func writability() throws {
        let pair = try self.connected()
        pair.client.channel.isWritable = false
        let write = pair.client.send("held")
        #expect(try pair.client.takeCiphertext().readableBytes == 0)
        pair.client.channel.close(promise: nil)
        #expect(try pair.client.takeCiphertext().readableBytes == 0)
        pair.client.channel.isWritable = true
        pair.client.channel.pipeline.fireChannelWritabilityChanged()
        try pair.settle()
        try write.wait()
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .bytes("held"), .shutdown, .inactive])
    }

    @Test("a peer that never says close_notify is waited for only so long")
    func closeDeadline() throws {
        let pair = try self.connected()
        let closed = pair.client.channel.close()
        pair.loop.advanceTime(by: .milliseconds(999))
        #expect(pair.client.channel.isActive)
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(!pair.client.channel.isActive)
        try closed.wait()
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .inactive])
    }

    @Test("a peer that cuts instead of answering our close_notify is no error")
    func closeAnsweredByCut() throws {
        let pair = try self.connected()
        let closed = pair.client.channel.close()
        pair.client.wire.cut()
        try closed.wait()
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .inactive])
    }

    @Test("closing during the handshake closes at once and fails what was written")
    func closeEarly() throws {
        let pair = try MemoryPair()
        try pair.client.start()
        let write = pair.client.send("never")
        try pair.client.channel.close().wait()
        #expect(throws: ChannelError.ioOnClosedChannel) { try write.wait() }
        #expect(pair.client.application.seen == [.inactive])
    }

    @Test("closing the output leaves the input open")
    func halfClose() throws {
        let pair = try self.connected()
        try pair.server.channel.setOption(.allowRemoteHalfClosure, value: true).wait()
        pair.client.send("request")
        let closed = pair.client.channel.close(mode: .output)
        try pair.settle()
        try closed.wait()
        #expect(pair.client.wire.outputCloses == 1)
        #expect(throws: ChannelError.outputClosed) { try pair.client.send("more").wait() }
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .bytes("request"), .inputClosed])
        pair.server.send("response")
        try pair.settle()
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .bytes("response")])
        try pair.server.channel.close().wait()
        try pair.settle()
        #expect(pair.client.application.seen.suffix(2) == [.shutdown, .inactive])
        #expect(pair.client.application.error == nil)
        #expect(pair.server.application.error == nil)
    }

    @Test("the input cannot be closed on its own")
    func inputClose() throws {
        let pair = try self.connected()
        #expect(throws: ChannelError.operationUnsupported) { try pair.client.channel.close(mode: .input).wait() }
        #expect(pair.client.channel.isActive)
    }

    @Test("a read that brought no plaintext is asked for again")
    func readAgain() throws {
        let pair = try self.connected()
        pair.client.channel.read()
        pair.server.send("price")
        let ciphertext = try pair.server.takeCiphertext()
        let before = pair.client.wire.reads
        try pair.client.channel.writeInbound(ciphertext.getSlice(at: 0, length: 10))
        #expect(pair.client.wire.reads == before + 1)
        try pair.client.channel.writeInbound(ciphertext.getSlice(at: 10, length: ciphertext.readableBytes - 10))
        #expect(pair.client.wire.reads == before + 1)
        #expect(pair.client.application.received == "price")
    }

    @Test("an application that closes in the middle of a read gets no more of it")
    func closeInRead() throws {
        let pair = try self.connected()
        pair.client.application.onRead = { context, _ in context.close(promise: nil) }
        pair.server.send("one")
        let first = try pair.server.takeCiphertext()
        pair.server.send("two")
        let second = try pair.server.takeCiphertext()
        try pair.client.channel.writeInbound(first)
        try pair.client.channel.writeInbound(second)
        try pair.settle()
        #expect(pair.client.application.seen == [.handshake("http/1.1"), .bytes("one"), .shutdown, .inactive])
        #expect(pair.server.application.seen == [.handshake("http/1.1"), .shutdown, .inactive])
    }

    @Test("a read inside a read, with an answer to each")
    func nestedRead() throws {
        let pair = try self.connected()
        pair.server.send("first")
        let first = try pair.server.takeCiphertext()
        pair.server.send(", second")
        let second = try pair.server.takeCiphertext()
        var isNested = false
        pair.client.application.onRead = { [channel = pair.client.channel] context, buffer in
            context.writeAndFlush(NIOAny(buffer), promise: nil)
            guard !isNested else { return }
            isNested = true
            #expect(throws: Never.self) { try channel.writeInbound(second) }
        }
        try pair.client.channel.writeInbound(first)
        try pair.settle()
        #expect(pair.client.application.received == "first, second")
        #expect(pair.server.application.received == "first, second")
    }

    @Test("the handler may be removed in the middle of a burst")
    func removedInRead() throws {
        let pair = try self.connected()
        pair.client.application.onRead = { [handler = pair.client.handler] context, _ in
            context.pipeline.syncOperations.removeHandler(handler, promise: nil)
        }
        let unsent = pair.client.channel.write(ByteBuffer(string: "unsent"))
        pair.server.send(String(repeating: "x", count: 400_000))
        try pair.settle()
        #expect(pair.client.application.received.utf8.count >= TLSHandler.deliveryBytes)
        #expect(throws: ChannelError.ioOnClosedChannel) { try unsent.wait() }
    }

    @Test("a whole burst is passed on as one read")
    func bursts() throws {
        let pair = try self.connected()
        for number in 0..<20 { pair.server.send("\(number) ") }
        let before = pair.client.application.readCompletes
        try pair.client.channel.writeInbound(pair.server.takeCiphertext())
        #expect(pair.client.application.reads == 1)
        #expect(pair.client.application.readCompletes == before + 1)
        #expect(pair.client.application.received.hasSuffix("18 19 "))
    }
}

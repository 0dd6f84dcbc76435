import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
@testable import WebSocket

/// A client's opening handshake on an embedded channel.
private final class Upgrade {
    let channel = EmbeddedChannel()
    let witness = Witness()
    var result: Result<Void, any Error>?

    init(
        connected: Bool = true,
        endsAtOnce: Bool = false,
        _ change: (inout WebSocketClientRequest) -> Void = { _ in }
    ) throws {
        if connected { try self.connect() }
        var request = WebSocketClientRequest(host: "example.org", target: "/?token=secret")
        change(&request)
        let witness = NIOLoopBound(self.witness, eventLoop: self.channel.embeddedEventLoop)
        self.channel.upgradeToWebSocket(request, settings: WebSocketSettings(role: .client)) { channel, head in
            try channel.pipeline.syncOperations.addHandler(witness.value)
            // What a failed write on a reset socket does.
            guard endsAtOnce else { return }
            channel.pipeline.syncOperations.fireErrorCaught(ChannelError.ioOnClosedChannel)
            channel.close(promise: nil)
        }.assumeIsolated().whenComplete { self.result = $0 }
    }

    deinit {
        _ = try? self.channel.finish()
    }

    func connect() throws {
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func sent() throws -> String? {
        try self.channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
    }

    func receive(_ bytes: [UInt8]) throws {
        guard self.channel.isActive else { return }
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    /// Returns a valid response to the sent request, in Cloudflare's spelling.
    func answer(_ status: String = "101 Switching Protocols", further: String = "") throws -> String {
        let request = try #require(try self.sent())
        let key = try #require(request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") })
        return "HTTP/1.1 \(status)\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\(further)"
            + "Sec-WebSocket-Accept: \(HandshakeKey.accept(for: String(key.dropFirst(19))))\r\n\r\n"
    }

    var error: WebSocketUpgradeError? {
        if case .failure(let error) = self.result { error as? WebSocketUpgradeError } else { nil }
    }

    var isOpen: Bool {
        if case .success = self.result { true } else { false }
    }
}

@Suite struct ClientUpgradeTests {
    @Test(
        "A connection that ends while the application's handler is added did open, and its end is the handler's to tell"
    )
    func endsWhileAdded() throws {
        let upgrade = try Upgrade(endsAtOnce: true)
        let answer = try upgrade.answer()
        try upgrade.receive(Array(answer.utf8) + [0x81, 0x01, 0x41])
        #expect(upgrade.isOpen)
        #expect(!upgrade.channel.isActive)
        #expect(upgrade.witness.seen.first == .error("\(ChannelError.ioOnClosedChannel)"), "\(upgrade.witness.seen)")
        #expect(upgrade.witness.seen.contains(.inactive))
        #expect(!upgrade.witness.seen.contains(.text("A")))
    }

    @Test("Frames behind the 101 are delivered in order at every cut, then the end of the read")
    func keepsBytesBehindAnswer() throws {
        let probe = try Upgrade()
        let length = try probe.answer().utf8.count
        let frames = Frame.text("one").bytes + Frame.text("two").bytes
        for cut in 0...(length + frames.count) {
            let upgrade = try Upgrade()
            let wire = Array(try upgrade.answer().utf8) + frames
            try upgrade.receive(Array(wire[..<cut]))
            try upgrade.receive(Array(wire[cut...]))
            #expect(upgrade.isOpen)
            #expect(upgrade.witness.seen.filter { $0 != .readComplete } == [.text("one"), .text("two")])
            #expect(upgrade.witness.seen.last == .readComplete)
        }
        let upgrade = try Upgrade()
        for byte in Array(try upgrade.answer().utf8) + frames { try upgrade.receive([byte]) }
        #expect(upgrade.witness.seen.filter { $0 != .readComplete } == [.text("one"), .text("two")])
    }

    @Test("A 101, a message and the end in one turn of the loop are all seen")
    func keepsBytesBeforeEnd() throws {
        let upgrade = try Upgrade()
        let wire = Array(try upgrade.answer().utf8) + Frame.text("goodbye").bytes
        upgrade.channel.pipeline.fireChannelRead(ByteBuffer(bytes: wire))
        upgrade.channel.pipeline.fireChannelInactive()
        #expect(upgrade.witness.seen.first == .text("goodbye"))
        #expect(upgrade.witness.seen.last == .inactive)
    }

    @Test("The request has what RFC 6455 asks for, and goes out when the channel is active")
    func asks() throws {
        let upgrade = try Upgrade(connected: false) {
            $0.headers = [("X-A", "b")]
            $0.subprotocols = ["one", "two"]
        }
        #expect(try upgrade.sent() == nil)
        try upgrade.connect()
        let lines = try #require(try upgrade.sent()).components(separatedBy: "\r\n")
        #expect(lines.first == "GET /?token=secret HTTP/1.1")
        let others = [
            "Host: example.org", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "X-A: b",
            "Sec-WebSocket-Protocol: one, two",
        ]
        for line in others { #expect(lines.contains(line)) }
        #expect(lines.suffix(2) == ["", ""])
    }

    @Test("Two requests have different keys")
    func keysDiffer() throws {
        #expect(try Upgrade().sent() != Upgrade().sent())
    }

    @Test("A request that waits for an event goes out with it, once")
    func waitsForEvent() throws {
        enum Ready { case now }
        let upgrade = try Upgrade { $0.startsOn = { $0 is Ready } }
        upgrade.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
        #expect(try upgrade.sent() == nil)
        upgrade.channel.pipeline.fireUserInboundEventTriggered(Ready.now)
        upgrade.channel.pipeline.fireUserInboundEventTriggered(Ready.now)
        #expect(try upgrade.sent() != nil)
        #expect(try upgrade.sent() == nil)
    }

    @Test("A refusal gives its status, headers and body, at every cut")
    func givesRefusal() throws {
        let wire = Array("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nContent-Length: 4\r\n\r\nslow".utf8)
        for pieces in cuts(of: wire) {
            let upgrade = try Upgrade()
            for piece in pieces { try upgrade.receive(piece) }
            let headers: HTTPHeaders = ["Retry-After": "60", "Content-Length": "4"]
            #expect(upgrade.error == .refused(status: .tooManyRequests, headers: headers, body: "slow"))
            #expect(!upgrade.channel.isActive)
        }
    }

    @Test("A refusal whose body is cut off by the end or by the time limit is still a refusal")
    func givesCutRefusal() throws {
        let wire = Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 40\r\n\r\nInval".utf8)
        let refused = WebSocketUpgradeError.refused(
            status: .unauthorized,
            headers: ["Content-Length": "40"],
            body: "Inval"
        )
        var upgrade = try Upgrade()
        try upgrade.receive(wire)
        upgrade.channel.pipeline.fireChannelInactive()
        #expect(upgrade.error == refused)

        upgrade = try Upgrade()
        try upgrade.receive(wire)
        #expect(upgrade.error == nil)
        upgrade.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(upgrade.error == refused)
    }

    @Test("A refusal's body that never ends is cut at its limit")
    func boundsBody() throws {
        let upgrade = try Upgrade { $0.maximumBodyBytes = 100 }
        try upgrade.receive(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
        for _ in 0..<10 { try upgrade.receive(Array(repeating: 0x78, count: 30)) }
        guard case .refused(.ok, _, let body) = upgrade.error else {
            Issue.record("not refused")
            return
        }
        #expect(body == String(repeating: "x", count: 100))
    }

    @Test("Informational answers before the 101 are passed over")
    func passesOverInformational() throws {
        let upgrade = try Upgrade()
        let answer = try upgrade.answer()
        try upgrade.receive(
            Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\(answer)".utf8)
        )
        #expect(upgrade.isOpen)
    }

    @Test("Silence ends at the time limit, before and after the request", arguments: [true, false])
    func timesOut(connected: Bool) throws {
        let upgrade = try Upgrade(connected: connected)
        upgrade.channel.embeddedEventLoop.advanceTime(by: .milliseconds(9_999))
        #expect(upgrade.result == nil)
        upgrade.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(upgrade.error == .timedOut)
    }

    @Test("An answer that comes too slowly ends at the time limit, however it trickles")
    func trickles() throws {
        let upgrade = try Upgrade()
        let answer = Array(try upgrade.answer().utf8)
        for byte in answer.prefix(19) {
            try upgrade.receive([byte])
            upgrade.channel.embeddedEventLoop.advanceTime(by: .milliseconds(500))
            #expect(upgrade.result == nil)
        }
        try upgrade.receive([answer[19]])
        upgrade.channel.embeddedEventLoop.advanceTime(by: .milliseconds(500))
        #expect(upgrade.error == .unfinished)
        #expect(!upgrade.channel.isActive)
    }

    @Test("Informational answers without end are refused, a hundred thousand in one read too")
    func boundsInformational() throws {
        let upgrade = try Upgrade()
        try upgrade.receive(Array(String(repeating: "HTTP/1.1 100 \r\n\r\n", count: 100_000).utf8))
        #expect(upgrade.error == .invalidResponse("too many informational answers"))
    }

    @Test("A time limit that has passed does not touch a WebSocket that is open")
    func timerEnds() throws {
        let upgrade = try Upgrade()
        try upgrade.receive(Array(try upgrade.answer().utf8))
        upgrade.channel.embeddedEventLoop.advanceTime(by: .seconds(11))
        #expect(upgrade.channel.isActive)
    }

    @Test("Wrong answers fail with their reason, and the channel is closed")
    func failsWrongAnswers() throws {
        var upgrade = try Upgrade()
        try upgrade.receive(Array("HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n".utf8))
        #expect(upgrade.error == .invalidResponse("wrong Sec-WebSocket-Accept"))
        #expect(!upgrade.channel.isActive)
        upgrade = try Upgrade()
        try upgrade.receive(Array("<html>\r\n\r\n".utf8))
        #expect(upgrade.error == .invalidResponse("malformed status line"))
        upgrade = try Upgrade()
        let answer = try upgrade.answer(further: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
        try upgrade.receive(Array(answer.utf8))
        #expect(upgrade.error == .invalidResponse("an extension that was not offered"))
        upgrade = try Upgrade { $0.maximumHeaderBytes = 100 }
        try upgrade.receive(Array(repeating: 0x61, count: 101))
        #expect(upgrade.error == .headersTooLarge)
        upgrade = try Upgrade()
        try upgrade.receive(Array("HTTP/1.1 101".utf8))
        upgrade.channel.pipeline.fireChannelInactive()
        #expect(upgrade.error == .connectionClosed)
    }

    @Test("An error of the transport reaches who waits for the upgrade")
    func passesTransportError() throws {
        let upgrade = try Upgrade()
        upgrade.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        guard case .failure(ChannelError.inputClosed) = upgrade.result else {
            Issue.record("lost")
            return
        }
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        self.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}

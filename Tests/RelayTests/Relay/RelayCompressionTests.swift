import HTTP
import NIOCore
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Relay

@Suite("Compressed messages of the relay", .timeLimit(.minutes(1 * Patience.factor)))
struct RelayCompressionTests {
    private static let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
    private static let long = Frames.trades(
        Frames.element(Frames.btc, "61837.63", time: 1),
        Frames.element(Frames.btc, "61837.64", time: 2),
        Frames.element(Frames.btc, "61837.65", time: 3)
    )

    /// Opens a WebSocket; returns it with the answer's extensions, if any.
    private func open(
        _ headers: String,
        at address: SocketAddress,
        path: String = "/"
    ) async throws -> (client: RawClient, extensions: String?) {
        let client = try await RawClient.connect(to: address)
        let head = try await client.request(RawClient.upgrade(path, headers: headers))
        try #require(head.hasPrefix("HTTP/1.1 101 "))
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-extensions: ") }
        return (client, line.map { String($0.drop { $0 != " " }.dropFirst()) })
    }

    private func text(_ frame: RawClient.Frame) throws -> String {
        guard frame.isCompressed else { return frame.text }
        let inflater = Inflater()
        var out = ByteBuffer()
        try frame.payload.withUnsafeReadableBytes { try inflater.inflate($0, into: &out, limit: 1 << 20) }
        try inflater.finish(into: &out, limit: 1 << 20, keepsContext: false)
        return String(buffer: out)
    }

    @Test("clients that ask get the same compressed bytes, those that do not get the plain ones")
    func compressesOnce() async throws {
        try await RelayFixture.run({ $0.compression = .on }) { fixture in
            let first = try await self.open(Self.offer, at: fixture.address)
            let second = try await self.open(Self.offer, at: fixture.address)
            let small = try await self.open(
                "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=9\r\n",
                at: fixture.address
            )
            let plain = try await self.open("", at: fixture.address)
            let wishes = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
            #expect(first.extensions == wishes)
            #expect(small.extensions == wishes + "; server_max_window_bits=9")
            #expect(plain.extensions == nil)
            for client in [first, second, small, plain] {
                try await client.client.subscribe(Frames.btc)
                try await fixture.settle(client.client)
            }
            fixture.feed(Self.long, Frames.trade(Frames.btc, "1"))
            let frames = (try await first.client.frame(), try await second.client.frame())
            #expect(frames.0.isCompressed)
            #expect(frames.0 == frames.1)
            #expect(frames.0.payload.readableBytes < Self.long.utf8.count)
            #expect(try self.text(frames.0) == Self.long)
            #expect(try self.text(try await small.client.frame()) == Self.long)
            #expect(
                try await plain.client.frame() == RawClient.Frame(opcode: 1, payload: ByteBuffer(string: Self.long))
            )
            // The next message is too short to benefit from compression.
            for client in [first, second, small, plain] {
                let frame = try await client.client.frame()
                #expect(frame.text == Frames.trade(Frames.btc, "1"))
            }
        }
    }

    @Test("each single trade is compressed once for all clients, which read the same as others")
    func compressesSingles() async throws {
        try await RelayFixture.run({ $0.compression = .on }) { fixture in
            let path = "/v1/stream?symbols=*&delivery=all"
            let name = String(repeating: "LONG", count: 12)
            var clients: [RawClient] = []
            for offer in [Self.offer, Self.offer, ""] {
                let client = try await self.open(offer, at: fixture.address, path: path).client
                for start in ["hello", "subscribed"] {
                    #expect(try self.text(try await client.frame()).hasPrefix(#"{"type":"\#(start)""#))
                }
                clients.append(client)
            }
            fixture.feed((1...200).map { Frames.trade(name, "\($0)") })
            fixture.feed(Frames.trade("A", "1"))
            for number in 1...201 {
                let frames = (try await clients[0].frame(), try await clients[1].frame(), try await clients[2].frame())
                try #require(frames.0 == frames.1 && !frames.2.isCompressed)
                try #require(frames.0.isCompressed == (number <= 200))
                try #require(try self.text(frames.0) == frames.2.text)
                try #require(frames.2.text.contains(#""seq":\#(number),"#))
            }
        }
    }

    @Test("prices and the status are compressed as well where that is worthwhile")
    func compressesPrices() async throws {
        try await RelayFixture.run({ $0.compression = .on }) { fixture in
            let client = try await self.open(Self.offer, at: fixture.address, path: "/v1/stream").client
            let status = try self.text(try await client.frame())
            #expect(status.hasPrefix(#"{"type":"hello","n":"#))
            try await client.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)"}"#)
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "61837.64"))
            let price = try self.text(try await client.frame())
            #expect(price.contains("61837.64"))
        }
    }

    @Test("by default the relay compresses nothing on this machine's own addresses")
    func isOffOnLoopback() async throws {
        try await RelayFixture.run { fixture in
            let (client, extensions) = try await self.open(Self.offer, at: fixture.address)
            #expect(extensions == nil)
            try await client.subscribe(Frames.btc)
            try await fixture.settle(client)
            fixture.feed(Self.long)
            #expect(try await client.frame() == RawClient.Frame(opcode: 1, payload: ByteBuffer(string: Self.long)))
        }
        for (host, isLoopback) in [
            ("127.0.0.1", true), ("127.8.8.8", true), ("localhost", true), ("::1", true), ("0:0:0:0:0:0:0:1", true),
            ("192.0.2.1", false), ("::", false),
        ] {
            var settings = RelaySettings(listen: Endpoint(host: host, port: 0))
            #expect(settings.compresses == !isLoopback, "\(host)")
            #expect(settings.allowsReplayControl == isLoopback, "\(host)")
            settings.compression = .on
            #expect(settings.compresses)
            settings.compression = .off
            #expect(!settings.compresses)
        }
    }

    @Test("a malformed offer is refused, an unknown one is declined")
    func judgesOffers() async throws {
        try await RelayFixture.run({ $0.compression = .on }) { fixture in
            let unknown = try await self.open("Sec-WebSocket-Extensions: x-unknown; a=1\r\n", at: fixture.address)
            #expect(unknown.extensions == nil)
            let client = try await RawClient.connect(to: fixture.address)
            let head = try await client.request(
                RawClient.upgrade("/", headers: "Sec-WebSocket-Extensions: permessage-deflate;;\r\n")
            )
            #expect(head.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test("a compressed request is understood, and a bomb ends only its sender")
    func readsCompressedRequests() async throws {
        try await RelayFixture.run({ $0.compression = .on }) { fixture in
            let good = try await self.open(Self.offer, at: fixture.address).client
            let bomber = try await self.open(Self.offer, at: fixture.address).client
            try await self.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)"}"#, compressedBy: good)
            try await fixture.settle(good)
            try await self.send(String(repeating: "1", count: 60_000), compressedBy: bomber)
            #expect(try await bomber.frame().closure == "1009 compressed too far")
            try await bomber.ended()
            fixture.feed(Self.long)
            #expect(try self.text(try await good.frame()) == Self.long)
        }
    }

    private func send(_ text: String, compressedBy client: RawClient) async throws {
        var payload = ByteBuffer()
        Deflater(.init(keepsContext: false)).compress(ByteBuffer(string: text), into: &payload)
        var frame = ByteBuffer(bytes: [0xC1])
        if payload.readableBytes < 126 {
            frame.writeInteger(0x80 | UInt8(payload.readableBytes))
        } else {
            frame.writeMultipleIntegers(UInt8(0x80 | 126), UInt16(payload.readableBytes))
        }
        frame.writeInteger(UInt32(0))  // a mask that changes nothing
        frame.writeImmutableBuffer(payload)
        try await client.channel.writeAndFlush(frame)
    }

    @Test("one buffer is compressed once for each window in a turn, and another one for itself")
    func sharesTwins() {
        func place(_ buffer: ByteBuffer) -> UnsafeRawPointer? { buffer.withUnsafeReadableBytes { $0.baseAddress } }
        func agreement(_ bits: Int) -> DeflateAgreement {
            DeflateAgreement(fromServer: .init(windowBits: bits, keepsContext: false), fromClient: .init())
        }
        let compression = SharedCompression()
        var frames = ByteBuffer()
        WebSocketFraming.serverText(ByteBuffer(string: Self.long), into: &frames)
        let first = compression.copy(of: frames, for: agreement(15))
        #expect(place(compression.copy(of: frames, for: agreement(15))) == place(first))
        #expect(place(compression.copy(of: frames, for: agreement(9))) != place(first))

        // A buffer with changed contents is another buffer.
        let before = first
        WebSocketFraming.serverText(ByteBuffer(string: Self.long), into: &frames)
        #expect(compression.copy(of: frames, for: agreement(15)).readableBytes == 2 * before.readableBytes)
        compression.turnEnded()
        #expect(compression.copy(of: frames, for: agreement(15)).readableBytes == 2 * before.readableBytes)

        var short = ByteBuffer()
        WebSocketFraming.serverText(ByteBuffer(string: "short"), into: &short)
        #expect(place(compression.copy(of: short, for: agreement(15))) == place(short))
    }
}

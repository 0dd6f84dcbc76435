import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TickertapeTesting
@testable import MockUpstream

/// A client that writes bytes to a mock server without TLS and keeps what comes.
final class RawClient: Sendable {
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let received: NIOLockedValueBox<String>
        init(_ received: NIOLockedValueBox<String>) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(decoding: self.unwrapInboundIn(data).readableBytesView, as: UTF8.self)
            self.received.withLockedValue { $0 += text }
        }
    }

    private let channel: any Channel
    private let received = NIOLockedValueBox("")

    init(_ server: MockServer) async throws {
        guard let address = server.address else { throw ChannelError.unknownLocalAddress }
        let received = self.received
        self.channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received))
                }
            }
            .connect(to: address).get()
    }

    /// All bytes so far, as text.
    var text: String { self.received.withLockedValue { $0 } }

    func request(_ uri: String, headers: [String] = []) {
        self.write("GET \(uri) HTTP/1.1\r\nHost: a\r\n\(headers.map { "\($0)\r\n" }.joined())\r\n")
    }

    /// Requests a WebSocket (RFC 6455, 4.1).
    func upgrade(_ uri: String) {
        self.request(
            uri,
            headers: [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ]
        )
    }

    /// Sends a text frame, masked with zeros (RFC 6455, 5.2).
    func send(_ text: String) {
        var bytes = ByteBuffer(bytes: [0x81])
        let count = text.utf8.count
        if count < 126 {
            bytes.writeInteger(0x80 | UInt8(count))
        } else {
            bytes.writeInteger(0x80 | 126 as UInt8)
            bytes.writeInteger(UInt16(count))
        }
        bytes.writeInteger(0 as UInt32)
        bytes.writeString(text)
        self.channel.writeAndFlush(bytes, promise: nil)
    }

    private func write(_ text: String) { self.channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

    /// Waits until the text so far meets a condition; returns whether it does.
    func waits(_ condition: (String) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(20 * Patience.factor)
        while ContinuousClock.now < deadline {
            if condition(self.text) { return true }
            try? await self.channel.eventLoop.scheduleTask(in: .milliseconds(2)) {}.futureResult.get()
        }
        return condition(self.text)
    }

    /// Waits for the server's end of the connection.
    func waitForEnd() async throws { try await self.channel.closeFuture.get() }

    func close() async { try? await self.channel.close().get() }
}

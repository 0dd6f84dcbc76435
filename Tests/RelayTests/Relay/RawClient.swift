import NIOCore
import NIOPosix
import TickertapeTesting

/// A WebSocket client that shows the raw bytes: it parses frames by hand, and reads only when the test lets it.
final class RawClient: Sendable {
    /// A received frame.
    struct Frame: Sendable, Equatable {
        var opcode: UInt8
        /// The first reserved bit.
        var isCompressed = false
        var payload: ByteBuffer
        var text: String { String(buffer: self.payload) }
        /// The code and the reason of a close frame.
        var closure: String? {
            var payload = self.payload
            guard self.opcode == 8, let code = payload.readInteger(as: UInt16.self) else { return nil }
            return "\(code) \(String(buffer: payload))"
        }
    }

    struct TimedOut: Error {}
    struct Ended: Error {}

    let channel: any Channel
    private let inbox: NIOLoopBound<Inbox>

    private init(channel: any Channel, inbox: NIOLoopBound<Inbox>) {
        self.channel = channel
        self.inbox = inbox
    }

    /// - Parameters:
    ///   - sendsBehindEnd: whether it continues to send after the server has ended its side, which counts as the end
    ///     here.
    ///   - below: makes the handlers between the socket and this client, for TLS.
    static func connect(
        to address: SocketAddress,
        receiveBuffer: Int? = nil,
        sendsBehindEnd: Bool = false,
        below: @escaping @Sendable () -> [any ChannelHandler] = { [] }
    ) async throws -> RawClient {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let inbox = try await loop.submit { NIOLoopBound(Inbox(), eventLoop: loop) }.get()
        var bootstrap = ClientBootstrap(group: loop)
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBuffer))
        }
        bootstrap = bootstrap.channelOption(.allowRemoteHalfClosure, value: sendsBehindEnd)
        let channel = try await bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(below() + [inbox.value])
            }
        }.connect(to: address).get()
        return RawClient(channel: channel, inbox: inbox)
    }

    /// Opens a WebSocket; returns once the 101 has come.
    static func open(
        _ path: String = "/?token=any",
        at address: SocketAddress,
        headers: String = "",
        receiveBuffer: Int? = nil,
        below: @escaping @Sendable () -> [any ChannelHandler] = { [] }
    ) async throws -> RawClient {
        let client = try await Self.connect(to: address, receiveBuffer: receiveBuffer, below: below)
        let head = try await client.request(Self.upgrade(path, headers: headers))
        guard head.hasPrefix("HTTP/1.1 101 ") else { throw Ended() }
        return client
    }

    static func upgrade(_ path: String, host: String = "127.0.0.1", headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(headers)\r\n"
    }

    /// Sends a request and returns the head of its response.
    func request(_ text: String) async throws -> String {
        try await self.channel.writeAndFlush(ByteBuffer(string: text))
        return try await self.head()
    }

    /// Returns the next head of a response.
    func head() async throws -> String { try await self.wait { $0.takeHead() } }

    /// Returns the body of a response, with the length in its head.
    func text(of head: String) async throws -> String {
        let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        let length = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
        return try await self.wait { $0.take(length).map { String(buffer: $0) } }
    }

    /// Returns all bytes until the server closes the connection.
    func rest() async throws -> String {
        try await self.wait { $0.hasEnded ? String(buffer: $0.takeAll()) : nil }
    }

    /// Waits for a number of bytes, and drops them.
    func skip(_ count: Int) async throws { _ = try await self.wait { $0.skip(count) } }

    /// Returns the next frame that is not a WebSocket ping.
    func frame() async throws -> Frame {
        while true {
            let frame = try await self.wait { $0.takeFrame() }
            if frame.opcode != 9 { return frame }
        }
    }

    /// Returns the next frame that is not a WebSocket ping, and answers the pings before it.
    func frameAnsweringPings() async throws -> Frame {
        while true {
            let frame = try await self.wait { $0.takeFrame() }
            if frame.opcode != 9 { return frame }
            try await self.channel.writeAndFlush(Self.masked(opcode: 10, frame.text))
        }
    }

    /// Waits until the server has ended the connection.
    func ended() async throws { _ = try await self.wait { $0.hasEnded ? true : nil } }

    func send(_ text: String) async throws { try await self.channel.writeAndFlush(Self.masked(opcode: 1, text)) }

    func subscribe(_ symbol: String) async throws {
        try await self.send(#"{"type":"subscribe","symbol":"\#(symbol)"}"#)
    }

    func unsubscribe(_ symbol: String) async throws {
        try await self.send(#"{"type":"unsubscribe","symbol":"\#(symbol)"}"#)
    }

    /// Sends text as it is.
    func sendLines(_ text: String) async throws { try await self.channel.writeAndFlush(ByteBuffer(string: text)) }

    /// Returns the next line, without its LF.
    func line() async throws -> String { try await self.wait { $0.takeLine() } }

    /// Stops or resumes reading from the socket.
    func read(_ isReading: Bool) async throws { try await self.channel.setOption(.autoRead, value: isReading).get() }

    func close() async throws { try await self.channel.close() }

    static func masked(opcode: UInt8, _ text: String) -> ByteBuffer {
        Self.masked(opcode: opcode, bytes: Array(text.utf8))
    }

    static func masked(opcode: UInt8, bytes: [UInt8]) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.writeInteger(0x80 | opcode)
        if bytes.count < 126 {
            frame.writeInteger(0x80 | UInt8(bytes.count))
        } else {
            frame.writeMultipleIntegers(UInt8(0x80 | 126), UInt16(bytes.count))
        }
        let mask: [UInt8] = [1, 2, 3, 4]
        frame.writeBytes(mask)
        frame.writeBytes(bytes.enumerated().map { $1 ^ mask[$0 & 3] })
        return frame
    }

    private func wait<Value: Sendable>(_ take: @escaping @Sendable (Inbox) -> Value?) async throws -> Value {
        try await self.channel.eventLoop.flatSubmit { [inbox] in
            inbox.value.wait(on: inbox.eventLoop, take)
        }.get()
    }
}

/// The received bytes that were not taken yet.
private final class Inbox: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var bytes = ByteBuffer()
    private(set) var hasEnded = false
    private var waiter: (() -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = Self.unwrapInboundIn(data)
        self.bytes.writeBuffer(&part)
        self.waiter?()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.hasEnded = true
        self.waiter?()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return }
        self.hasEnded = true
        self.waiter?()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func wait<Value: Sendable>(on loop: any EventLoop, _ take: @escaping (Inbox) -> Value?) -> EventLoopFuture<Value> {
        let promise = loop.makePromise(of: Value.self)
        let timeout = loop.assumeIsolated().scheduleTask(in: .seconds(15) * Patience.factor) {
            self.waiter = nil
            promise.fail(RawClient.TimedOut())
        }
        func attempt() {
            if let value = take(self) {
                self.waiter = nil
                timeout.cancel()
                promise.succeed(value)
            } else if self.hasEnded {
                self.waiter = nil
                timeout.cancel()
                promise.fail(RawClient.Ended())
            }
        }
        self.waiter = attempt
        attempt()
        return promise.futureResult
    }

    func takeAll() -> ByteBuffer {
        defer { self.bytes = ByteBuffer() }
        return self.bytes
    }

    func skip(_ count: Int) -> Bool? { self.take(count).map { _ in true } }

    func take(_ count: Int) -> ByteBuffer? { self.bytes.readSlice(length: count) }

    func takeHead() -> String? {
        let view = self.bytes.readableBytesView
        let end = Array("\r\n\r\n".utf8)
        guard let first = view.indices.dropLast(3).first(where: { view[$0..<$0 + 4].elementsEqual(end) }) else {
            return nil
        }
        return self.bytes.readString(length: first + 4 - view.startIndex)
    }

    func takeLine() -> String? {
        guard let end = self.bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = self.bytes.readString(length: end - self.bytes.readerIndex)
        self.bytes.moveReaderIndex(forwardBy: 1)
        return line
    }

    func takeFrame() -> RawClient.Frame? {
        var bytes = self.bytes
        guard let first = bytes.readInteger(as: UInt8.self), let second = bytes.readInteger(as: UInt8.self) else {
            return nil
        }
        var length = Int(second & 0x7F)
        switch length {
        case 126:
            guard let long = bytes.readInteger(as: UInt16.self) else { return nil }
            length = Int(long)
        case 127:
            guard let long = bytes.readInteger(as: UInt64.self) else { return nil }
            length = Int(long)
        default:
            break
        }
        guard let payload = bytes.readSlice(length: length) else { return nil }
        self.bytes = bytes
        self.bytes.discardReadBytes()
        return RawClient.Frame(opcode: first & 0x0F, isCompressed: first & 0x40 != 0, payload: payload)
    }
}

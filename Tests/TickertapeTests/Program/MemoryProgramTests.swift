import Foundation
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting

/// The memory that the program holds for clients that do not read, and for those that have left.
///
/// With a sanitizer the figures include the sanitizer's bookkeeping, which only grows.
@Suite(
    "The program's memory",
    .serialized,
    .timeLimit(.minutes(5 * Patience.factor)),
    .enabled(if: Sanitizer.current == nil, "a sanitizer keeps what is freed")
)
struct MemoryProgramTests {
    private static let symbol = "BINANCE:BTCUSDT"

    private static func frame(_ numbers: Range<Int>) -> String {
        let trades = numbers.map {
            #"{"c":null,"p":\#($0).123456,"s":"\#(Self.symbol)","t":\#(1_723_161_255_342 + $0),"v":0.02}"#
        }
        return #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
    }

    /// Returns the resident memory of a process, in bytes (`VmRSS` of proc(5)).
    private static func resident(_ process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        return try #require(RunningProgram.number(in: status.replacing(" ", with: ""), behind: "VmRSS:\t")) << 10
    }

    /// The time within which memory is given back, however slow the machine is.
    private static let timeToRelease = Duration.seconds(10)

    /// Waits until the memory is below a limit, or until ``timeToRelease``; returns the last value.
    private static func resident(_ process: Int32, below limit: Int) async throws -> Int {
        let end = ContinuousClock.now + Self.timeToRelease
        while true {
            let bytes = try Self.resident(process)
            guard bytes >= limit, .now < end else { return bytes }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test("90 connections that ask for 10,000 trades and read nothing hold 32 MiB, and all of it is given back")
    func unreadAnswers() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .play(stride(from: 0, to: 10_000, by: 500).map { .send(Self.frame($0..<$0 + 500)) })
        }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "run", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:0", "--quiet", "--symbol",
                Self.symbol, "--log-level", "error",
            ],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let path = "/v1/trades/\(Self.symbol)?limit=10000"
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        // The last trade has arrived, and one answer with all trades has been made.
        let end = ContinuousClock.now + .seconds(30 * Patience.factor)
        while ContinuousClock.now < end {
            let one = try Socket(port: port)
            one.send(request)
            let isThere = one.waits(for: #""price":"9999.123456""#)
            one.close()
            if isThere { break }
        }
        let before = try Self.resident(program.processIdentifier)
        var clients: [Socket] = []
        for _ in 0..<90 {
            let client = try Socket(port: port, receiveBuffer: 4 << 10)
            client.send(request)
            clients.append(client)
        }
        var most = 0
        var statuses: [String] = []
        for client in clients {
            statuses.append(client.waits(for: "HTTP/1.1 ") ? client.next(3) : "none")
            most = max(most, try Self.resident(program.processIdentifier))
        }
        // Six fit, or five while the relay still holds the answer of the connection before.
        #expect(statuses.count { $0 == "200" } >= 5 && Set(statuses) == ["200", "503"], "\(statuses)")
        // The limit, and the same again for temporary memory.
        #expect(most - before < 64 << 20, "\((most - before) >> 20) MiB more than before")
        for client in clients { client.close() }
        let left = try await Self.resident(program.processIdentifier, below: before + 20 << 20) - before
        #expect(left < 20 << 20, "\(left >> 20) MiB are left")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0), "\(program.errors)")
        try await server.stop()
    }

    @Test("is mostly freed within 10 s after 1,000 TLS clients have left")
    func manyClients() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let maker = try RunningProgram(RunningProgram.tickertape, ["cert", "--out", folder.path])
        try #require(await maker.ending() == .exit(0), "\(maker.errors)")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl", "--quiet", "--relay",
                "127.0.0.1:0", "--loop", "--set", "relay.certificate-file=\(folder.path)/certificate.pem",
                "--set", "relay.key-file=\(folder.path)/key.pem",
            ]
        )
        let port = try #require(
            await program.errorText(numberBehind: "the relay is on wss://127.0.0.1:"),
            "\(program.errors)"
        )
        var configuration = TLSClientConfiguration()
        configuration.verification = .disabled
        configuration.handshakeTimeout = .seconds(Int64(60 * Patience.factor))
        let crowd = try Crowd(TLSContext(client: configuration), port: port)
        try await crowd.come(10)
        try await crowd.leave()
        let before = try Self.resident(program.processIdentifier)
        for _ in 0..<10 { try await crowd.come(99) }
        try await crowd.leave()
        let left = try await Self.resident(program.processIdentifier, below: before + 20 << 20) - before
        #expect(left < 20 << 20, "\(left >> 20) MiB are left")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0), "\(program.errors)")
    }
}

/// Many WebSocket clients of a relay with TLS.
private final class Crowd: Sendable {
    private let context: TLSContext
    private let port: Int
    private let members = LockedList()

    private final class LockedList: @unchecked Sendable {
        private let lock = NSLock()
        private var channels: [any Channel] = []

        func add(_ all: [any Channel]) { self.lock.withLock { self.channels += all } }

        func takeAll() -> [any Channel] {
            self.lock.withLock {
                defer { self.channels = [] }
                return self.channels
            }
        }
    }

    init(_ context: TLSContext, port: Int) {
        self.context = context
        self.port = port
    }

    /// Connects this many clients, and waits for their upgrades.
    func come(_ count: Int) async throws {
        let (context, port) = (self.context, self.port)
        let channels = try await withThrowingTaskGroup(of: (any Channel).self) { group in
            for _ in 0..<count {
                group.addTask {
                    let loop = MultiThreadedEventLoopGroup.singleton.next()
                    let isIn = loop.makePromise(of: Void.self)
                    let channel = try await ClientBootstrap(group: loop)
                        .channelInitializer { channel in
                            channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandlers([
                                    TLSHandler(context: context, peer: nil), Welcome(isIn),
                                ])
                            }
                        }
                        .connect(host: "127.0.0.1", port: port).get()
                    channel.writeAndFlush(ByteBuffer(string: Welcome.request), promise: nil)
                    try await isIn.futureResult.get()
                    return channel
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        self.members.add(channels)
    }

    /// Disconnects all clients.
    func leave() async throws {
        for channel in self.members.takeAll() { try? await channel.close() }
    }
}

/// The wait for the response to an upgrade.
private final class Welcome: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    static let request =
        "GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    private let isIn: EventLoopPromise<Void>
    private var isFirst = true

    init(_ isIn: EventLoopPromise<Void>) { self.isIn = isIn }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        defer { self.isFirst = false }
        guard self.isFirst else { return }
        guard Self.unwrapInboundIn(data).readableBytesView.starts(with: "HTTP/1.1 101 ".utf8) else {
            return self.isIn.fail(ChannelError.eof)
        }
        self.isIn.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) { self.isIn.fail(ChannelError.eof) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.isIn.fail(error)
        context.close(promise: nil)
    }
}

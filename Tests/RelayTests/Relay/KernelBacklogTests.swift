import WebSocket
import NIOCore
import Relay
import Testing
import TickertapeTesting
@testable import Measurements

/// Clients whose backlog is in the kernels alone, with nothing left in the program. The sockets are real.
@Suite("The pong of a client that reads its kernel's backlog slowly", .timeLimit(.minutes(3 * Patience.factor)))
struct KernelBacklogTests {
    /// Runs the body with a client that has subscribed and reads only small portions, and with one that gets the
    /// relay's pings as a clock.
    private func run(
        _ isEncrypted: Bool,
        _ body: (RelayFixture, _ slow: RawClient, _ clock: RawClient, Instruments) async throws -> Void
    ) async throws {
        let instruments = Instruments()
        try await RelayFixture.run(isEncrypted: isEncrypted, instruments: instruments) {
            $0.webSocket.pingInterval = .milliseconds(150)
            $0.webSocket.pongTimeout = .milliseconds(1_500)
            $0.stallTimeout = .hours(1)
            // The relay's clock, by which the client reads.
            $0.textPingInterval = .milliseconds(150)
        } body: { fixture, encrypted in
            let slow = try await RawClient.open(
                at: fixture.address,
                receiveBuffer: 4 << 10,
                below: { [DropReader()] + encrypted() }
            )
            try await slow.subscribe(Frames.btc)
            try await fixture.settleAnswered(slow)
            let clock = try await RawClient.open(at: fixture.address, below: encrypted)
            try await slow.onlyDrops(true)
            // The kernel has buffer space for all of it.
            for frame in Self.frames { fixture.feed([frame]) }
            try await body(fixture, slow, clock, instruments)
        }
    }

    /// About 28 KiB and 10 KiB.
    private static let frames = [350, 130].map { count in
        let elements = (1...count).map { Frames.element(Frames.btc, "\($0)") }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    @Test("the relay waits for it while the client takes bytes, and the client continues", arguments: [false, true])
    func waits(isEncrypted: Bool) async throws {
        try await self.run(isEncrypted) { fixture, slow, clock, instruments in
            // Longer than the time for a pong. Its kernel has buffer space again whenever everything in it was read.
            for _ in 0..<7 {
                for _ in 0..<2 { try await clock.tick() }
                try await slow.readDrop()
            }
            #expect(fixture.relay.clientCount == 2)
            try await slow.onlyDrops(false)
            for frame in Self.frames { #expect(try await slow.trades() == frame) }
            try await fixture.settleAnswered(slow)
            #expect(instruments.refusals.all.allSatisfy { $0.type != "pong-timeout" })
        }
    }

    @Test("the relay waits for it during a pause of the client, once its queue in the program is empty")
    func takesItsTime() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.webSocket.pingInterval = .milliseconds(150)
            $0.webSocket.pongTimeout = .milliseconds(600)
            $0.stallTimeout = .hours(1)
            $0.textPingInterval = .milliseconds(150)
            $0.maximumWaitingBytes = 64 << 10
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let slow = try await RawClient.open(
                at: fixture.address,
                receiveBuffer: 4 << 10,
                below: { [DropReader()] }
            )
            try await slow.subscribe(Frames.btc)
            try await fixture.settleAnswered(slow)
            let clock = try await RawClient.open(at: fixture.address)
            try await slow.onlyDrops(true)
            for frame in Self.frames { fixture.feed([frame]) }
            // Longer than the time for a pong, while something waits in the program. The suite's time limit bounds this
            // loop.
            #expect(try await fixture.waitingBytes(below: { [] }) > 4 << 10)
            for _ in 0..<8 { try await clock.tick() }
            while try await fixture.waitingBytes(below: { [] }) > 0 { try await slow.readDrop() }
            // The same once its unread bytes are in the kernels alone.
            for _ in 0..<16 { try await clock.tick() }
            #expect(fixture.relay.clientCount == 2)
            try await slow.onlyDrops(false)
            for frame in Self.frames { #expect(try await slow.trades() == frame) }
            try await fixture.settleAnswered(slow)
            #expect(instruments.refusals.all.allSatisfy { $0.type != "pong-timeout" })
        }
    }

    @Test("the client is closed for its missing pong when it takes nothing any more", arguments: [false, true])
    func ends(isEncrypted: Bool) async throws {
        try await self.run(isEncrypted) { fixture, slow, clock, instruments in
            for _ in 0..<2 {
                try await clock.tick()
                try await slow.readDrop()
            }
            // The suite's time limit bounds this loop.
            while fixture.relay.clientCount > 1 { try await clock.tick() }
            #expect(instruments.refusals.all.contains { $0.type == "pong-timeout" && $0.number == 1 })
            try await slow.close()
        }
    }
}

/// The handler at a client's socket, which can hold reads back and let one of 8 KiB pass at a time.
private final class DropReader: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private var context: ChannelHandlerContext?
    private var isHolding = false
    private var isAsked = false

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func read(context: ChannelHandlerContext) {
        if self.isHolding { self.isAsked = true } else { context.read() }
    }

    func hold(_ isHolding: Bool) throws {
        self.isHolding = isHolding
        let options = self.context?.channel.syncOptions
        try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 8 << 10))
        try options?.setOption(.maxMessagesPerRead, value: 1)
        if !isHolding, self.isAsked { self.pass() }
    }

    func pass() {
        self.isAsked = false
        self.context?.read()
    }
}

extension RawClient {
    /// Switches between reading small portions on request and normal reading.
    fileprivate func onlyDrops(_ isHolding: Bool) async throws {
        try await self.atSocket { try $0.hold(isHolding) }
    }

    /// Reads at most 8 KiB.
    fileprivate func readDrop() async throws { try await self.atSocket { $0.pass() } }

    /// Waits for the relay's next text ping.
    fileprivate func tick() async throws { while try await self.frameAnsweringPings().text != Self.textPing {} }

    /// Returns the next message that is not a ping.
    fileprivate func trades() async throws -> String {
        while true {
            let text = try await self.frameAnsweringPings().text
            if text != Self.textPing { return text }
        }
    }

    private static let textPing = #"{"type":"ping"}"#

    private func atSocket(_ call: @escaping @Sendable (DropReader) throws -> Void) async throws {
        let channel = self.channel
        try await channel.eventLoop.submit {
            try call(try channel.pipeline.syncOperations.handler(type: DropReader.self))
        }.get()
    }
}

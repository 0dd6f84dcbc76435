import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

@Suite("The wheel of deadlines")
struct DeadlineWheelTests {
    private let loop = EmbeddedEventLoop()
    private let wheel: DeadlineWheel

    init() { self.wheel = DeadlineWheel(loop: self.loop) }

    private func at(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .milliseconds(milliseconds) }
    private var now: Int64 { (self.loop.now - .uptimeNanoseconds(0)).nanoseconds / 1_000_000 }

    @Test("every deadline is met once, never early and at most a grain late, in whatever order they were set")
    func isPunctual() throws {
        var random = SystemRandomNumberGenerator()
        final class Log { var met: [Int: Int64] = [:] }
        let log = Log()
        let deadlines = (0..<500).map { _ in Int64.random(in: 0...30_000, using: &random) }
        var entries: [DeadlineWheel.Entry] = []
        for (index, deadline) in deadlines.enumerated() {
            entries.append(
                self.wheel.schedule(at: self.at(deadline)) {
                    #expect(log.met[index] == nil)
                    log.met[index] = self.now
                }
            )
        }
        for entry in entries[..<100] { entry.cancel() }
        for _ in 0..<3_200 { self.loop.advanceTime(by: .milliseconds(10)) }
        for index in 0..<100 { #expect(log.met[index] == nil, "it was cancelled") }
        for (index, deadline) in deadlines.enumerated().dropFirst(100) {
            let met = try #require(log.met[index])
            #expect(met >= deadline && met <= deadline + 260, "set for \(deadline), met at \(met)")
        }
    }

    @Test("a deadline that is set while others are met is met as well, be it sooner or later than they")
    func reentrant() {
        final class Log { var met: [String] = [] }
        let log = Log()
        _ = self.wheel.schedule(at: self.at(1_000)) {
            log.met.append("first")
            _ = self.wheel.schedule(at: self.at(1_600)) { log.met.append("second") }
            _ = self.wheel.schedule(at: self.at(5_000)) { log.met.append("fourth") }
        }
        _ = self.wheel.schedule(at: self.at(3_000)) { log.met.append("third") }
        self.loop.advanceTime(by: .milliseconds(2_000))
        #expect(log.met == ["first", "second"])
        self.loop.advanceTime(by: .seconds(10))
        #expect(log.met == ["first", "second", "third", "fourth"])
    }

    @Test("a wheel that is let go of calls nobody")
    func ends() {
        var wheel: DeadlineWheel? = DeadlineWheel(loop: self.loop)
        final class Log { var isCalled = false }
        let log = Log()
        _ = wheel?.schedule(at: self.at(100)) { log.isCalled = true }
        wheel = nil
        self.loop.advanceTime(by: .seconds(1))
        #expect(!log.isCalled)
    }

    @Test("a connection on a wheel pings, and gives up who does not answer")
    func keepalive() throws {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var settings = WebSocketSettings(role: .server)
        settings.pingInterval = .seconds(20)
        settings.pongTimeout = .seconds(10)
        try channel.pipeline.syncOperations.addWebSocketHandlers(settings, wheel: self.wheel)
        self.loop.advanceTime(by: .milliseconds(19_900))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        self.loop.advanceTime(by: .milliseconds(400))
        #expect(
            try channel.readOutbound(as: ByteBuffer.self).map { Array($0.readableBytesView.prefix(2)) } == [0x89, 0]
        )
        self.loop.advanceTime(by: .milliseconds(9_500))
        #expect(channel.isActive)
        self.loop.advanceTime(by: .milliseconds(1_000))
        #expect(!channel.isActive)
        _ = try? channel.finish()
    }
}

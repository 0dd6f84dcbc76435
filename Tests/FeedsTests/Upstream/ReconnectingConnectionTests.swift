import Market
import NIOCore
import NIOEmbedded
import TLS
import Testing
import TickertapeTesting
import WebSocket
@testable import Feeds

@Suite("A reconnecting connection")
struct ReconnectingConnectionTests {
    private let second: Int64 = 1_000_000_000

    @Test(
        "makes the next attempt at once on request, but not sooner than the floor and not repeatedly"
    )
    func renewsWaiting() {
        let world = ConnectionWorld { $0 < 7 ? .down : .opensAndStays }
        world.link.start()
        world.advance(seconds: 32)
        // The wait of 32 s that began at 31.5 s is cut short.
        #expect(world.attempts.last == 31_500)
        #expect(world.link.renew() == .begun)
        #expect(world.attempts.last == 32_000)
        #expect(world.link.connection != nil)
        world.link.stop()
        world.advance(seconds: 1)

        let down = ConnectionWorld { _ in .down }
        down.link.start()
        #expect(down.link.renew() == .begun)
        #expect(down.attempts == [0])
        down.advance(seconds: 0.1)
        #expect(down.attempts == [0, 100])
        #expect(down.link.renew() == .tooSoon)
        // The backoff has grown all the same.
        down.advance(seconds: 1)
        #expect(down.attempts == [0, 100, 1_100])
        down.link.stop()
        #expect(down.link.renew() == .over)
    }

    @Test(
        "replaces a connection on request, and does not count its end as brief"
    )
    func renewsConnected() {
        let world = ConnectionWorld { _ in .opensAndStays }
        world.link.start()
        for round in 1...5 {
            world.advance(seconds: 2)
            #expect(world.link.renew() == .begun)
            #expect(world.connections.last?.isClosed == true)
            #expect(world.link.renew() == .tooSoon)
            // The peer answers with a close frame.
            world.link.connectionEnded(UpstreamFailure("it died"), tradedFor: 0)
            #expect(world.reasons.last == "a new connection was asked for")
            world.advance(seconds: 0.1)
            #expect(world.attempts.count == round + 1)
        }
        #expect(!world.words.contains("key-in-use"))
        world.link.stop()
        world.advance(seconds: 1)
    }

    @Test("lets no request cut short a pause that the service asked for, and says when it ends")
    func leftAlone() {
        var busy = UpstreamFailure("under repair")
        busy.retryAfter = 90 * self.second
        let outcomes: [(ConnectionOutcome, String)] = [
            (.fails(UpstreamFailure("429", disposition: .rateLimited(retryAfter: 17 * self.second))), "429"),
            (.fails(busy), "under repair"),
        ]
        for (outcome, reason) in outcomes {
            let world = ConnectionWorld { $0 == 0 ? outcome : .opensAndStays }
            world.link.start()
            world.advance(seconds: 3)
            guard case .notBefore(let until, reason: reason) = world.link.renew() else {
                Issue.record("\(reason) may be cut short")
                continue
            }
            #expect(until == world.phases.last?.retryAt)
            #expect(world.attempts == [0])
            world.advance(seconds: 90)
            #expect(world.link.connection != nil)
            #expect(world.link.renew() == .begun)
            world.link.stop()
            world.advance(seconds: 1)
        }
        let thrownOut = ConnectionWorld { _ in .opens(tradedFor: 0, diesAfter: self.second) }
        thrownOut.link.start()
        thrownOut.advance(seconds: 10)
        guard case .notBefore = thrownOut.link.renew() else {
            Issue.record("a key that is used elsewhere may be fought for")
            return
        }
        thrownOut.link.stop()
    }

    @Test("follows the backoff on the loop's own clock")
    func climbs() {
        let world = ConnectionWorld { _ in .down }
        world.link.start()
        world.advance(seconds: 40)
        #expect(world.attempts == [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500])
        world.link.stop()
        #expect(world.words.last == "stopped")
        #expect(world.ended != nil)
    }

    @Test("resets the backoff only after a minute of trades, however a connection ended")
    func settles() {
        let world = ConnectionWorld { attempt in
            switch attempt {
            case 0..<4: .down
            case 4: .opens(tradedFor: 59 * self.second, diesAfter: 59 * self.second)
            case 5: .opens(tradedFor: 60 * self.second, diesAfter: 61 * self.second)
            default: .opensAndStays
            }
        }
        world.link.start()
        world.advance(seconds: 300)
        #expect(world.attempts == [0, 500, 1_500, 3_500, 7_500, 74_500, 136_000])
        world.link.stop()
        world.advance(seconds: 1)
        #expect(world.connections.last?.isClosed == true)
        #expect(world.ended != nil)
    }

    @Test("leaves a key with brief connections alone, and tries once a minute")
    func keyInUse() {
        let world = ConnectionWorld { _ in .opens(tradedFor: 0, diesAfter: self.second) }
        world.link.start()
        world.advance(seconds: 130)
        // Each lives for 1 s; the waits are 0.5 s, 1 s, and a minute from the third end on.
        #expect(world.attempts == [0, 1_500, 3_500, 64_500, 125_500])
        #expect(world.words.filter { $0 == "key-in-use" }.count == 3)
        #expect(world.reasons.contains { $0.contains("is the key used by another program?") && $0.contains("it died") })
        world.link.stop()
    }

    @Test("does not take a key for one in use when this program ended its connections itself")
    func ownEnds() {
        let violation = WebSocketClosure(code: nil, reason: "", cause: .protocolViolation(.reservedBits))
        for failure in [
            UpstreamFailure(ConnectionEnding.closed(violation)),
            UpstreamFailure(ConnectionEnding.failed(TLSError(kind: .protocolViolation, reason: "bad record mac"))),
        ] {
            let world = ConnectionWorld { _ in .opensAndEnds(failure, after: self.second) }
            world.link.start()
            world.advance(seconds: 60)
            #expect(world.attempts.count > 4)
            #expect(!world.words.contains("key-in-use"))
            world.link.stop()
        }
    }

    @Test("ends at a rejected key, or tries it again if the setting says so")
    func keyRejected() {
        let rejected = ConnectionOutcome.fails(UpstreamFailure("rejected", disposition: .keyRejected))
        let world = ConnectionWorld { _ in rejected }
        world.link.start()
        world.advance(seconds: 10_000)
        #expect(world.attempts == [0])
        #expect(world.phases.last == .keyRejected(retryAt: nil))
        #expect(throws: UpstreamFailure.self) { try world.ended?.get() }

        var settings = ReconnectBackoff.Settings()
        settings.rejectedKey = 900 * self.second
        let service = ConnectionWorld(settings: settings) { $0 < 2 ? rejected : .opensAndStays }
        service.link.start()
        service.advance(seconds: 1_000)
        guard case .keyRejected(.some) = service.phases.last else {
            Issue.record("\(service.phases)")
            return
        }
        service.advance(seconds: 1_000)
        #expect(service.attempts == [0, 900_000, 1_800_000])
        service.link.stop()
        service.advance(seconds: 1)
    }

    @Test("waits as long as the service asks for, and says so")
    func rateLimited() {
        let limits: [Int64?] = [17 * self.second, nil, nil, nil, nil]
        let world = ConnectionWorld { attempt in
            attempt < limits.count
                ? .fails(UpstreamFailure("429", disposition: .rateLimited(retryAfter: limits[attempt])))
                : .opensAndStays
        }
        world.link.start()
        world.advance(seconds: 2_000)
        #expect(world.attempts == [0, 17_000, 137_000, 377_000, 677_000, 977_000])
        world.link.stop()
        world.advance(seconds: 1)
    }

    @Test("lets no late answer to an old attempt open a second connection")
    func lateAnswer() throws {
        let world = ConnectionWorld { attempt in attempt == 0 ? .hangs : .opensAndStays }
        world.link.start()
        let first = try #require(world.hanging.first)
        world.link.stop()
        let channel = EmbeddedChannel(loop: world.loop)
        #expect(throws: ChannelError.self) { try first.reached(channel) }
        try first.connected(channel, false)
        #expect(world.connections.isEmpty)
        #expect(!channel.isActive)
    }

    @Test("assigns the end of a connection that never opened to that attempt, not to the next one")
    func brokenWhileInstalled() {
        let world = ConnectionWorld { $0 == 0 ? .breaksWhileInstalled : .opensAndStays }
        world.link.start()
        world.advance(seconds: 600)
        #expect(world.attempts == [0, 500])
        #expect(world.link.connection != nil)
        world.link.stop()
        world.advance(seconds: 1)
    }

    @Test("continues when a connection or its attempt ends while its handler is being added, and names that end")
    func endsWhileInstalled() {
        for (outcome, words) in [
            (ConnectionOutcome.endsWhileInstalled, "reset"), (.failsWhileInstalled, "raced"),
            (.breaksWhileInstalled, "broken"),
        ] {
            let world = ConnectionWorld { $0 == 0 ? outcome : .opensAndStays }
            world.link.start()
            world.advance(seconds: 600)
            #expect(world.attempts == [0, 500], "\(words)")
            #expect(world.phases.contains(.reconnecting(attempt: 1, retryAt: 1_800_000_000_500_000_000)))
            #expect(world.reasons.contains(words))
            #expect(world.link.connection != nil)
            world.link.stop()
            world.advance(seconds: 1)
        }
    }

    @Test("waits at least as long as any answer asks for, up to an hour, and says until when")
    func retryAfter() {
        func failure(_ seconds: Int64) -> UpstreamFailure {
            var failure = UpstreamFailure("under repair")
            failure.retryAfter = seconds * self.second
            return failure
        }
        let notebook = Notebook()
        let world = ConnectionWorld(holding: KeyHolding(attemptStore: notebook)) { attempt in
            switch attempt {
            case 0: .fails(failure(90))
            case 1: .fails(failure(86_400))
            // Less than the backoff's own step of 2 s.
            case 2: .fails(failure(1))
            default: .opensAndStays
            }
        }
        world.link.start()
        #expect(world.phases.last == .reconnecting(attempt: 1, retryAt: 1_800_000_090_000_000_000))
        #expect(notebook.load()?.wait == 90 * self.second)
        world.advance(seconds: 4_000)
        #expect(world.attempts == [0, 90_000, 3_690_000, 3_692_000])
        world.link.stop()
        world.advance(seconds: 1)
    }
}

import Market
import Testing

@testable import Sinks

@Suite("What happened to the feed")
struct StatusTests {
    private static let second: Int64 = 1_000_000_000

    private func status(
        _ phase: FeedStatus.Phase,
        _ source: FeedStatus.Source = .live,
        reason: String? = nil
    ) -> FeedStatus {
        FeedStatus(source: source, phase: phase, since: 0, reason: reason)
    }

    @Test(
        "an interruption is counted by its kind",
        arguments: [
            ("the name ws.finnhub.io cannot be resolved: check the network and the upstream address", "dns"),
            ("127.0.0.1 port 1 refuses connections: is the service running there?", "connect"),
            ("cannot connect to ws.finnhub.io port 443: Network is unreachable", "connect"),
            ("no answer from ws.finnhub.io port 443: is the network up?", "connect"),
            ("the certificate was refused: it has expired", "tls"),
            ("the service is down (HTTP 502: a page of HTML)", "http"),
            ("the service redirects (HTTP 302), which is not followed: check the upstream address", "http"),
            ("the service's answer is no WebSocket handshake: no Sec-WebSocket-Accept", "upgrade"),
            ("the service closed the connection instead of opening a WebSocket", "upgrade"),
            ("the service closed the connection (1000)", "closed"),
            ("the connection was lost without a close frame", "lost"),
            ("the connection broke: Connection reset by peer", "lost"),
            ("our ping was not answered in time", "pong"),
            ("nothing arrived for 90 s", "silent"),
            ("", "other"), ("something nobody thought of", "other"),
        ]
    )
    func kinds(reason: String, kind: String) {
        let status = self.status(.reconnecting(attempt: 1, retryAt: 0), reason: reason)
        #expect(InterruptionClass(status)?.rawValue == kind)
    }

    @Test("each attempt counts once, however often it is told of")
    func reconnects() {
        var history = FeedHistory()
        for attempt in [1, 1, 2, 2, 3] {
            _ = history.statusChanged(
                self.status(.reconnecting(attempt: attempt, retryAt: 0), reason: "nothing arrived")
            )
        }
        _ = history.statusChanged(self.status(.live))
        _ = history.statusChanged(self.status(.reconnecting(attempt: 1, retryAt: 0), reason: "nothing arrived"))
        _ = history.statusChanged(self.status(.rateLimited(until: 5), reason: "too many connections (HTTP 429)"))
        #expect(history.reconnects == [.silent: 4, .rateLimited: 1])
    }

    @Test("all gaps are summed up and the newest remembered, whatever their times say")
    func gaps() {
        var history = FeedHistory()
        for number in 0..<50 {
            let from = Int64(number) * 10 * Self.second
            history.gapFound(Gap(from: from, to: from + Self.second, reason: "\(number)", nextSequence: 1))
        }
        history.gapFound(Gap(from: .min, to: .max, reason: "absurd", nextSequence: 1))
        history.gapFound(Gap(from: 5, to: 1, reason: "backwards", nextSequence: 1))
        #expect(history.gapCount == 52 && history.gapNanoseconds == 50 * Self.second)
        #expect(history.gaps.count == FeedHistory.rememberedGaps && history.gaps.last?.reason == "backwards")
    }

    @Test("a log that overflows says how much it left out")
    func allowance() {
        var allowance = LogAllowance(most: 2, interval: 60)
        #expect([1, 2, 3, 4, 60].map { allowance.wanted(now: $0) } == [0, 0, nil, nil, nil])
        #expect(allowance.wanted(now: 61) == 3)
        #expect(allowance.wanted(now: 62) == 0)
        #expect(allowance.wanted(now: 63) == nil)
    }

    @Test("the data is ready only while it is fresh")
    func readiness() {
        let phases: [FeedStatus.Phase] = [
            .connecting, .waiting, .late, .stale, .reconnecting(attempt: 1, retryAt: 0), .rateLimited(until: 0),
            .keyRejected(retryAt: nil), .keyInUse(retryAt: 0), .noSuchSymbol, .notPermitted, .ended, .stopped,
        ]
        for phase in phases { #expect(!Readiness(self.status(phase), newestAge: 0).isReady) }
        #expect(Readiness(self.status(.live), newestAge: 4 * Self.second).isReady)
        // A feed that hangs goes on calling itself live.
        let hung = Readiness(self.status(.live), newestAge: 31 * Self.second)
        #expect(!hung.isReady && hung.reason == "no trade for 31 s, whatever the feed says")
        #expect(!Readiness(self.status(.live), newestAge: nil).isReady)
        // A recording has quiet stretches.
        #expect(Readiness(self.status(.late, .demo), newestAge: 99 * Self.second).isReady)
        #expect(!Readiness(self.status(.ended, .replay(file: "x", speed: 1)), newestAge: 0).isReady)
        #expect(Readiness(self.status(.stale, reason: "why"), newestAge: 0).reason == "why")
    }
}

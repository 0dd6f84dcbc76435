import NIOCore
import Testing
@testable import Relay

@Suite("The limits of a client's requests and of its queue")
struct StreamLimitsTests {
    private func at(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .milliseconds(milliseconds) }

    @Test("a burst is allowed, then a rate; a client beyond that gets nothing, and is closed in the end")
    func allowance() {
        var calm = RequestAllowance(burst: 10, perSecond: 2)
        for _ in 0..<10 { #expect(calm.requested(now: self.at(0)) == .allowed) }
        #expect(calm.requested(now: self.at(0)) == .refused)
        // The refused request cost as much as another.
        #expect(calm.requested(now: self.at(900)) == .refused)
        #expect(calm.requested(now: self.at(2_000)) == .allowed)
        #expect(calm.requested(cost: 10, now: self.at(100_000)) == .allowed)
        #expect(calm.requested(now: self.at(100_000)) == .refused)

        var flood = RequestAllowance(burst: 10, perSecond: 2)
        let verdicts = (0..<30).map { _ in flood.requested(now: self.at(0)) }
        #expect(verdicts.prefix(10).allSatisfy { $0 == .allowed })
        #expect(verdicts[10..<20].allSatisfy { $0 == .refused })
        #expect(verdicts[20...].allSatisfy { $0 == .flood })
    }

    @Test("the count of waiting messages is never too low, and too high by one mark at most")
    func waiting() {
        var state: UInt64 = 42
        func next(_ limit: UInt64) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % limit)
        }
        var count = PendingMessages()
        var ends: [Int] = []
        var written = 0
        var left = 0
        for _ in 0..<20_000 {
            let bytes = next(300) + 20
            written += bytes
            ends.append(written)
            count.wrote(messages: 1, bytes: written, atMost: 64 << 10)
            // The written and the sent bytes only grow, and no more waits than the limit.
            guard next(20) == 0 || written - left > 60 << 10 else { continue }
            left += next(UInt64(written - left + 1))
            let waiting = written - left
            let exact = ends.reversed().prefix { $0 > written - waiting }.count
            let reported = count.count(waiting: waiting)
            #expect(reported >= exact && reported <= exact + (4 << 10) / 20 + 1, "\(reported) for \(exact)")
        }
        #expect(count.count(waiting: 0) == 0)
    }
}

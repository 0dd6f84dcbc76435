import Feeds
import NIOCore
import Testing

@Suite("ClockOffset")
struct ClockOffsetTests {
    private var offset = ClockOffset()
    private var now = NIODeadline.uptimeNanoseconds(1)
    private static let second: Int64 = 1_000_000_000

    /// Takes a message each 250 ms for some seconds, by a clock that is ahead by `ahead` s; each takes `delay` ms.
    private mutating func take(seconds: Int64, ahead: Int64, delay: Int64 = 0) {
        for _ in 0..<seconds * 4 {
            self.now = self.now + .milliseconds(250)
            let sent = 1_000_000 * Self.second + ahead * Self.second
            self.offset.take(sent: sent, arrived: 1_000_000 * Self.second + delay * 1_000_000, now: self.now)
        }
    }

    @Test("the message that took the least time counts")
    mutating func least() {
        #expect(self.offset.ahead == 0)
        self.take(seconds: 1, ahead: 8, delay: 500)
        #expect(self.offset.ahead == 7_500_000_000)
        self.take(seconds: 1, ahead: 8, delay: 1)
        self.take(seconds: 50, ahead: 8, delay: 900)
        #expect(self.offset.ahead == 7_999_000_000)
    }

    @Test("a clock that was set back counts within two minutes, and one that was set forward at once")
    mutating func moves() {
        self.take(seconds: 70, ahead: 8)
        self.take(seconds: 120, ahead: -2)
        #expect(self.offset.ahead == -2 * Self.second)
        self.take(seconds: 1, ahead: 3)
        #expect(self.offset.ahead == 3 * Self.second)
    }

    @Test("what was before a long silence does not count")
    mutating func silence() {
        self.take(seconds: 1, ahead: 8)
        self.now = self.now + .seconds(600)
        self.take(seconds: 1, ahead: -2)
        #expect(self.offset.ahead == -2 * Self.second)
    }

    @Test("a time of more than a day ahead or behind is not believed")
    mutating func impossible() {
        self.take(seconds: 1, ahead: 86_401)
        self.take(seconds: 1, ahead: -86_401)
        #expect(self.offset.ahead == 0)
        self.take(seconds: 1, ahead: 8)
        let now = 1_000_000 * Self.second
        #expect(self.offset.arrival(now, now: now) == now - 8 * Self.second)
        #expect(self.offset.arrival(now + 9 * Self.second, now: now) == now)
        #expect(self.offset.arrival(.max / 2, now: now) == now)
        #expect(self.offset.arrival(0, now: now) == now)
        #expect(self.offset.shift(3) == 0)
    }
}
